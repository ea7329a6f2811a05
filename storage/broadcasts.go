package storage

import (
	"slices"
	"strconv"

	"confab/storage/sqlite"
)

// Broadcast is one template for many recipients.
type Broadcast struct {
	Number           int64   `db:"number"` // by which its recipients and its jobs name it
	ID               string  `db:"id"`
	AccountID        int64   `db:"account_id"`
	Name             string  `db:"name"`
	Content          JSON    `db:"content"` // the template as the provider gets it, with {{fields}} in its texts
	TemplateName     string  `db:"template_name"`
	TemplateLanguage string  `db:"template_language"`
	Body             *string `db:"body"` // the text of the template, with {{fields}} too
	AudienceType     string  `db:"audience_type"`
	LabelID          *string `db:"label_id"`
	Status           string  `db:"status"`
	PausedReason     *string `db:"paused_reason"`
	Prepared         bool    `db:"prepared"` // all recipients are stored
	CopiedAt         Time    `db:"copied_at"`
	CopiedID         string  `db:"copied_id"`
	Position         int64   `db:"position"` // the last recipient that was processed
	Open             int64   `db:"open"`     // messages that were made and have not ended
	BroadcastCounts
	ScheduledAt Time    `db:"scheduled_at"`
	StartedAt   Time    `db:"started_at"`
	CompletedAt Time    `db:"completed_at"`
	CreatedBy   *string `db:"created_by"`
	CreatedAt   Time    `db:"created_at"`
	UpdatedAt   Time    `db:"updated_at"`

	AccountNumberID *string `db:"account_number_id"`
}

// BroadcastCounts says how many recipients are in each state.
type BroadcastCounts struct {
	Total     int64 `db:"total" json:"total"`
	Waiting   int64 `db:"waiting" json:"waiting"`
	Sent      int64 `db:"sent" json:"sent"`
	Delivered int64 `db:"delivered" json:"delivered"`
	Read      int64 `db:"read" json:"read"`
	Failed    int64 `db:"failed" json:"failed"`
	Skipped   int64 `db:"skipped" json:"skipped"`
}

// States of a broadcast. The first is not shown: its recipients are being stored.
const (
	BroadcastMaking    = "making"
	BroadcastPreparing = "preparing"
	BroadcastScheduled = "scheduled"
	BroadcastRunning   = "running"
	BroadcastPaused    = "paused"
	BroadcastCompleted = "completed"
	BroadcastCancelled = "cancelled"
)

// BroadcastStates are those that clients see.
func BroadcastStates() []string {
	return []string{
		BroadcastPreparing, BroadcastScheduled, BroadcastRunning, BroadcastPaused, BroadcastCompleted, BroadcastCancelled,
	}
}

// Sorts of audiences.
const (
	AudienceLabel      = "label"
	AudienceContacts   = "contacts"
	AudienceRecipients = "recipients"
)

// IsOver reports whether nothing more happens by itself.
func (b Broadcast) IsOver() bool {
	return b.Status == BroadcastCompleted || b.Status == BroadcastCancelled
}

// HasTurned reports whether every recipient was processed.
func (b Broadcast) HasTurned() bool { return b.Position >= b.Total }

// BroadcastLane is the lane of a broadcast's jobs, closed while the broadcast is paused.
func BroadcastLane(number int64) string { return broadcastLanes + strconv.FormatInt(number, 10) }

const broadcastLanes = "broadcast:"

const (
	broadcastColumns = `b.number, b.id, b.account_id, b.name, b.content, b.template_name, b.template_language, b.body,
		b.audience_type, b.label_id, b.status, b.paused_reason, b.prepared, b.copied_at, b.copied_id, b.position, b.open,
		b.total, b.waiting, b.sent, b.delivered, b.read, b.failed, b.skipped,
		b.scheduled_at, b.started_at, b.completed_at, b.created_by, b.created_at, b.updated_at,
		(SELECT phone_number_id FROM accounts WHERE id = b.account_id) AS account_number_id`
	selectBroadcasts = `SELECT ` + broadcastColumns + ` FROM broadcasts b `
)

