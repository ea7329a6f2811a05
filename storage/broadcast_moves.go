package storage

import (
	"slices"

	"confab/storage/sqlite"
)

// RecipientStatus is the state of a recipient as its row has it.
type RecipientStatus int

// States of a recipient, in the order in which a message passes the first four.
const (
	RecipientWaiting RecipientStatus = iota
	RecipientSent
	RecipientDelivered
	RecipientRead
	RecipientFailed
	RecipientSkipped
)

// RecipientStates lists the names of all states, by their numbers.
func RecipientStates() []string {
	return []string{"waiting", "sent", "delivered", "read", "failed", "skipped"}
}

// String is the name of the state.
func (s RecipientStatus) String() string { return RecipientStates()[s] }

// recipientStatusOf is the state of a recipient whose message is in a state. One that is queued or
// pending waits.
func recipientStatusOf(message string) RecipientStatus {
	return RecipientStatus(max(slices.Index(RecipientStates(), message), 0))
}

// broadcastMove is by how much the counts of a broadcast change, and of the messages that are open.
type broadcastMove struct {
	counts [6]int64
	open   int64
}

func storeMove(wx *sqlite.Wx, number int64, m broadcastMove) error {
	return wx.Run(`
		UPDATE broadcasts
		SET waiting = waiting + ?, sent = sent + ?, delivered = delivered + ?, read = read + ?, failed = failed + ?, skipped = skipped + ?,
			open = open + ?, updated_at = max(updated_at, ?)
		WHERE number = ?`,
		m.counts[RecipientWaiting], m.counts[RecipientSent], m.counts[RecipientDelivered], m.counts[RecipientRead],
		m.counts[RecipientFailed], m.counts[RecipientSkipped], m.open, wx.Order, number)
}

// countMove counts that a recipient changed its state, and that messages were opened or ended.
func (tx *Tx) countMove(broadcast int64, from, to RecipientStatus, open int64) {
	move := tx.db.pending.moved.changes[broadcast]
	move.counts[from]--
	move.counts[to]++
	move.open += open
	tx.db.pending.moved.set(tx, broadcast, move)
}

// writeMoves writes what was counted of a broadcast, for who reads its counts or changes them.
func (tx *Tx) writeMoves(broadcast int64) error {
	moved := tx.db.pending.moved
	if err := moved.writeOne(tx.Wx, broadcast); err != nil {
		return err
	}
	moved.set(tx, broadcast, broadcastMove{})
	return nil
}

type recipientState struct {
	status RecipientStatus // as its row says
	counts RecipientStatus // as the counts say
	open   bool            // it has a message that has not ended
	reason *string
}

func (tx *Tx) recipientState(broadcast, number int64) (s recipientState, err error) {
	var cancelled bool
	err = tx.Scan([]any{&s.status, &s.reason, &s.open, &cancelled}, `
		SELECT r.status, r.reason, r.status = 0 AND r.message_id IS NOT NULL, b.status = 'cancelled'
		FROM broadcast_recipients r JOIN broadcasts b ON b.number = r.broadcast
		WHERE r.broadcast = ? AND r.number = ?`, broadcast, number)

	s.counts = s.status
	if cancelled && s.status == RecipientWaiting {
		s.counts = RecipientSkipped
	}
	return s, err
}

func (s recipientState) count(tx *Tx, broadcast int64, to RecipientStatus) {
	var open int64
	if s.open {
		open = -1
	}
	tx.countMove(broadcast, s.counts, to, open)
}

// moveRecipient moves a recipient to the state of its message. One that was skipped stays so.
func (tx *Tx) moveRecipient(m Message) error {
	if m.Broadcast == nil || m.RecipientNumber == nil {
		return nil
	}

	s, err := tx.recipientState(*m.Broadcast, *m.RecipientNumber)
	to := recipientStatusOf(m.Status)
	switch {
	case err != nil:
		return IgnoreNotFound(err)
	case s.status == RecipientSkipped, to == RecipientWaiting, s.status == to && (m.ErrorCode == nil || s.reason != nil):
		return nil
	case s.status != to:
		s.count(tx, *m.Broadcast, to)
	}

	err = tx.ExecOne(`
		UPDATE broadcast_recipients
		SET status = ?, reason = ?, error = ?, code = ?
		WHERE broadcast = ? AND number = ?`, to, m.ErrorCode, m.ErrorMessage, m.ErrorProviderCode, *m.Broadcast, *m.RecipientNumber)
	return tx.hint(err, HintBroadcast, Scope{Account: m.AccountID}, "")
}

// SkipRecipient records why somebody gets no message, or none that is sent. A recipient that waited
// for one when the broadcast was cancelled was skipped by that.
func (tx *Tx) SkipRecipient(broadcast, number int64, reason string) error {
	s, err := tx.recipientState(broadcast, number)
	if err != nil || s.status != RecipientWaiting || s.counts == RecipientSkipped && !s.open {
		return IgnoreNotFound(err)
	}

	s.count(tx, broadcast, RecipientSkipped)
	return tx.ExecOne(`
		UPDATE broadcast_recipients
		SET status = ?, reason = ?
		WHERE broadcast = ? AND number = ?`, RecipientSkipped, reason, broadcast, number)
}
