package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"confab/storage/sqlite"
)

// MessageCounts tell how the messages of some time went. Each counts the messages that
// came at least so far: one that was read was delivered and sent too.
type MessageCounts struct {
	Sent      int `db:"sent"`
	Delivered int `db:"delivered"`
	Read      int `db:"was_read"`
	Failed    int `db:"failed"`
	Received  int `db:"received"`
}

func (c *MessageCounts) add(some MessageCounts) {
	c.Sent += some.Sent
	c.Delivered += some.Delivered
	c.Read += some.Read
	c.Failed += some.Failed
	c.Received += some.Received
}

// Nothing of these counts is written when a message is: they are counted when somebody
// asks, by the ids, which hold the times. Many messages are counted as a search, for all
// who ask meanwhile (see statsCounts), and what was counted of days that are long over is
// kept for a day.

// MessageHours counts the messages of a number for each hour from a time on, for a client
// of its organization.
func (db *DB) MessageHours(ctx context.Context, organization, account int64, from Time, hours int) ([]MessageCounts, error) {
	key := statsKey{fmt.Sprintf("number %d", account), from}
	return countShared(ctx, db, db.messageCounts, organization, key, func(rx *Rx) ([]MessageCounts, error) {
		return rx.MessageHours(account, from, hours)
	})
}

// MessageDays counts the messages of an organization for each day from a time on, for one
// of its clients.
func (db *DB) MessageDays(ctx context.Context, organization int64, from Time, days int) ([]MessageCounts, error) {
	key := statsKey{fmt.Sprintf("organization %d", organization), from}
	return countShared(ctx, db, db.messageCounts, organization, key, func(rx *Rx) ([]MessageCounts, error) {
		return rx.messageDays(organization, from, days)
	})
}

