package storage

import (
	"encoding/json"
	"errors"
	"time"
)

// BroadcastRecipient is somebody to whom a broadcast goes.
type BroadcastRecipient struct {
	Number      int64           `db:"number"` // its place in the broadcast, from 1 on
	Status      RecipientStatus `db:"status"`
	PhoneNumber *string         `db:"phone_number"` // that it was given by, or the contact's
	ContactID   *string         `db:"contact_id"`
	Fields      JSON            `db:"fields"`
	MessageID   *string         `db:"message_id"`
	Reason      *string         `db:"reason"` // why it was skipped, or the code of the error
	Error       *string         `db:"error"`
	Code        *int            `db:"code"` // the provider's
}

// Why a recipient is skipped, beside the refusals of sending.
const (
	SkippedPhoneNumber        = "invalid_phone_number"
	SkippedMissingParameter   = "missing_parameter"
	SkippedInvalidParameter   = "invalid_parameter"
	SkippedDuplicate          = "duplicate"
	SkippedContactDeleted     = "contact_deleted"
	SkippedBroadcastCancelled = "broadcast_cancelled"
)

const recipientColumns = `r.number, r.status, r.phone_number, r.contact_id, r.fields, r.message_id, r.reason, r.error, r.code`

// AddRecipients stores recipients of a broadcast that is being made or prepared, after
// those that it has, and counts them. Numbers that it has already are left out.
func (tx *Tx) AddRecipients(broadcast int64, all []BroadcastRecipient) error {
	var last int64
	if err := tx.Scan([]any{&last}, `SELECT total FROM broadcasts WHERE number = ? AND completed_at = 0`, broadcast); err != nil {
		return err
	}

	var added, skipped int64
	for _, r := range all {
		n, err := tx.Exec(`
			INSERT OR IGNORE INTO broadcast_recipients (broadcast, number, status, phone_number, contact_id, fields, reason)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, broadcast, last+added+1, r.Status, r.PhoneNumber, r.ContactID, r.Fields, r.Reason)
		if err != nil {
			return err
		}
		added += n
		if r.Status == RecipientSkipped {
			skipped += n
		}
	}

	return tx.ExecOne(`
		UPDATE broadcasts
		SET total = total + ?, waiting = waiting + ?, skipped = skipped + ?, updated_at = ?
		WHERE number = ?`, added, added-skipped, skipped, tx.Order, broadcast)
}

// NextRecipients lists up to limit recipients after a number.
func (rx *Rx) NextRecipients(broadcast, after int64, limit int) ([]BroadcastRecipient, error) {
	return list[BroadcastRecipient](rx, `
		SELECT `+recipientColumns+`
		FROM broadcast_recipients r
		WHERE r.broadcast = ? AND r.number > ?
		ORDER BY r.number
		LIMIT ?`, broadcast, after, limit)
}

// MarkRecipientMade records the message of a recipient; false if it has one, or waits no more.
func (tx *Tx) MarkRecipientMade(broadcast, number int64, contact, message string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE broadcast_recipients
		SET contact_id = ?, message_id = ?
		WHERE broadcast = ? AND number = ? AND status = 0 AND message_id IS NULL`, contact, message, broadcast, number)
	if err == nil && n > 0 {
		tx.countMove(broadcast, RecipientWaiting, RecipientWaiting, 1)
	}
	return n > 0, err
}

// HasBroadcastMessage reports whether a contact, under any number, has a message of a broadcast.
func (rx *Rx) HasBroadcastMessage(broadcast int64, contact string) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM broadcast_recipients INDEXED BY broadcast_recipients_of_contact
		WHERE contact_id = ? AND broadcast = ? AND message_id IS NOT NULL`, contact, broadcast)
}

// recipientRange is how many recipients are looked at in one range of a list.
const recipientRange = 4096

// BroadcastRecipients lists recipients after a number, in sending order; those of a state, if given. It
// says how far it came: to 0, the end, unless the page was full or its time was up before.
func (rx *Rx) BroadcastRecipients(
	b Broadcast, status string, after int64, limit int,
) (page []BroadcastRecipient, reached int64, err error) {
	page = []BroadcastRecipient{}
	first, last, other := recipientFilter(b, status)

	for began := time.Now(); ; after += recipientRange {
		rows, err := list[BroadcastRecipient](rx, `
			SELECT r.number, r.status, coalesce(r.phone_number, c.phone_number) AS phone_number, r.contact_id, NULL AS fields,
				r.message_id, r.reason, r.error, r.code
			FROM broadcast_recipients r LEFT JOIN contacts c ON c.id = r.contact_id
			WHERE r.broadcast = ? AND r.number > ? AND r.number <= ? AND (r.status BETWEEN ? AND ? OR r.status = ?)
			ORDER BY r.number
			LIMIT ?`, b.Number, after, after+recipientRange, first, last, other, limit-len(page))
		if err != nil {
			return nil, 0, err
		}
		for _, r := range rows {
			page = append(page, r.shownIn(b))
		}

		switch {
		case len(page) == limit || after+recipientRange >= b.Total:
			return page, 0, nil
		case time.Since(began) >= rx.ScanTime():
			return page, after + recipientRange, nil
		}
		if err := rx.Pause(); err != nil {
			return nil, 0, err
		}
	}
}

// recipientFilter are the states that rows have of those who are shown in one: from the first to
// the last, or the other.
func recipientFilter(b Broadcast, status string) (first, last, other RecipientStatus) {
	const none = RecipientStatus(-1)
	wanted := recipientStatusOf(status)
	switch {
	case status == "":
		return RecipientWaiting, RecipientSkipped, none
	case b.Status == BroadcastCancelled && wanted == RecipientWaiting:
		return 0, none, none
	case b.Status == BroadcastCancelled && wanted == RecipientSkipped:
		return wanted, wanted, RecipientWaiting
	}
	return wanted, wanted, none
}

// shownIn is the recipient as clients see it: who waits in a cancelled broadcast was skipped.
func (r BroadcastRecipient) shownIn(b Broadcast) BroadcastRecipient {
	if b.Status == BroadcastCancelled && r.Status == RecipientWaiting {
		r.Skip(SkippedBroadcastCancelled)
	}
	return r
}

type recipientKey struct {
	Broadcast int64 `db:"broadcast"`
	Number    int64 `db:"number"`
}

// blankRecipients removes a contact's details from its recipients, also where a
// number of the contact is all that they have. Those that wait are skipped.
func (tx *Tx) blankRecipients(account int64, contact string) error {
	all, err := list[recipientKey](&tx.Rx, `
		WITH numbers (phone_number) AS (
			SELECT phone_number FROM contacts WHERE id = ?2 UNION SELECT phone_number FROM contact_aliases WHERE contact_id = ?2)
		SELECT broadcast, number FROM broadcast_recipients WHERE contact_id = ?2
		UNION
		SELECT r.broadcast, r.number
		FROM broadcasts b JOIN broadcast_recipients r ON r.broadcast = b.number AND r.phone_number IN numbers
		WHERE b.account_id = ?1 AND b.status <> 'completed' AND b.status <> 'cancelled'
		UNION
		SELECT r.broadcast, r.number
		FROM broadcasts b JOIN broadcast_recipients r INDEXED BY broadcast_recipients_phone
			ON r.broadcast = b.number AND r.phone_number IN numbers
		WHERE b.account_id = ?1 AND b.status <> 'making' AND r.contact_id IS NULL`, account, contact)
	if err != nil {
		return err
	}

	for _, key := range all {
		if err := tx.SkipRecipient(key.Broadcast, key.Number, SkippedContactDeleted); err != nil {
			return err
		}
		_, err := tx.Exec(`
			UPDATE broadcast_recipients
			SET phone_number = NULL, contact_id = NULL, fields = NULL
			WHERE broadcast = ? AND number = ?`, key.Broadcast, key.Number)
		if err != nil {
			return err
		}
	}
	return nil
}

// skipForgotten skips the recipients of messages that are deleted while they wait.
func (tx *Tx) skipForgotten(account int64, rows []Row) error {
	all, err := list[recipientKey](&tx.Rx, `
		SELECT broadcast, recipient_number AS number FROM messages
		WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)) AND broadcast IS NOT NULL AND status IN ('queued', 'pending')`,
		account, idList(rows))
	for _, key := range all {
		err = errors.Join(err, tx.SkipRecipient(key.Broadcast, key.Number, SkippedContactDeleted))
	}
	return err
}

// Skip makes it a recipient that gets no message from the beginning.
func (r *BroadcastRecipient) Skip(reason string) { r.Status, r.Reason = RecipientSkipped, &reason }

// maxFieldValue is longer than any text that a value can be part of, in bytes.
const maxFieldValue = 4 * 32768

// SetFields gives it the values of some fields, of which only those are kept that have one
// of the names. A recipient with a value too long for any text is skipped.
func (r *BroadcastRecipient) SetFields(values map[string]string, names []string) {
	kept := make(map[string]string)
	for _, name := range names {
		value, given := values[name]
		if len(value) > maxFieldValue {
			r.Skip(SkippedInvalidParameter)
			return
		}
		if given {
			kept[name] = value
		}
	}

	if len(kept) > 0 {
		r.Fields, _ = json.Marshal(kept) // texts can always be written
	}
}
