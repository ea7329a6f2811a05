package storage

// MessageTry is a try to hand a message to the provider that failed.
type MessageTry struct {
	Try        int     `db:"try"` // 1 is the first; given when it is stored
	BeganAt    Time    `db:"began_at"`
	DurationMS int64   `db:"duration_ms"`
	HTTPStatus *int    `db:"http_status"` // nil: there was no answer
	Code       *int    `db:"code"`        // the provider's
	Reason     string  `db:"reason"`
	Answer     *string `db:"answer"` // as it came, without secrets and not all of a long one
}

// maxTries is how many failed tries of a message are kept. No schedule has as many, but
// an operator may begin again any number of times.
const maxTries = 100

// InsertMessageTry keeps a failed try of a message, unless that was deleted meanwhile.
func (tx *Tx) InsertMessageTry(m Message, t MessageTry) error {
	return tx.Run(`
		INSERT INTO message_tries (message, try, began_at, duration_ms, http_status, code, reason, answer)
		SELECT ?1, 1 + coalesce((SELECT max(try) FROM message_tries WHERE message = ?1), 0), ?3, ?4, ?5, ?6, ?7, ?8
		FROM messages m
		WHERE m.number = ?1 AND m.id = ?2
			AND NOT EXISTS (SELECT 1 FROM message_tries WHERE message = ?1 AND try >= ?9)`,
		m.Number, m.ID, t.BeganAt, t.DurationMS, t.HTTPStatus, t.Code, t.Reason, t.Answer, maxTries)
}

// MessageTries lists the tries of a message that failed, the first one first.
func (rx *Rx) MessageTries(m Message) ([]MessageTry, error) {
	return list[MessageTry](rx, `
		SELECT try, began_at, duration_ms, http_status, code, reason, answer
		FROM message_tries
		WHERE message = ?
		ORDER BY try`, m.Number)
}
