package callback

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/storage"
	"confab/storage/storageaudit"
	"confab/storage/storagetest"
)

const (
	marketing = `,"pricing":{"billable":true,"pricing_model":"PMP","type":"regular","category":"marketing","new":{"x":1}}`
	service   = `,"pricing":{"billable":false,"pricing_model":"PMP","type":"free_customer_service","category":"service"}`
)

// costs are the counters, in words.
func (l *line) costs() []string {
	l.t.Helper()
	return storagetest.Select[string](l.t, l.dir, `
		SELECT format('%s %s %s %d: %d, %d billable', date(day / 1000, 'unixepoch'), category, prefix, broadcast, messages, billable)
		FROM message_costs WHERE messages <> 0 ORDER BY day, category`)
}

// at is a status with a time.
func at(wamid, name string, when time.Time, more string) string {
	return fmt.Sprintf(`{"id":%q,"status":%q,"timestamp":"%d","recipient_id":"15550001111"%s}`, wamid, name, when.Unix(), more)
}

func TestTheFirstPricingStays(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	l.is.Equal(l.message(id).Pricing, storage.JSON(nil))

	l.report(ourNumber, status("wamid.1", "sent", marketing))
	l.is.Equal(len(l.costs()), 0) // it costs once it is delivered
	l.report(ourNumber, status("wamid.1", "delivered", service))
	l.report(ourNumber, status("wamid.1", "read", service))
	l.is.Equal(l.costs(), []string{"2025-06-15 marketing 155500 0: 1, 1 billable"})

	var raw map[string]any
	l.is.NoErr(json.Unmarshal(l.message(id).Pricing, &raw))
	l.is.Equal(raw["new"], map[string]any{"x": 1.0}) // as it came
}

func TestAPricingThatARepeatBringsCounts(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.1")
	l.report(ourNumber, status("wamid.1", "delivered", ""))
	l.is.Equal(len(l.costs()), 0)
	for range 3 {
		l.report(ourNumber, status("wamid.1", "delivered", service))
	}
	l.is.Equal(l.costs(), []string{"2025-06-15 service 155500 0: 1, 0 billable"})
	l.is.Equal(len(l.typed("message.status")), 1)
}

func TestPricingThatIsNotUnderstoodIsUnknown(t *testing.T) {
	for more, want := range map[string][]string{
		`,"pricing":{"billable":true,"category":"galactic","type":"free_allowance"}`: {"2025-06-15 unknown 155500 0: 1, 1 billable"},
		`,"pricing":{"billable":"yes","category":7}`:                                 {"2025-06-15 unknown 155500 0: 1, 0 billable"},
		`,"pricing":{}`:     {"2025-06-15 unknown 155500 0: 1, 0 billable"},
		`,"pricing":null`:   nil,
		`,"pricing":"free"`: nil,
		`,"pricing":[]`:     nil,
	} {
		l := newLine(t)
		l.outbound(l.account, "wamid.1")
		l.report(ourNumber, status("wamid.1", "delivered", more))
		if got := l.costs(); !slices.Equal(got, want) {
			t.Errorf("%s: %v", more, got)
		}
		l.is.Equal(l.kept(), nil)
	}
}

// TestAMonthTurnsInUTC: a message costs on the day on which it was delivered, whichever
// callback comes first.
func TestAMonthTurnsInUTC(t *testing.T) {
	turn := time.Date(2026, time.October, 31, 23, 59, 59, 0, time.UTC)
	for name, statuses := range map[string][]string{
		"in order":     {at("wamid.1", "sent", turn.Add(-time.Hour), marketing), at("wamid.1", "delivered", turn, ""), at("wamid.1", "read", turn.Add(time.Second), "")},
		"out of order": {at("wamid.1", "read", turn.Add(time.Second), marketing), at("wamid.1", "delivered", turn, ""), at("wamid.1", "sent", turn.Add(-time.Hour), "")},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.outbound(l.account, "wamid.1")
			for _, s := range statuses {
				l.report(ourNumber, s)
			}
			l.is.Equal(l.costs(), []string{"2026-10-31 marketing 155500 0: 1, 1 billable"})
		})
	}

	l := newLine(t)
	l.outbound(l.account, "wamid.1")
	l.report(ourNumber, at("wamid.1", "read", turn.Add(time.Second), marketing)) // which was not delivered before
	l.is.Equal(l.costs(), []string{"2026-11-01 marketing 155500 0: 1, 1 billable"})
}