// MessageHours counts the messages of a number for each hour from a time on. It is a walk.
func (rx *Rx) MessageHours(account int64, from Time, hours int) ([]MessageCounts, error) {
	all, w := make([]MessageCounts, hours), messageWalk{rx: rx}
	for i := range all {
		start := from.Add(time.Duration(i) * time.Hour)
		if err := w.count(&all[i], account, timeSpan{start, start.Add(time.Hour)}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// messageDays begins with the newest day, so that a count that is asked for again goes on
// where the last one came to.
func (rx *Rx) messageDays(organization int64, from Time, days int) ([]MessageCounts, error) {
	accounts, err := rx.accountIDs(organization)
	if err != nil {
		return nil, err
	}

	all, w := make([]MessageCounts, days), messageWalk{rx: rx}
	for i := range slices.Backward(all) {
		start := from.Add(time.Duration(i) * day)
		key := dayKey{organization, start}
		if known, ok := rx.db.pastDays.find(key); ok {
			all[i] = known
			continue
		}

		for _, account := range accounts {
			if err := w.count(&all[i], account, timeSpan{start, start.Add(day)}); err != nil {
				return nil, err
			}
		}
		rx.db.pastDays.keep(key, all[i], rx.db.Now())
	}
	return all, nil
}

// maxCountedAccounts is of how many numbers the messages are counted together.
const maxCountedAccounts = 10_000

// accountIDs lists the keys of an organization's live accounts, the newest first.
func (rx *Rx) accountIDs(organization int64) (ids []int64, err error) {
	err = rx.List(&ids, `
		SELECT id
		FROM accounts INDEXED BY accounts_of_organization
		WHERE organization_id = ? AND deleted_at = 0
		ORDER BY created_at DESC, public_id DESC
		LIMIT ?`, organization, maxCountedAccounts)
	return ids, err
}

// messageWalk counts messages step by step. It pauses when it has looked at enough: at
// rows, and at times without any.
type messageWalk struct {
	rx     *Rx
	looked int
}

// count adds the messages of an account that were stored in a span of time.
func (w *messageWalk) count(c *MessageCounts, account int64, span timeSpan) error {
	step := w.rx.db.countStep.longest
	from, until := sqlite.FirstID(PrefixMessage, span.from), sqlite.FirstID(PrefixMessage, span.to)
	for {
		var some struct {
			MessageCounts
			Rows int    `db:"seen"`
			Last string `db:"last"`
		}
		err := w.rx.Get(&some, `
			SELECT count(*) FILTER (WHERE direction = 'outbound' AND status IN ('sent', 'delivered', 'read')) AS sent,
				count(*) FILTER (WHERE direction = 'outbound' AND status IN ('delivered', 'read')) AS delivered,
				count(*) FILTER (WHERE direction = 'outbound' AND status = 'read') AS was_read,
				count(*) FILTER (WHERE direction = 'outbound' AND status = 'failed') AS failed,
				count(*) FILTER (WHERE direction = 'inbound') AS received,
				count(*) AS seen, coalesce(max(id), '') AS last
			FROM (
				SELECT id, direction, status
				FROM messages INDEXED BY messages_of_account
				WHERE account_id = ? AND id >= ? AND id < ?
				ORDER BY id
				LIMIT ?)`, account, from, until, step)
		if err != nil {
			return err
		}

		c.add(some.MessageCounts)
		if w.looked += some.Rows + 1; w.looked > step {
			w.looked = 0
			if err := w.rx.Pause(); err != nil {
				return err
			}
		}
		if some.Rows < step {
			return nil
		}
		from = some.Last + "!" // behind that id, and before every other
	}
}

const day = 24 * time.Hour

// dayKey is a day of an organization.
type dayKey struct {
	organization int64
	start        Time
}

// pastDays are counts of days that are over for so long that hardly anything is reported
// of their messages any more.
type pastDays struct {
	mu  sync.Mutex
	all map[dayKey]pastDay
}

type pastDay struct {
	counts MessageCounts
	until  Time
}

const (
	settledAfter = 3 * day // a day's end
	maxPastDays  = 10_000
)

func (p *pastDays) find(key dayKey) (MessageCounts, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	known, ok := p.all[key]
	return known.counts, ok && Now() < known.until
}

// keep remembers a count for a day, if it is settled.
func (p *pastDays) keep(key dayKey, c MessageCounts, now Time) {
	if now.Sub(key.start) < day+settledAfter {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.all == nil || len(p.all) >= maxPastDays {
		p.all = make(map[dayKey]pastDay)
	}
	p.all[key] = pastDay{c, Now().Add(day)}
}

// FailureCount is how many messages failed for one reason.
type FailureCount struct {
	Code         string `db:"error_code"`
	ProviderCode *int64 `db:"error_provider_code"`
	Count        int    `db:"failures"`
}

// maxFailures is how many failed messages are looked at, the newest ones.
const maxFailures = 10_000

// Failures counts by their reasons the messages of a number that failed and were made
// since a time, the most frequent reason first. Of very many the newest are counted.
func (rx *Rx) Failures(account int64, since Time) ([]FailureCount, error) {
	return rx.failuresOf([]int64{account}, since)
}

// OrganizationFailures is Failures for all numbers of an organization.
func (rx *Rx) OrganizationFailures(organization int64, since Time) ([]FailureCount, error) {
	accounts, err := rx.accountIDs(organization)
	if err != nil {
		return nil, err
	}
	return rx.failuresOf(accounts, since)
}

// failureReason is what failures are counted by. A code of 0 stands for none.
type failureReason struct {
	code     string
	provider int64
}

func (rx *Rx) failuresOf(accounts []int64, since Time) ([]FailureCount, error) {
	counts, left := make(map[failureReason]int), maxFailures
	for i, account := range accounts {
		var some []FailureCount
		err := rx.List(&some, `
			SELECT coalesce(error_code, '') AS error_code, error_provider_code, count(*) AS failures
			FROM (
				SELECT error_code, error_provider_code
				FROM messages INDEXED BY messages_failed
				WHERE account_id = ? AND status = 'failed' AND id >= ?
				ORDER BY id DESC
				LIMIT ?)
			GROUP BY 1, 2`, account, sqlite.FirstID(PrefixMessage, since), left)
		if err != nil {
			return nil, err
		}

		for _, one := range some {
			counts[one.reason()] += one.Count
			left -= one.Count
		}
		if left <= 0 {
			break
		}
		if i%100 == 99 {
			if err := rx.Pause(); err != nil {
				return nil, err
			}
		}
	}
	return sortedFailures(counts), nil
}

func (f FailureCount) reason() failureReason {
	if f.ProviderCode == nil {
		return failureReason{f.Code, 0}
	}
	return failureReason{f.Code, *f.ProviderCode}
}

// sortedFailures lists counts, the greatest first.
func sortedFailures(counts map[failureReason]int) []FailureCount {
	all := make([]FailureCount, 0, len(counts))
	for reason, n := range counts {
		f := FailureCount{Code: reason.code, Count: n}
		if reason.provider != 0 {
			f.ProviderCode = &reason.provider
		}
		all = append(all, f)
	}

	slices.SortFunc(all, func(a, b FailureCount) int {
		of, other := a.reason(), b.reason()
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(of.code, other.code), cmp.Compare(of.provider, other.provider))
	})
	return all
}
