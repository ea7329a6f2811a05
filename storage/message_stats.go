package storage

import "time"

// MessageCounts say how the messages of some time went. Each counts the messages that
// came at least so far: one that was read was delivered and sent too.
type MessageCounts struct {
	Sent      int `db:"sent" json:"sent"`
	Delivered int `db:"delivered" json:"delivered"`
	Read      int `db:"was_read" json:"read"`
	Failed    int `db:"failed" json:"failed"`
	Received  int `db:"received" json:"received"`
}

func (c *MessageCounts) add(some MessageCounts, times int) {
	c.Sent += times * some.Sent
	c.Delivered += times * some.Delivered
	c.Read += times * some.Read
	c.Failed += times * some.Failed
	c.Received += times * some.Received
}

func countsOf(direction, status string) MessageCounts {
	if direction == Inbound {
		return MessageCounts{Received: 1}
	}

	switch status {
	case MessageSent:
		return MessageCounts{Sent: 1}
	case MessageDelivered:
		return MessageCounts{Sent: 1, Delivered: 1}
	case MessageRead:
		return MessageCounts{Sent: 1, Delivered: 1, Read: 1}
	case MessageFailed:
		return MessageCounts{Failed: 1}
	}
	return MessageCounts{}
}

const (
	hour = time.Hour
	day  = 24 * hour

	// MessageCountsKept is how long the counts of messages are kept: a day more than is shown.
	MessageCountsKept = 31 * day
)

// MessageHours counts the messages of a number for each hour from the beginning of one on.
func (rx *Rx) MessageHours(account int64, from Time, hours int) ([]MessageCounts, error) {
	return rx.messageSpans(`?1`, account, from, hour, hours)
}

// MessageDays counts the messages of an organization's numbers day by day.
func (rx *Rx) MessageDays(organization int64, from Time, days int) ([]MessageCounts, error) {
	return rx.messageSpans(liveAccounts, organization, from, day, days)
}

const liveAccounts = `SELECT id FROM accounts INDEXED BY accounts_of_organization WHERE organization_id = ?1 AND deleted_at = 0`

func (rx *Rx) messageSpans(accounts string, of int64, from Time, each time.Duration, spans int) ([]MessageCounts, error) {
	var counted []struct {
		MessageCounts
		Span int `db:"span"`
	}
	err := rx.List(&counted, `
		SELECT (hour - ?2) / ?3 AS span, sum(sent) AS sent, sum(delivered) AS delivered, sum(was_read) AS was_read,
			sum(failed) AS failed, sum(received) AS received
		FROM message_hours
		WHERE account_id IN (`+accounts+`) AND hour >= ?2 AND hour < ?2 + ?3 * ?4
		GROUP BY span`, of, from, each.Milliseconds(), spans)

	all := make([]MessageCounts, spans)
	for _, c := range counted {
		all[c.Span] = c.MessageCounts
	}
	return all, err
}

// FailureCount is how many messages failed for one reason.
type FailureCount struct {
	Code         string `db:"error_code" json:"code"`
	ProviderCode *int64 `db:"provider_code" json:"provider_code"`
	Count        int    `db:"count" json:"count"`
}

// Failures counts a number's failed messages since an hour by reason, the most frequent first.
func (rx *Rx) Failures(account int64, since Time) ([]FailureCount, error) {
	return rx.failures(`?1`, account, since)
}

// OrganizationFailures is Failures for all numbers of an organization.
func (rx *Rx) OrganizationFailures(organization int64, since Time) ([]FailureCount, error) {
	return rx.failures(liveAccounts, organization, since)
}

func (rx *Rx) failures(accounts string, of int64, since Time) ([]FailureCount, error) {
	return list[FailureCount](rx, `
		SELECT error_code, nullif(provider_code, 0) AS provider_code, sum(failures) AS count
		FROM message_failures
		WHERE account_id IN (`+accounts+`) AND hour >= ?2
		GROUP BY error_code, provider_code
		ORDER BY count DESC, error_code, message_failures.provider_code`, of, since)
}
