-- The jobs that wait in a lane go out by their ids, which never go back, and not by times.

DROP INDEX jobs_held;
CREATE INDEX jobs_held ON jobs (kind, lane, id) WHERE state = 'held';

-- Keys may be limited: to scopes, to numbers, and to a bot. Those of before are not.

ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(scopes));
ALTER TABLE api_keys ADD COLUMN account_ids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(account_ids));
ALTER TABLE api_keys ADD COLUMN agent TEXT;

-- Media may be in object storage, where what is deleted stays for a while.

CREATE TABLE unused_objects (
    sha256 TEXT    PRIMARY KEY,
    since  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- People can have a second factor, and sign in through an identity provider or by a link.

CREATE TABLE user_codes (
    user_id      TEXT    PRIMARY KEY REFERENCES users (id),
    secret       BLOB    NOT NULL,
    last_step    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE user_recovery_codes (
    user_id   TEXT NOT NULL REFERENCES users (id),
    code_hash BLOB NOT NULL,
    PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_passkeys (
    id            TEXT    PRIMARY KEY,
    user_id       TEXT    NOT NULL REFERENCES users (id),
    credential_id BLOB    NOT NULL UNIQUE,
    credential    BLOB    NOT NULL,
    host          TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX user_passkeys_of_user ON user_passkeys (user_id, id);

CREATE TABLE user_identities (
    issuer     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    user_id    TEXT    NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX user_identities_of_user ON user_identities (user_id, issuer);

ALTER TABLE user_invitations ADD COLUMN signs_in INTEGER NOT NULL DEFAULT 0 CHECK (signs_in IN (0, 1));

-- How long people have been waiting for an answer. Of the messages before the last resolve none
-- waits; of what happened before those were recorded, the messages alone tell.

ALTER TABLE conversations ADD COLUMN waiting_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN waits_from TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN snoozed_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN waiting_order INTEGER GENERATED ALWAYS AS (9007199254740991 - waiting_since) VIRTUAL;

UPDATE conversations
SET waits_from = coalesce((
    SELECT 'msg_' || substr(max(h.id), 5) FROM conversation_changes h
    WHERE h.conversation_id = conversations.id AND h.kind = 'resolved'), '')
WHERE last_inbound_at > 0;

-- Both messages are found from the ends of an index, and of a conversation that was answered
-- recently only the newest are read.
UPDATE conversations
SET waiting_since = coalesce((
    SELECT m.created_at FROM messages m
    WHERE m.conversation_id = conversations.id AND m.direction = 'inbound' AND m.type <> 'reaction'
        AND m.id >= conversations.waits_from
        AND m.id > max(
            coalesce((
                SELECT s.id FROM messages s
                WHERE s.conversation_id = conversations.id AND s.direction = 'outbound' AND s.type <> 'reaction'
                    AND s.source <> 'broadcast' AND s.status <> 'failed' AND s.scheduled_at = 0
                ORDER BY s.id DESC
                LIMIT 1), ''),
            coalesce((
                SELECT s.place FROM messages s
                WHERE s.conversation_id = conversations.id AND s.direction = 'outbound' AND s.type <> 'reaction'
                    AND s.source <> 'broadcast' AND s.status <> 'failed' AND s.place IS NOT NULL
                ORDER BY s.place DESC
                LIMIT 1), ''))
    ORDER BY m.id
    LIMIT 1), 0)
WHERE last_inbound_at > 0 AND status <> 'resolved';

CREATE INDEX conversations_waiting ON conversations (account_id, waiting_order, id) WHERE waiting_since > 0;
CREATE INDEX conversations_snoozed ON conversations (account_id, last_message_at, id, status, assignee_id) WHERE snoozed_until > 0;
ALTER TABLE conversation_changes ADD COLUMN until INTEGER NOT NULL DEFAULT 0;

-- Notes, mentions and views.

CREATE TABLE notes (
    id              TEXT    PRIMARY KEY,
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    author_type     TEXT    NOT NULL CHECK (author_type IN ('user', 'key', 'rule')),
    author_id       TEXT    NOT NULL,
    author_name     TEXT,
    text            TEXT    NOT NULL,
    mentions        TEXT    NOT NULL CHECK (json_valid(mentions)),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_of_conversation ON notes (conversation_id, id);
CREATE INDEX notes_by_age ON notes (created_at, id);

CREATE TABLE unread_mentions (
    user_id         TEXT    NOT NULL REFERENCES users (id),
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL,
    note_id         TEXT    NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, account_id, conversation_id, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unread_mentions_of_note ON unread_mentions (note_id);

CREATE TABLE views (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    owner_id        TEXT    REFERENCES users (id),
    account_id      INTEGER REFERENCES accounts (id),
    name            TEXT    NOT NULL,
    shared          INTEGER NOT NULL CHECK (shared IN (0, 1)),
    filter          TEXT    NOT NULL CHECK (json_valid(filter)),
    sort            TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX views_of_organization ON views (organization_id, created_at, id, owner_id, shared);
CREATE INDEX views_of_account ON views (account_id) WHERE account_id IS NOT NULL;

-- What the provider says that messages cost, and what the operator says.

ALTER TABLE messages ADD COLUMN pricing TEXT;
ALTER TABLE messages ADD COLUMN delivered_at INTEGER NOT NULL DEFAULT 0;
CREATE TABLE message_costs (
    account_id INTEGER NOT NULL,
    day        INTEGER NOT NULL,
    category   TEXT    NOT NULL,
    prefix     TEXT    NOT NULL,
    broadcast  INTEGER NOT NULL,
    messages   INTEGER NOT NULL,
    billable   INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, category, prefix, broadcast)
) STRICT, WITHOUT ROWID;
CREATE TABLE rates (
    prefix     TEXT    NOT NULL,
    category   TEXT    NOT NULL,
    valid_from INTEGER NOT NULL,
    price      TEXT    NOT NULL,
    currency   TEXT    NOT NULL,
    PRIMARY KEY (prefix, category, valid_from)
) STRICT, WITHOUT ROWID;

-- A change of category that the provider has announced.

ALTER TABLE templates ADD COLUMN category_change_to TEXT;
ALTER TABLE templates ADD COLUMN category_change_at INTEGER NOT NULL DEFAULT 0;
