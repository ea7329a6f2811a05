package storage

import "confab/storage/sqlite"

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

// ContactEvents lists the newest kept events about a contact and its conversation, as far back as it comes in
// the time of a list.
func (rx *Rx) ContactEvents(organization int64, contact, conversation string, limit int) ([]EventItem, error) {
	q := eventList(organization)
	q.ScanTime = sqlite.BriefScanTime
	EventFilter{Types: []string{
		"contact.updated", "contact.identity_updated", "contact.consent_changed", "conversation.assigned", "conversation.closed",
	}}.narrow(&q)
	q.Filter(`(instr(CAST(e.payload AS TEXT), ?) > 0 OR ? <> '' AND instr(CAST(e.payload AS TEXT), ?) > 0)`,
		true, contact, conversation, conversation)

	found, _, err := sqlite.FindPage[EventItem](&rx.Rx, q, First, limit)
	return found, err
}
