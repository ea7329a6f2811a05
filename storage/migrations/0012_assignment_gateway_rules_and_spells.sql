-- Conversations that are assigned by themselves, and notifications on people's devices.

ALTER TABLE teams ADD COLUMN assignment TEXT NOT NULL DEFAULT 'off' CHECK (assignment IN ('off', 'round_robin'));
ALTER TABLE teams ADD COLUMN assignment_limit INTEGER;
ALTER TABLE users ADD COLUMN available INTEGER NOT NULL DEFAULT 1 CHECK (available IN (0, 1));
ALTER TABLE users ADD COLUMN notify_about TEXT NOT NULL DEFAULT 'mine_and_unassigned'
    CHECK (notify_about IN ('everything', 'mine_and_unassigned', 'mentions', 'nothing'));
CREATE TABLE assignment_turns (
    user_id TEXT    PRIMARY KEY REFERENCES users (id),
    turn    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_held ON conversations (assignee_id) WHERE assignee_id IS NOT NULL AND status <> 'resolved';

CREATE TABLE push_devices (
    id              TEXT    PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    user_id         TEXT    NOT NULL REFERENCES users (id),
    session_id      TEXT    NOT NULL REFERENCES user_sessions (id) ON DELETE CASCADE,
    endpoint_hash   BLOB    NOT NULL,
    subscription    BLOB    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_devices_of_user ON push_devices (user_id, endpoint_hash);
CREATE INDEX push_devices_of_organization ON push_devices (organization_id, id);
CREATE INDEX push_devices_of_session ON push_devices (session_id);
CREATE TABLE push_times (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    device_id       TEXT    NOT NULL REFERENCES push_devices (id) ON DELETE CASCADE,
    pushed_at       INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_times_of_device ON push_times (device_id);

-- Webhooks may receive the provider's own envelopes.

ALTER TABLE subscriptions ADD COLUMN format TEXT NOT NULL DEFAULT 'svc' CHECK (format IN ('svc', 'provider'));
ALTER TABLE subscriptions ADD COLUMN verify_token BLOB;

-- What the clients of the gateway send, and the files that they use.

CREATE TABLE gateway_media (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    id         TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX gateway_media_by_id ON gateway_media (id);
CREATE INDEX gateway_media_by_age ON gateway_media (created_at);

CREATE TABLE gateway_sends (
    message      INTEGER PRIMARY KEY REFERENCES messages (number) ON DELETE CASCADE,
    tag          TEXT,
    status       INTEGER NOT NULL DEFAULT 0,
    content_type TEXT    NOT NULL DEFAULT '',
    answer       BLOB
) STRICT, WITHOUT ROWID;

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

-- Spells, which reports count. Those of before are not known; that which lasts is what the changes
-- and messages tell that are still there.

ALTER TABLE conversations ADD COLUMN spell_opened_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spell_inbound_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spell_replied_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spell_replied_by TEXT;
ALTER TABLE conversations ADD COLUMN spell_in INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN spell_out INTEGER NOT NULL DEFAULT 0;

-- One that was resolved before opened again with the first change after that; a campaign makes
-- conversations that are resolved, which opened with the first answer.
UPDATE conversations AS v
SET spell_opened_at = coalesce((
    SELECT min(h.created_at) FROM conversation_changes h
    WHERE h.conversation_id = v.id AND h.kind IN ('reopened', 'pending')
        AND h.id > (SELECT max(r.id) FROM conversation_changes r WHERE r.conversation_id = v.id AND r.kind = 'resolved')), (
    SELECT max(h.created_at) FROM conversation_changes h
    WHERE h.conversation_id = v.id AND h.kind = 'reopened'), created_at)
WHERE status <> 'resolved';

UPDATE conversations AS v
SET spell_in = n.came, spell_out = n.went, spell_inbound_at = n.first
FROM (
    SELECT m.conversation_id, sum(m.direction = 'inbound') AS came, sum(m.direction = 'outbound') AS went,
        coalesce(min(CASE m.direction WHEN 'inbound' THEN m.created_at END), 0) AS first
    FROM messages m JOIN conversations c ON c.id = m.conversation_id
    WHERE c.spell_opened_at > 0 AND m.created_at >= c.spell_opened_at AND m.type <> 'reaction'
        AND m.source NOT IN ('broadcast', 'rule') AND (m.scheduled_at = 0 OR m.place IS NOT NULL)
    GROUP BY m.conversation_id) n
WHERE n.conversation_id = v.id;

UPDATE conversations AS v
SET spell_replied_at = m.created_at, spell_replied_by = coalesce(m.sent_by, m.source)
FROM messages m
WHERE v.spell_inbound_at > 0 AND m.number = (
    SELECT s.number FROM messages s
    WHERE s.conversation_id = v.id AND s.direction = 'outbound' AND s.type <> 'reaction' AND s.source NOT IN ('broadcast', 'rule')
        AND (s.scheduled_at = 0 OR s.place IS NOT NULL) AND s.created_at >= v.spell_inbound_at
    ORDER BY s.created_at
    LIMIT 1);

CREATE INDEX conversations_by_opening ON conversations (account_id, spell_opened_at) WHERE spell_opened_at > 0;
CREATE TABLE spells (
    account_id      INTEGER NOT NULL,
    opened_at       INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    conversation_id TEXT,
    inbound_at      INTEGER NOT NULL,
    replied_at      INTEGER NOT NULL,
    replied_by      TEXT,
    resolved_at     INTEGER NOT NULL,
    resolved_by     TEXT,
    assignee_id     TEXT,
    labels          TEXT    NOT NULL,
    messages_in     INTEGER NOT NULL,
    messages_out    INTEGER NOT NULL,
    figures         TEXT    NOT NULL GENERATED ALWAYS AS (
        ',' || opened_at || ',' || iif(replied_at > 0, replied_at - inbound_at, '') || ','
        || iif(resolved_at > 0, resolved_at - opened_at, '') || ',' || messages_in || ',' || messages_out || ';') STORED,
    PRIMARY KEY (account_id, opened_at, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX spells_of_conversation ON spells (conversation_id) WHERE conversation_id IS NOT NULL;

-- Quick replies may have buttons or a list.

ALTER TABLE quick_replies ADD COLUMN interactive TEXT CHECK (json_valid(interactive));
