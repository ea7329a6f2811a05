package callback

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"confab/jobs/messaging"
	"confab/storage"
)

// expected is the state that callbacks must lead to, in any order.
func expected(names []string) string {
	for _, s := range []string{"failed", "read", "delivered"} {
		if slices.Contains(names, s) {
			return s
		}
	}
	return storage.MessageSent
}

func distinct(names []string) (once []string) {
	for _, n := range names {
		if !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once
}

// TestAnyOrderOfCallbacksEndsInTheRightState lets callbacks come in any order, as
// often as they like, alone or in batches, before or after the provider's id is
// known, with our id or without.
func TestAnyOrderOfCallbacksEndsInTheRightState(t *testing.T) {
	l := newLine(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		wamid := fmt.Sprint("wamid.", n)
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"sent", "delivered", "read", "played", "failed"}), 1, 12).Draw(r, "statuses")
		settleAt := rapid.IntRange(0, len(names)).Draw(r, "known after")
		id := l.outbound(l.account, "")
		var batch []string
		last := storage.MessageQueued
		for i, name := range names {
			if i == settleAt {
				l.report(ourNumber, batch...)
				batch = nil
				l.settle(id, wamid)
			}
			more := ""
			if rapid.Bool().Draw(r, "tagged") {
				more = tagged(id)
			}
			batch = append(batch, status(wamid, name, more))
			if rapid.Bool().Draw(r, "flush") {
				l.report(ourNumber, batch...)
				batch = nil
				now := l.message(id).Status
				if storage.NextStatus(last, now) != now {
					r.Fatalf("%s went back to %s", last, now)
				}
				last = now
			}
		}
		l.report(ourNumber, batch...)
		l.settle(id, wamid)
		m := l.message(id)
		if want := expected(names); m.Status != want {
			r.Fatalf("%v ended as %s, not %s", names, m.Status, want)
		}
		if (m.PlayedAt != 0) != slices.Contains(names, "played") {
			r.Fatalf("%v: played at %v", names, m.PlayedAt)
		}
		reported, want := l.reported(wamid), distinct(names)
		slices.Sort(reported)
		slices.Sort(want)
		if !slices.Equal(reported, want) {
			r.Fatalf("%v were reported as %v", names, reported)
		}
		if sent := l.sentEvents(id); sent != 1 {
			r.Fatalf("message.sent was reported %d times", sent)
		}
	})
	l.is.Equal(l.parked(), 0)
}

// settle is the send's own commit.
func (l *line) settle(id, wamid string) {
	l.t.Helper()
	err := l.server.DB.Update(l.t.Context(), func(tx *storage.Tx) error {
		m, err := tx.Message(l.account.ID, id)
		if err != nil {
			return err
		}
		return l.server.Publisher.MarkAccepted(tx, l.account, m, wamid, messaging.Person{})
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) sentEvents(id string) (n int) {
	for _, e := range l.events() {
		if e.EventID == id+":sent" {
			n++
		}
	}
	return n
}

// TestStatusesThatWaitedTogetherAreToldInTheirOrder lets one callback bring all
// statuses of a message whose id is not known yet.
func TestStatusesThatWaitedTogetherAreToldInTheirOrder(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "")
	names := []string{"sent", "delivered", "read", "played"}
	var all []string
	for _, name := range names {
		all = append(all, status("wamid.1", name, ""))
	}
	l.report(ourNumber, all...)
	l.settle(id, "wamid.1")
	l.is.Equal(l.reported("wamid.1"), names)
}
