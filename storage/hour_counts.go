package storage

import (
	"time"

	"confab/storage/sqlite"
)

// What the console shows of the last day and month, and how many deliveries of an endpoint
// succeeded, is counted when it happens: a row for each hour, so that drawing a plot does
// not read millions of messages.

func hourStart(t Time) Time { return t - t%Time(time.Hour.Milliseconds()) }

// messagesOf names the messages of an account that were made in an hour, failuresOf those
// that failed for one reason, and deliveriesOf the deliveries of a subscription.
type (
	messagesOf struct {
		account int64
		hour    Time
	}
	failuresOf struct {
		messagesOf
		code         string
		providerCode int // 0 for none
	}
	deliveriesOf struct {
		subscription string
		hour         Time
	}
)

// endedCounts are the deliveries that need no more attempts; the few others are counted as rows.
type endedCounts struct{ succeeded, dead, untried int }

func storeMessages(wx *sqlite.Wx, of messagesOf, n MessageCounts) error {
	return wx.Run(`
		INSERT INTO message_hours (account_id, hour, sent, delivered, was_read, failed, received)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (account_id, hour) DO UPDATE SET sent = sent + excluded.sent, delivered = delivered + excluded.delivered,
			was_read = was_read + excluded.was_read, failed = failed + excluded.failed, received = received + excluded.received`,
		of.account, of.hour, n.Sent, n.Delivered, n.Read, n.Failed, n.Received)
}

func storeFailures(wx *sqlite.Wx, of failuresOf, n int) error {
	return wx.Run(`
		INSERT INTO message_failures (account_id, hour, error_code, provider_code, failures)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (account_id, hour, error_code, provider_code) DO UPDATE SET failures = failures + excluded.failures`,
		of.account, of.hour, of.code, of.providerCode, n)
}

func storeEnded(wx *sqlite.Wx, of deliveriesOf, n endedCounts) error {
	return wx.Run(`
		INSERT INTO delivery_hours (subscription_id, hour, succeeded, dead, untried)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (subscription_id, hour) DO UPDATE SET succeeded = succeeded + excluded.succeeded,
			dead = dead + excluded.dead, untried = untried + excluded.untried`,
		of.subscription, of.hour, n.succeeded, n.dead, n.untried)
}

// countMessage counts that a message has come from one state to that which it has now, in
// the hour in which it was made. A new one comes from "".
func (tx *Tx) countMessage(m *Message, from string) {
	change := countsOf(m.Direction, m.Status)
	if from != "" {
		change.add(countsOf(m.Direction, from), -1)
	}
	if change == (MessageCounts{}) {
		return
	}

	counts, of := tx.db.pending.messages, messagesOf{m.AccountID, hourStart(m.CreatedAt)}
	change.add(counts.changes[of], 1)
	counts.set(tx, of, change)
}

func (tx *Tx) countFailure(m *Message) {
	of := failuresOf{messagesOf{m.AccountID, hourStart(m.CreatedAt)}, *m.ErrorCode, OrEmpty(m.ErrorProviderCode)}
	counts := tx.db.pending.failures
	counts.set(tx, of, counts.changes[of]+1)
}

// countEnded counts that a delivery of a subscription has succeeded or is dead, and whether
// it was tried at all, in the hour in which it was made: its id carries that.
func (tx *Tx) countEnded(subscription, delivery, status string, tried bool) {
	counts, of := tx.db.pending.deliveries, deliveriesOf{subscription, hourStart(sqlite.IDTime(PrefixDelivery, delivery))}
	n := counts.changes[of]
	switch {
	case status == DeliverySucceeded:
		n.succeeded++
	case tried:
		n.dead++
	default:
		n.dead++
		n.untried++
	}
	counts.set(tx, of, n)
}

// DeleteOldMessageCounts deletes up to limit counts of messages from before a time.
func (tx *Tx) DeleteOldMessageCounts(before Time, limit int) (int64, error) {
	n, err := tx.deleteSome("message_hours", "account_id, hour", "hour < ?", before, limit)
	if err != nil || n == int64(limit) {
		return n, err
	}

	failures, err := tx.deleteSome("message_failures", "account_id, hour, error_code, provider_code", "hour < ?", before, limit-int(n))
	return n + failures, err
}

// DeleteOldDeliveryCounts deletes up to limit counts of hours that were over before a time.
func (tx *Tx) DeleteOldDeliveryCounts(before Time, limit int) (int64, error) {
	return tx.deleteSome("delivery_hours", "subscription_id, hour", "hour < ?", hourStart(before), limit)
}
