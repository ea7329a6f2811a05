-- Quick replies; imports of contacts; and for the search index, what was changed or deleted of messages.

CREATE TABLE quick_replies (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    team_id         INTEGER NOT NULL REFERENCES teams (id),
    shortcut        TEXT    NOT NULL,
    text            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX quick_replies_shortcut ON quick_replies (team_id, shortcut);
CREATE INDEX quick_replies_of_organization ON quick_replies (organization_id, created_at, id);

CREATE TABLE search_changes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    message    TEXT    NOT NULL,
    top_number INTEGER NOT NULL
) STRICT;
CREATE TRIGGER messages_changed AFTER UPDATE OF type, content, body, is_revoked ON messages BEGIN
    INSERT INTO search_changes (account_id, message, top_number) VALUES (old.account_id, old.id, (SELECT max(number) FROM messages));
END;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
    INSERT INTO search_changes (account_id, message, top_number) VALUES (old.account_id, old.id, (SELECT coalesce(max(number), 0) FROM messages));
END;

CREATE TABLE contact_imports (
    id         TEXT    PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    status     TEXT    NOT NULL CHECK (status IN ('running', 'completed', 'failed')),
    dry_run    INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
    label_id   TEXT,
    "offset"   INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    lines      INTEGER NOT NULL DEFAULT 0,
    created    INTEGER NOT NULL DEFAULT 0,
    updated    INTEGER NOT NULL DEFAULT 0,
    unchanged  INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    errors     TEXT    NOT NULL CHECK (json_valid(errors)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_imports_of_account ON contact_imports (account_id, id);
