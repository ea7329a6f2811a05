package storage

import (
	"math"

	"confab/storage/sqlite"
)

// ContactBroadcast is a broadcast that a contact was to get.
type ContactBroadcast struct {
	ID        string          `db:"id"`
	Name      string          `db:"name"`
	Status    RecipientStatus `db:"status"`
	Reason    *string         `db:"reason"`
	MessageID *string         `db:"message_id"`
	At        Time            `db:"at"`
}

// ContactBroadcasts lists the newest broadcasts of a contact.
func (rx *Rx) ContactBroadcasts(contact string, limit int) ([]ContactBroadcast, error) {
	return list[ContactBroadcast](rx, `
		SELECT b.id, b.name, r.status, r.reason, r.message_id,
			coalesce((SELECT m.created_at FROM messages m WHERE m.account_id = b.account_id AND m.id = r.message_id),
				nullif(b.started_at, 0), b.created_at) AS at
		FROM broadcast_recipients r INDEXED BY broadcast_recipients_of_contact JOIN broadcasts b ON b.number = r.broadcast
		WHERE r.contact_id = ? AND b.status <> 'making'
		ORDER BY r.broadcast DESC
		LIMIT ?`, contact, limit)
}

// ContactWriting is when somebody wrote, and refused marketing; 0 where that is not known.
type ContactWriting struct {
	FirstInboundAt Time `db:"first_inbound_at"`
	RefusedAt      Time `db:"refused_at"` // when a message failed because of that
}

// ContactWriting finds when somebody wrote first, and a message first failed as unwanted marketing.
func (rx *Rx) ContactWriting(conversation string) (ContactWriting, error) {
	return get[ContactWriting](rx, `
		SELECT
			coalesce((SELECT created_at FROM messages INDEXED BY messages_of_conversation
				WHERE conversation_id = ?1 AND direction = 'inbound' ORDER BY id LIMIT 1), 0) AS first_inbound_at,
			coalesce((SELECT updated_at FROM messages INDEXED BY messages_of_conversation
				WHERE conversation_id = ?1 AND status = 'failed' AND error_code = 'marketing_opted_out'
				ORDER BY id LIMIT 1), 0) AS refused_at`,
		conversation)
}

// historyEvents is how many of the newest events are looked through for those of a contact.
const historyEvents = 20_000

// ContactEvents lists the newest kept events about a contact and its conversation.
func (rx *Rx) ContactEvents(organization int64, contact, conversation string, limit int) (found []Event, err error) {
	before := int64(math.MaxInt64)
	for range historyEvents / sqlite.IDRange {
		from, err := value[int64](rx, `
			SELECT coalesce((
				SELECT seq FROM events INDEXED BY events_of_organization
				WHERE organization_id = ? AND seq < ?
				ORDER BY seq DESC
				LIMIT 1 OFFSET ?), 0)`, organization, before, sqlite.IDRange-1)
		if err != nil {
			return nil, err
		}

		some, err := list[Event](rx, selectEvents+`INDEXED BY events_of_organization
			WHERE organization_id = ?1 AND seq >= ?2 AND seq < ?3
				AND type IN ('contact.updated', 'contact.identity_updated', 'contact.consent_changed',
					'conversation.assigned', 'conversation.closed')
				AND (instr(CAST(payload AS TEXT), ?4) > 0 OR ?5 <> '' AND instr(CAST(payload AS TEXT), ?5) > 0)
			ORDER BY seq DESC
			LIMIT ?6`, organization, from, before, contact, conversation, limit-len(found))
		found = append(found, some...)
		if err != nil || from == 0 || len(found) >= limit {
			return found, err
		}

		if err := rx.Pause(); err != nil {
			return nil, err
		}
		before = from
	}
	return found, nil
}
