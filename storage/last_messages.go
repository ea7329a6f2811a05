package storage

import "confab/storage/sqlite"

const previewLength = 200

// LastMessage is the newest message of a conversation, as far as a list shows it.
type LastMessage struct {
	ID        string
	Type      string
	Direction string
	Status    string
	Source    string
	SentBy    *string // the user who sent it in the console
	Preview   *string // the beginning of what it says; nil without words, and when it was revoked
	CreatedAt Time
}

// messageWords is what a message says in short: its text, what was offered or tapped, or an emoji.
const messageWords = `coalesce(m.body, CASE m.type
	WHEN 'button' THEN m.content ->> 'text'
	WHEN 'interactive' THEN coalesce(m.content ->> '$.button_reply.title', m.content ->> '$.list_reply.title', m.content ->> '$.body.text')
	WHEN 'reaction' THEN m.content ->> 'emoji' END)`

const lastMessageColumns = `m.conversation_id, m.id, m.type, m.direction, m.status, m.source, m.sent_by,
	CASE m.is_revoked WHEN 0 THEN substr(` + messageWords + `, 1, ?2) END, m.created_at`

// MessageWords is what a message says in short; nil when it has no words.
func (rx *Rx) MessageWords(m Message) (words *string, err error) {
	return value[*string](rx, `SELECT `+messageWords+` FROM messages m WHERE m.conversation_id = ? AND m.id = ?`, m.ConversationID, m.ID)
}

// LastMessages finds the newest messages of conversations, by their ids. One that waits
// for its time is not said yet; one whose time has come is as new as that. A broadcast's
// message is found only where there is no other: it must not hide what somebody asked. So
// the broadcasts since the last other message are read too; they are few.
func (rx *Rx) LastMessages(conversations ...string) (map[string]LastMessage, error) {
	if len(conversations) == 0 {
		return nil, nil
	}

	var conversation string
	var m LastMessage
	all := make(map[string]LastMessage, len(conversations))
	dest := []any{
		&conversation, &m.ID, &m.Type, &m.Direction, &m.Status, &m.Source, &m.SentBy, &m.Preview, &m.CreatedAt,
	}
	err := sqlite.EachPacked(&rx.Within(nil).Rx, dest, func() { all[conversation] = m }, `
		SELECT `+sqlite.Packed(lastMessageColumns)+`
		FROM json_each(?1) wanted CROSS JOIN messages m ON m.number = coalesce(
			(SELECT newest.number FROM (
				SELECT * FROM (
					SELECT number, id AS place FROM messages
					WHERE conversation_id = wanted.value AND scheduled_at = 0 AND source <> 'broadcast'
					ORDER BY id DESC
					LIMIT 1)
				UNION ALL
				SELECT * FROM (
					SELECT number, place FROM messages
					WHERE conversation_id = wanted.value AND place IS NOT NULL
					ORDER BY place DESC
					LIMIT 1)) newest
			ORDER BY newest.place DESC
			LIMIT 1),
			(SELECT number FROM messages
			WHERE conversation_id = wanted.value AND scheduled_at = 0
			ORDER BY id DESC
			LIMIT 1))`, jsonList(conversations), previewLength)
	return all, err
}
