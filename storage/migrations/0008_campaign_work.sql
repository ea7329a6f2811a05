-- Quick replies.

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
