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