// Broadcast finds a broadcast of an account.
func (rx *Rx) Broadcast(account int64, id string) (Broadcast, error) {
	return get[Broadcast](rx, selectBroadcasts+`WHERE b.id = ? AND b.account_id = ? AND b.status <> 'making'`, id, account)
}

// BroadcastOfAny finds a broadcast of any account, for the command line.
func (rx *Rx) BroadcastOfAny(id string) (Broadcast, error) {
	return get[Broadcast](rx, selectBroadcasts+`WHERE b.id = ? AND b.status <> 'making'`, id)
}

// BroadcastByNumber finds a broadcast for its own job.
func (rx *Rx) BroadcastByNumber(number int64) (Broadcast, error) {
	return get[Broadcast](rx, selectBroadcasts+`WHERE b.number = ?`, number)
}

// Broadcasts lists an account's broadcasts, newest first; those of a state, if one is given.
func (rx *Rx) Broadcasts(account int64, status string, after After, limit int) ([]Broadcast, After, error) {
	q := sqlite.ListQuery{Columns: broadcastColumns, Table: "broadcasts b", Key: "b.created_at", ID: "b.id"}
	q.ByIndex("b.account_id = ?", true, account)
	q.PartialIndex("broadcasts_of_account", "b.status <> 'making'")
	q.Filter("b.status = ?", status != "", status)
	return sqlite.FindPage[Broadcast](&rx.Rx, q, after, limit)
}

