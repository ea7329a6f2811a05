-- Quick replies; and for the search index, what was changed or deleted of messages.

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
