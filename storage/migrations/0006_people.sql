-- People can sign in. Users that exist become agents without sign-in.

ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'agent' CHECK (role IN ('admin', 'agent'));
ALTER TABLE users ADD COLUMN sign_in_email TEXT;
ALTER TABLE users ADD COLUMN password_hash TEXT;
ALTER TABLE users ADD COLUMN disabled_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN last_sign_in_at INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX users_sign_in ON users (sign_in_email) WHERE sign_in_email IS NOT NULL;

CREATE TABLE user_invitations (
    token_hash BLOB    PRIMARY KEY,
    user_id    TEXT    NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX user_invitations_of_user ON user_invitations (user_id, ended_at);

CREATE TABLE user_sessions (
    id           TEXT    PRIMARY KEY,
    token_hash   BLOB    NOT NULL UNIQUE,
    user_id      TEXT    NOT NULL REFERENCES users (id),
    user_agent   TEXT    NOT NULL,
    ip           TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX user_sessions_of_user ON user_sessions (user_id, id);

CREATE TABLE audit (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER REFERENCES organizations (id),
    actor_type      TEXT    NOT NULL CHECK (actor_type IN ('user', 'key', 'command_line', 'system')),
    actor_id        TEXT,
    actor_name      TEXT,
    action          TEXT    NOT NULL,
    target_type     TEXT,
    target_id       TEXT,
    ip              TEXT,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_of_organization ON audit (organization_id, created_at, id);
CREATE INDEX audit_by_age ON audit (created_at, id);

-- The inbox asks for what is assigned to somebody, or to nobody, and for what is unread.
DROP INDEX conversations_by_status;
CREATE INDEX conversations_by_status ON conversations (account_id, status, last_message_at, id, assignee_id);
CREATE INDEX conversations_assigned ON conversations (account_id, assignee_id, last_message_at, id, status) WHERE assignee_id IS NOT NULL;
CREATE INDEX conversations_unread ON conversations (account_id, last_message_at, id, status) WHERE unread_count > 0;

ALTER TABLE messages ADD COLUMN sent_by TEXT;
ALTER TABLE messages ADD COLUMN request_id TEXT;

ALTER TABLE api_log ADD COLUMN user_id TEXT;
ALTER TABLE api_log ADD COLUMN error_code TEXT;
ALTER TABLE api_log ADD COLUMN made_id TEXT;
