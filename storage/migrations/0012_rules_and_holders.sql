-- Rules, their firings, and what numbers have for them: hours and opt-out words.

CREATE TABLE rules (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    position        INTEGER NOT NULL,
    name            TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    disabled_reason TEXT,
    on_event        TEXT    NOT NULL,
    conditions      TEXT    NOT NULL CHECK (json_valid(conditions)),
    actions         TEXT    NOT NULL CHECK (json_valid(actions)),
    templates       TEXT    NOT NULL CHECK (json_valid(templates)),
    once_per        TEXT    NOT NULL,
    stop            INTEGER NOT NULL CHECK (stop IN (0, 1)),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_of_organization ON rules (organization_id, position, id);

CREATE TABLE rule_firings (
    id              TEXT    PRIMARY KEY,
    rule_id         TEXT    NOT NULL,
    account_id      INTEGER NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id      TEXT    NOT NULL,
    scope           TEXT    NOT NULL,
    actions         TEXT    NOT NULL CHECK (json_valid(actions)),
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX rule_firings_once ON rule_firings (conversation_id, rule_id, scope);
CREATE INDEX rule_firings_of_rule ON rule_firings (rule_id, id);
CREATE INDEX rule_firings_of_message ON rule_firings (message_id, id);
CREATE INDEX rule_firings_by_age ON rule_firings (created_at, id);

CREATE TABLE number_settings (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
    hours      TEXT    CHECK (hours IS NULL OR json_valid(hours)),
    opt_out    TEXT    CHECK (opt_out IS NULL OR json_valid(opt_out))
) STRICT;

ALTER TABLE messages ADD COLUMN rule_id TEXT;
ALTER TABLE contacts ADD COLUMN opted_out_by_word INTEGER NOT NULL DEFAULT 0 CHECK (opted_out_by_word IN (0, 1));

-- Who holds a conversation.

ALTER TABLE conversations ADD COLUMN holder_type TEXT NOT NULL DEFAULT 'none';
ALTER TABLE conversations ADD COLUMN holder_id TEXT;
ALTER TABLE conversations ADD COLUMN holder_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN holder_wrote_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversations_by_holder ON conversations (account_id, holder_type, id) WHERE holder_type <> 'none';
ALTER TABLE organizations ADD COLUMN handover_return_minutes INTEGER NOT NULL DEFAULT 0;
