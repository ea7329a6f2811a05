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
