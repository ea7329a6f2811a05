-- Make every message cost the writer less: fewer indexes, in the order of ids, and no
-- checks of what the program has checked. The order of a row's number is that of its
-- age, as before. The states that callbacks have reported become bits of the message.

-- A job about a message names its account too, by which the message is now found.
UPDATE jobs
SET args = json_set(args, '$.account', (SELECT m.account_id FROM messages m WHERE m.id = jobs.args ->> '$.message'))
WHERE args ->> '$.message' IS NOT NULL AND args ->> '$.account' IS NULL;

CREATE TABLE lean_messages (
    number              INTEGER PRIMARY KEY,
    id                  TEXT    NOT NULL,
    account_id          INTEGER NOT NULL,
    conversation_id     TEXT    NOT NULL,
    contact_id          TEXT    NOT NULL,
    direction           TEXT    NOT NULL,
    type                TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    source              TEXT    NOT NULL,
    provider_id         TEXT,
    recipient           TEXT,
    phone_number        TEXT,
    content             TEXT    NOT NULL,
    body                TEXT,
    context             TEXT,
    media_id            TEXT    REFERENCES media (id) ON DELETE SET NULL,
    media_status        TEXT,
    error_code          TEXT,
    error_message       TEXT,
    error_provider_code INTEGER,
    is_revoked          INTEGER NOT NULL DEFAULT 0,
    reported            INTEGER NOT NULL DEFAULT 0,
    played_at           INTEGER NOT NULL DEFAULT 0,
    edited_at           INTEGER NOT NULL DEFAULT 0,
    sent_at             INTEGER NOT NULL DEFAULT 0,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT;
INSERT INTO lean_messages (number, id, account_id, conversation_id, contact_id, direction, type, status, source, provider_id, recipient, phone_number,
    content, body, context, media_id, media_status, error_code, error_message, error_provider_code,
    is_revoked, reported, played_at, edited_at, sent_at, created_at, updated_at)
SELECT rowid, id, account_id, conversation_id, contact_id, direction, type, status, source, provider_id, recipient, phone_number,
    content, body, context, media_id, media_status, error_code, error_message, error_provider_code,
    is_revoked, coalesce((
        SELECT sum(CASE s.status WHEN 'sent' THEN 1 WHEN 'delivered' THEN 2 WHEN 'read' THEN 4 WHEN 'failed' THEN 8 WHEN 'played' THEN 16 ELSE 0 END)
        FROM message_statuses s WHERE s.message_id = messages.id), 0), played_at, edited_at, sent_at, created_at, updated_at
FROM messages
ORDER BY rowid;

CREATE TABLE lean_edits (
    message     INTEGER NOT NULL REFERENCES lean_messages (number) ON DELETE CASCADE,
    version     INTEGER NOT NULL,
    content     TEXT    NOT NULL CHECK (json_valid(content)),
    body        TEXT,
    edited_at   INTEGER NOT NULL,
    provider_id TEXT    NOT NULL,
    PRIMARY KEY (message, version)
) STRICT, WITHOUT ROWID;
INSERT INTO lean_edits (message, version, content, body, edited_at, provider_id)
SELECT m.rowid, e.version, e.content, e.body, e.edited_at, e.provider_id
FROM message_edits e JOIN messages m ON m.id = e.message_id;

CREATE TABLE lean_statuses (
    message INTEGER NOT NULL REFERENCES lean_messages (number) ON DELETE CASCADE,
    status  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (message, status)
) STRICT, WITHOUT ROWID;
INSERT INTO lean_statuses (message, status, at)
SELECT m.rowid, s.status, s.at
FROM message_statuses s JOIN messages m ON m.id = s.message_id
WHERE s.status NOT IN ('sent', 'delivered', 'read', 'failed', 'played');

DROP TABLE message_edits;
DROP TABLE message_statuses;
DROP TABLE messages;
ALTER TABLE lean_messages RENAME TO messages;
ALTER TABLE lean_edits RENAME TO message_edits;
ALTER TABLE lean_statuses RENAME TO message_statuses;

CREATE UNIQUE INDEX messages_of_account ON messages (account_id, id);
CREATE UNIQUE INDEX messages_at_provider ON messages (account_id, provider_id) WHERE provider_id IS NOT NULL;
CREATE INDEX messages_of_conversation ON messages (conversation_id, id);
CREATE INDEX messages_failed ON messages (account_id, id) WHERE status = 'failed';
CREATE INDEX messages_inbound ON messages (account_id, id) WHERE direction = 'inbound';
CREATE INDEX messages_with_media ON messages (media_id) WHERE media_id IS NOT NULL;

CREATE TABLE lean_conversations (
    id              TEXT    PRIMARY KEY,
    account_id      INTEGER NOT NULL REFERENCES accounts (id),
    contact_id      TEXT    NOT NULL UNIQUE REFERENCES contacts (id) ON DELETE CASCADE,
    status          TEXT    NOT NULL DEFAULT 'open',
    assignee_id     TEXT    REFERENCES users (id),
    unread_count    INTEGER NOT NULL DEFAULT 0,
    last_message_at INTEGER NOT NULL DEFAULT 0,
    last_inbound_at INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
INSERT INTO lean_conversations (id, account_id, contact_id, status, assignee_id, unread_count, last_message_at, last_inbound_at, created_at, updated_at)
SELECT id, account_id, contact_id, status, assignee_id, unread_count, last_message_at, last_inbound_at, created_at, updated_at
FROM conversations
ORDER BY rowid;

DROP TABLE conversations;
ALTER TABLE lean_conversations RENAME TO conversations;

CREATE INDEX conversations_by_status ON conversations (account_id, status, last_message_at, id);
CREATE INDEX conversations_by_update ON conversations (account_id, updated_at, id) WHERE updated_at <> last_message_at;

CREATE TABLE lean_jobs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    kind          TEXT    NOT NULL,
    lane          TEXT    NOT NULL DEFAULT '',
    args          TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    due_at        INTEGER NOT NULL,
    runs          INTEGER NOT NULL DEFAULT 0,
    failures      INTEGER NOT NULL DEFAULT 0,
    crashes       INTEGER NOT NULL DEFAULT 0,
    leased_until  INTEGER NOT NULL DEFAULT 0,
    call_begun_at INTEGER NOT NULL DEFAULT 0,
    preparing     INTEGER NOT NULL DEFAULT 0,
    last_error    TEXT,
    created_at    INTEGER NOT NULL
) STRICT;
INSERT INTO lean_jobs (id, kind, lane, args, state, due_at, runs, failures, crashes, leased_until, call_begun_at, preparing, last_error, created_at)
SELECT id, kind, lane, args, state, due_at, runs, failures, crashes, leased_until, call_begun_at, preparing, last_error, created_at
FROM jobs
ORDER BY id;

-- Ids of jobs are never used again, also if the newest ones are gone.
DELETE FROM sqlite_sequence WHERE name = 'lean_jobs';
INSERT INTO sqlite_sequence (name, seq) SELECT 'lean_jobs', seq FROM sqlite_sequence WHERE name = 'jobs';

DROP TABLE jobs;
ALTER TABLE lean_jobs RENAME TO jobs;

CREATE INDEX jobs_due ON jobs (kind, due_at, id) WHERE state = 'due';
CREATE INDEX jobs_held ON jobs (kind, lane, due_at, id) WHERE state = 'held';