// InsertBroadcast stores a broadcast that is not visible yet, and fills in number, id and times.
func (tx *Tx) InsertBroadcast(b *Broadcast) error {
	b.ID, b.Status, b.CreatedAt, b.UpdatedAt = tx.NewID(PrefixBroadcast), BroadcastMaking, tx.Order, tx.Order

	var err error
	b.Number, err = tx.Insert(`
		INSERT INTO broadcasts (id, account_id, name, content, template_name, template_language, body, audience_type, label_id,
			status, scheduled_at, created_by, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		b.ID, b.AccountID, b.Name, b.Content, b.TemplateName, b.TemplateLanguage, b.Body, b.AudienceType, b.LabelID,
		b.Status, b.ScheduledAt, b.CreatedBy, b.CreatedAt, b.UpdatedAt)
	return err
}

// PublishBroadcast makes a broadcast appear, as new as that, in the state that b has. Its
// recipients are all there, unless they are read from a label.
func (tx *Tx) PublishBroadcast(b *Broadcast) error {
	status, prepared := b.Status, b.Prepared
	stored, err := tx.BroadcastByNumber(b.Number)
	if err == nil && (stored.Status != BroadcastMaking || stored.CompletedAt != 0) {
		err = ErrNotFound
	}
	if err != nil {
		return err
	}

	*b = stored
	b.Status, b.Prepared, b.CreatedAt = status, prepared, tx.Order
	return tx.UpdateBroadcast(b)
}

// UpdateBroadcast stores the state of a broadcast, and lets its jobs go or wait by it.
func (tx *Tx) UpdateBroadcast(b *Broadcast) error {
	b.UpdatedAt = tx.Order
	if b.Status != BroadcastPaused {
		b.PausedReason = nil
	}
	err := tx.UpdateRow("broadcasts", "status, paused_reason, prepared, started_at, completed_at, created_at, updated_at", "number", b)
	if err := tx.hint(err, HintBroadcast, Scope{Account: b.AccountID}, b.ID); err != nil {
		return err
	}

	if lane := BroadcastLane(b.Number); b.Status == BroadcastPaused {
		tx.closeLane(lane)
	} else {
		tx.openLane(lane)
	}
	return nil
}

// PauseActiveBroadcast pauses a broadcast for a reason, if it goes on.
func (tx *Tx) PauseActiveBroadcast(number int64, reason string) error {
	b, err := tx.CurrentBroadcast(number)
	if err != nil || !b.IsActive() {
		return IgnoreNotFound(err)
	}
	b.Status, b.PausedReason = BroadcastPaused, &reason
	return tx.UpdateBroadcast(&b)
}

// CancelBroadcast skips those who wait. Their rows stay as they are: there may be millions.
func (tx *Tx) CancelBroadcast(b *Broadcast) error {
	if err := tx.writeMoves(b.Number); err != nil {
		return err
	}
	err := tx.ExecOne(`UPDATE broadcasts SET skipped = skipped + waiting, waiting = 0 WHERE number = ?`, b.Number)
	if err != nil {
		return err
	}

	tx.countDeletion() // who has a message of it in memory reads it again
	b.Status, b.CompletedAt = BroadcastCancelled, tx.Now
	b.Prepared = true // whoever gets its label now is no recipient
	if err := tx.UpdateBroadcast(b); err != nil {
		return err
	}
	*b, err = tx.BroadcastByNumber(b.Number)
	return err
}

// CurrentBroadcast is BroadcastByNumber with what this transaction has counted.
func (tx *Tx) CurrentBroadcast(number int64) (Broadcast, error) {
	if err := tx.writeMoves(number); err != nil {
		return Broadcast{}, err
	}
	return tx.BroadcastByNumber(number)
}

// UnfinishedBroadcastNames reports whether what a broadcast of an account still sends has a text, such
// as an id, in it.
func (rx *Rx) UnfinishedBroadcastNames(account int64, text string) (bool, error) {
	return value[bool](rx, `
		SELECT EXISTS (
			SELECT 1
			FROM broadcasts
			WHERE account_id = ? AND status <> 'completed' AND status <> 'cancelled' AND instr(content, ?) > 0
		)`,
		account, text)
}

// MovePosition records that recipients were processed up to a number, if just those before were.
func (tx *Tx) MovePosition(number, from, to int64) error {
	return tx.ExecOne(`UPDATE broadcasts SET position = ? WHERE number = ? AND position = ?`, to, number, from)
}

// DeleteAbandonedBroadcasts deletes up to limit rows of broadcasts that were being made and
// to which nothing was added since a time: the request that made them is gone.
func (tx *Tx) DeleteAbandonedBroadcasts(since Time, limit int) (int64, error) {
	number, err := value[int64](&tx.Rx, `
		SELECT number
		FROM broadcasts INDEXED BY broadcasts_unfinished
		WHERE status <> 'completed' AND status <> 'cancelled' AND status = 'making' AND updated_at < ?
		LIMIT 1`, since)
	if err != nil {
		return 0, IgnoreNotFound(err)
	}
	return tx.DeleteUnpublishedBroadcast(number, limit)
}

// DeleteUnpublishedBroadcast deletes up to limit recipients of a broadcast that was being made, and the
// broadcast when none is left. It returns how many rows went, fewer than limit at the end.
//
// It marks the broadcast as over first: a request that goes on, because a clock leapt and
// it only seemed abandoned, gets an error instead of a broadcast without its first recipients.
func (tx *Tx) DeleteUnpublishedBroadcast(number int64, limit int) (int64, error) {
	n, err := tx.Exec(`UPDATE broadcasts SET completed_at = ? WHERE number = ? AND status = 'making'`, tx.Now, number)
	if err != nil || n == 0 { // it is gone, or published after all
		return 0, err
	}

	n, err = tx.deleteSome("broadcast_recipients", "broadcast, number", "broadcast = ? ORDER BY number", number, limit)
	if err != nil || n >= int64(limit) {
		return n, err
	}
	_, err = tx.Exec(`DELETE FROM broadcasts WHERE number = ? AND status = 'making'`, number)
	return n, err
}

// IsActive reports whether a broadcast goes on by itself.
func (b Broadcast) IsActive() bool {
	return slices.Contains([]string{BroadcastPreparing, BroadcastScheduled, BroadcastRunning}, b.Status)
}
