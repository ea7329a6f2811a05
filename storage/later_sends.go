package storage

import (
	"cmp"

	"github.com/oklog/ulid/v2"

	"confab/storage/sqlite"
)

// ReleaseMessage records that the time of a message has come that was to be sent later: it
// is as new as that, and its conversation has a new message. It returns false if the
// message does not wait any more.
func (tx *Tx) ReleaseMessage(m *Message) (bool, error) {
	n, err := tx.Exec(`
		UPDATE messages
		SET created_at = ?, updated_at = ?, place = ?
		WHERE number = ? AND id = ? AND status = 'queued' AND place IS NULL`,
		tx.Order, tx.Order, placeAt(m.ID, tx.Order), m.Number, m.ID)
	if err != nil || n == 0 {
		return false, err
	}

	m.CreatedAt, m.UpdatedAt = tx.Order, tx.Order
	by := cmp.Or(OrEmpty(m.SentBy), m.Source)
	return true, tx.hintMessage(tx.MarkMessageWritten(m.ConversationID, m.Type, by), m)
}

// placeAt is an id with the time of another. No two are the same: the rest differs.
func placeAt(id string, t Time) string {
	const timeLength = 10 // of the 26 characters of a ULID
	return sqlite.FirstID(PrefixMessage, t)[:len(PrefixMessage)+timeLength] + id[len(id)-ulid.EncodedSize+timeLength:]
}

// CallMayHaveBegun reports whether a message was being handed to the provider when its run
// was cut off, so that it is unknown whether the provider has it.
func (rx *Rx) CallMayHaveBegun(kinds []string, message string) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM jobs INDEXED BY jobs_begun
		WHERE kind IN (SELECT value FROM json_each(?)) AND call_begun_at <> 0 AND args ->> '$.message' = ?`, jsonList(kinds), message)
}

// StopSending makes sure that a message is not sent that was cancelled: who has it in memory
// reads it again, and the job that waits for its time, of a kind, is deleted.
func (tx *Tx) StopSending(kind string, m Message) error {
	tx.countDeletion()
	if m.ScheduledAt == 0 {
		return nil
	}
	return tx.Run(`
		DELETE FROM jobs
		WHERE state = 'due' AND kind = ? AND due_at = ? AND args ->> '$.message' = ?`, kind, m.ScheduledAt, m.ID)
}

const reportsLookedAt = 500

// HasReports reports whether a callback came, since a time, about one of the newest messages.
func (rx *Rx) HasReports(account int64, since Time) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM (SELECT reported, updated_at FROM messages WHERE account_id = ? ORDER BY id DESC LIMIT ?)
		WHERE reported <> 0 AND updated_at >= ?`, account, reportsLookedAt, since.Add(rx.db.Lead()))
}
