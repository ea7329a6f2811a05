-- Later sends, broadcasts, failed tries, quick replies, imports of contacts, and what the search follows.

ALTER TABLE messages ADD COLUMN scheduled_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE messages ADD COLUMN place TEXT;
ALTER TABLE messages ADD COLUMN broadcast INTEGER;
ALTER TABLE messages ADD COLUMN recipient_number INTEGER;
CREATE INDEX messages_scheduled ON messages (account_id, scheduled_at, id)
    WHERE scheduled_at <> 0 AND place IS NULL AND status = 'queued';
CREATE INDEX messages_placed ON messages (account_id, place) WHERE place IS NOT NULL;
CREATE INDEX messages_placed_in_conversation ON messages (conversation_id, place) WHERE place IS NOT NULL;
CREATE INDEX jobs_begun ON jobs (kind) WHERE call_begun_at <> 0;

CREATE TABLE broadcasts (
    number            INTEGER PRIMARY KEY AUTOINCREMENT,
    id                TEXT    NOT NULL UNIQUE,
    account_id        INTEGER NOT NULL REFERENCES accounts (id),
    name              TEXT    NOT NULL,
    content           TEXT    NOT NULL CHECK (json_valid(content)),
    template_name     TEXT    NOT NULL,
    template_language TEXT    NOT NULL,
    body              TEXT,
    audience_type     TEXT    NOT NULL CHECK (audience_type IN ('label', 'contacts', 'recipients')),
    label_id          TEXT,
    status            TEXT    NOT NULL CHECK (status IN ('making', 'preparing', 'scheduled', 'running', 'paused', 'completed', 'cancelled')),
    paused_reason     TEXT,
    prepared          INTEGER NOT NULL DEFAULT 0 CHECK (prepared IN (0, 1)),
    copied_at         INTEGER NOT NULL DEFAULT 0,
    copied_id         TEXT    NOT NULL DEFAULT '',
    position          INTEGER NOT NULL DEFAULT 0,
    open              INTEGER NOT NULL DEFAULT 0,
    total             INTEGER NOT NULL DEFAULT 0,
    waiting           INTEGER NOT NULL DEFAULT 0,
    sent              INTEGER NOT NULL DEFAULT 0,
    delivered         INTEGER NOT NULL DEFAULT 0,
    read              INTEGER NOT NULL DEFAULT 0,
    failed            INTEGER NOT NULL DEFAULT 0,
    skipped           INTEGER NOT NULL DEFAULT 0,
    scheduled_at      INTEGER NOT NULL DEFAULT 0,
    started_at        INTEGER NOT NULL DEFAULT 0,
    completed_at      INTEGER NOT NULL DEFAULT 0,
    created_by        TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT;
CREATE INDEX broadcasts_of_account ON broadcasts (account_id, created_at, id) WHERE status <> 'making';
CREATE INDEX broadcasts_unfinished ON broadcasts (account_id, number) WHERE status <> 'completed' AND status <> 'cancelled';
CREATE INDEX broadcasts_of_label ON broadcasts (label_id) WHERE prepared = 0 AND label_id IS NOT NULL;

CREATE TABLE broadcast_recipients (
    broadcast    INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    status       INTEGER NOT NULL DEFAULT 0,
    phone_number TEXT,
    contact_id   TEXT,
    fields       TEXT,
    message_id   TEXT,
    reason       TEXT,
    error        TEXT,
    code         INTEGER,
    PRIMARY KEY (broadcast, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX broadcast_recipients_phone ON broadcast_recipients (broadcast, phone_number) WHERE phone_number IS NOT NULL;
CREATE INDEX broadcast_recipients_of_contact ON broadcast_recipients (contact_id) WHERE contact_id IS NOT NULL;

CREATE TABLE broadcast_label_changes (
    broadcast  INTEGER NOT NULL,
    contact_id TEXT    NOT NULL,
    had        INTEGER NOT NULL CHECK (had IN (0, 1)),
    PRIMARY KEY (broadcast, contact_id)
) STRICT, WITHOUT ROWID;

-- Failed tries at the provider are kept, so that a message can be traced, and an
-- organization's calls are found without those of others.

CREATE TABLE message_tries (
    message     INTEGER NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    try         INTEGER NOT NULL,
    began_at    INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    http_status INTEGER,
    code        INTEGER,
    reason      TEXT    NOT NULL,
    answer      TEXT,
    PRIMARY KEY (message, try)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_log_of_organization ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL;
CREATE INDEX api_log_refused ON api_log (organization_id, created_at, request_id) WHERE organization_id IS NOT NULL AND status >= 400;

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