// TestEachMessageCostsOnce lets callbacks with and without pricing come in any order, as often
// as they like, before and after the provider's id is known. The audit finds no contradiction
// between messages and counters.
func TestEachMessageCostsOnce(t *testing.T) {
	l := newLine(t)
	n, want := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		wamid := fmt.Sprint("wamid.", n)
		id := l.outbound(l.account, "")
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"sent", "delivered", "read", "failed", "warning"}), 1, 8).Draw(r, "statuses")
		settleAt := rapid.IntRange(0, len(names)).Draw(r, "known after")
		priced, delivered := false, false
		for i, name := range names {
			if i == settleAt {
				l.settle(id, wamid)
			}
			more := rapid.SampledFrom([]string{"", marketing, service}).Draw(r, "pricing")
			when := time.Unix(1750030073, 0).Add(time.Duration(rapid.IntRange(0, 5).Draw(r, "days")) * 24 * time.Hour)
			l.report(ourNumber, at(wamid, name, when, more))

			// Before the id is known, the first of each state waits for it.
			if i >= settleAt || !slices.Contains(names[:i], name) {
				priced = priced || more != ""
			}
			delivered = delivered || name == "delivered" || name == "read"
		}
		l.settle(id, wamid)
		if priced && delivered {
			want++
		}
		got := storagetest.Select[int](t, l.dir, `SELECT coalesce(sum(messages), 0) FROM message_costs`)[0]
		if got != want {
			r.Fatalf("%v: %d messages cost, not %d", names, got, want)
		}
	})
	findNothing(t, l.dir)
}

func findNothing(t *testing.T, dir string) {
	t.Helper()
	found, err := storageaudit.FindInMotion(dir)
	is := is.New(t)
	is.NoErr(err)
	for _, c := range found {
		if c.Rule == "count of what messages cost that is wrong" {
			t.Errorf("%+v", c)
		}
	}
}

func TestDeletingMessagesChangesNoCost(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	l.report(ourNumber, status("wamid.1", "delivered", marketing))
	before := l.costs()
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
		_, _, _, err := tx.DeleteMessages(l.account.ID, []storage.Row{{ID: id}}, nil)
		return err
	})
	l.is.Equal(l.count("messages"), 0)
	l.is.Equal(l.costs(), before)
}

// TestWhatIsUndoneCostsNothing: many callers share a transaction, and one that fails takes only
// its own counts along.
func TestWhatIsUndoneCostsNothing(t *testing.T) {
	l := newLine(t)
	id, other := l.outbound(l.account, "wamid.1"), l.outbound(l.account, "wamid.2")
	price := &storage.Pricing{Raw: storage.JSON(`{"billable":true}`), Category: "utility", Billable: true}
	mark := func(id string, end error) error {
		return l.server.DB.Update(t.Context(), func(tx *storage.Tx) error {
			m, err := tx.Message(l.account.ID, id)
			if err != nil {
				return err
			}
			if _, err := tx.MarkStatus(&m, "delivered", storage.Time(1750030073000), price); err != nil {
				return err
			}
			return end
		})
	}

	failed := errors.New("no")
	l.is.Equal(mark(id, failed), failed)
	l.is.NoErr(mark(other, nil))
	l.is.Equal(l.costs(), []string{"2025-06-15 utility 155500 0: 1, 1 billable"})
	findNothing(t, l.dir)
}
