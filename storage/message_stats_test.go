package storage_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// traffic is a number with messages in a bubble, whose clock the test moves.
type traffic struct {
	thread
	t  *testing.T
	is *is.I
	db *storage.DB
}

func newTraffic(t *testing.T) *traffic {
	t.Helper()
	db := storagetest.Open(t)
	return &traffic{newThread(t, db, "106540352242922", "+15551234567"), t, is.New(t), db}
}

func (f *traffic) update(fn func(tx *storage.Tx) error) { storagetest.Update(f.t, f.db, fn) }

// send stores messages that go out, and moves each through states.
func (f *traffic) send(n int, states ...string) {
	f.t.Helper()
	for range n {
		m := f.add(f.t, f.db)
		for _, status := range states {
			f.report(&m, status)
		}
	}
}

// report is what the provider's answer and callbacks do.
func (f *traffic) report(m *storage.Message, status string) {
	f.t.Helper()
	f.update(func(tx *storage.Tx) error {
		if status == storage.MessageSent && m.ProviderID == nil {
			_, err := tx.MarkSent(m, m.ID)
			return err
		}
		if _, err := tx.MarkStatus(m, status, tx.Now, nil); err != nil || status != storage.MessageFailed {
			return err
		}
		return tx.MarkFailed(m, "undeliverable", "no", new(131026))
	})
}

// receive stores messages that come in.
func (f *traffic) receive(n int) {
	f.t.Helper()
	for range n {
		m := storage.Message{AccountID: f.account.ID, ConversationID: f.conversation.ID, ContactID: f.contact.ID, Direction: storage.Inbound,
			Type: "text", Status: storage.MessageDelivered, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"x"}`)}
		f.update(func(tx *storage.Tx) error {
			if err := tx.InsertMessage(&m); err != nil {
				return err
			}
			return tx.MarkRead(&m, storage.UnreadCount{})
		})
	}
}

func (f *traffic) hours(from storage.Time, n int) []storage.MessageCounts {
	f.t.Helper()
	return view(f.t, f.db, func(rx *storage.Rx) ([]storage.MessageCounts, error) { return rx.MessageHours(f.account.ID, from, n) })
}

// counted is the stored counts, and what the messages themselves say.
func (f *traffic) counted() (stored, rows storage.MessageCounts) {
	f.t.Helper()
	var both []storage.MessageCounts
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		return rx.List(&both, `
			SELECT total(sent) AS sent, total(delivered) AS delivered, total(was_read) AS was_read, total(failed) AS failed, total(received) AS received
			FROM message_hours
			UNION ALL
			SELECT count(*) FILTER (WHERE direction = 'outbound' AND status IN ('sent', 'delivered', 'read')),
				count(*) FILTER (WHERE direction = 'outbound' AND status IN ('delivered', 'read')),
				count(*) FILTER (WHERE direction = 'outbound' AND status = 'read'),
				count(*) FILTER (WHERE direction = 'outbound' AND status = 'failed'),
				count(*) FILTER (WHERE direction = 'inbound')
			FROM messages`)
	})
	return both[0], both[1]
}

func TestMessagesAreCountedInTheHourInWhichTheyWereMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTraffic(t)
		from := storage.Now() // a whole hour: bubbles begin at midnight
		f.send(3)
		f.send(2, "sent")
		late := f.add(t, f.db)
		time.Sleep(time.Hour - time.Millisecond)
		f.send(4, "sent", "delivered")
		time.Sleep(time.Millisecond)
		f.send(1, "sent", "read")
		f.send(1, "failed")
		f.send(1, "sent", "failed")
		f.receive(3)
		f.report(&late, "sent")
		time.Sleep(time.Hour)
		f.receive(7)

		f.is.Equal(f.hours(from, 2), []storage.MessageCounts{
			{Sent: 7, Delivered: 4},
			{Sent: 1, Delivered: 1, Read: 1, Failed: 2, Received: 3},
		})
		f.is.Equal(f.hours(from.Add(-time.Hour), 1), []storage.MessageCounts{{}})
		stored, rows := f.counted()
		f.is.Equal(stored, rows)

		days := view(t, f.db, func(rx *storage.Rx) ([]storage.MessageCounts, error) {
			return rx.MessageDays(f.account.OrganizationID, from.Add(-24*time.Hour), 2)
		})
		f.is.Equal(days, []storage.MessageCounts{{}, rows})
		f.is.Equal(view(t, f.db, func(rx *storage.Rx) ([]storage.MessageCounts, error) {
			return rx.MessageDays(f.account.OrganizationID+1, from, 1)
		}), make([]storage.MessageCounts, 1))
	})
}

// No matter what the provider reports, in what order and how often, a message counts
// once, as what it is.
func TestAMessageIsCountedOnceWhateverIsReportedOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTraffic(t)
		states := []string{"sent", "delivered", "read", "failed", "played"}
		for code := range 5 * 5 * 5 {
			m := f.add(t, f.db)
			for n := code; n > 0; n /= 5 {
				f.report(&m, states[n%5])
			}
			stored, rows := f.counted()
			f.is.Equal(stored, rows)
		}
	})
}

func TestWhatIsUndoneIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTraffic(t)
		refused := errors.New("refused")
		for range 3 {
			m := f.add(t, f.db)
			done := make(chan error, 2)
			for _, end := range []error{refused, nil} { // both may be in one commit
				go func() {
					done <- f.db.Update(t.Context(), func(tx *storage.Tx) error {
						one := m
						if _, err := tx.MarkStatus(&one, "delivered", tx.Now, nil); err != nil {
							return err
						}
						return end
					})
				}()
			}
			<-done
			<-done
		}
		stored, rows := f.counted()
		f.is.Equal(stored, rows)
		f.is.Equal(rows.Delivered, 3)
	})
}

func TestFailuresAreCountedByTheirReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTraffic(t)
		code := int64(131026)
		f.send(9, "failed") // before
		time.Sleep(time.Hour)
		since := storage.Now()
		f.send(3, "sent", "failed", "failed")
		for _, reason := range []string{"auth_expired", "auth_expired", "timeout"} {
			m := f.add(t, f.db)
			f.update(func(tx *storage.Tx) error { return tx.MarkFailed(&m, reason, "no", nil) })
		}
		want := []storage.FailureCount{
			{Code: "undeliverable", ProviderCode: &code, Count: 3}, {Code: "auth_expired", Count: 2}, {Code: "timeout", Count: 1},
		}
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			got, err := rx.Failures(f.account.ID, since)
			f.is.Equal(got, want)
			if err == nil {
				got, err = rx.OrganizationFailures(f.account.OrganizationID, since)
				f.is.Equal(got, want)
			}
			return err
		})
	})
}

func TestOldCountsAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTraffic(t)
		s, _ := storagetest.Subscribe(t, f.db, storagetest.Tenant{Organization: storage.Organization{ID: f.account.OrganizationID}}, "https://hook.test")
		for range 3 {
			f.send(1, "failed")
			happen(t, f.db, f.account.OrganizationID, "message.sent", "")
			f.update(func(tx *storage.Tx) error { return tx.DisableSubscription(s.ID, storage.ReasonGone) })
			f.update(func(tx *storage.Tx) error { return tx.ResumeSubscription(s.ID) })
			time.Sleep(time.Hour)
		}
		before := storage.Now().Add(-90 * time.Minute)
		left := func(table string) int {
			return len(view(t, f.db, func(rx *storage.Rx) (all []int, err error) { return all, rx.List(&all, `SELECT 1 FROM `+table) }))
		}
		f.is.Equal([]int{left("message_hours"), left("message_failures"), left("delivery_hours")}, []int{3, 3, 3})
		var first, rest, deliveries int64
		f.update(func(tx *storage.Tx) (err error) { first, err = tx.DeleteOldMessageCounts(before, 3); return err })
		f.update(func(tx *storage.Tx) (err error) { rest, err = tx.DeleteOldMessageCounts(before, 3); return err })
		f.update(func(tx *storage.Tx) (err error) { deliveries, err = tx.DeleteOldDeliveryCounts(before, 3); return err })
		f.is.Equal([]int64{first, rest, deliveries}, []int64{3, 1, 1}) // the hour in which the time lies is not over
		f.is.Equal([]int{left("message_hours"), left("message_failures"), left("delivery_hours")}, []int{1, 1, 2})

		f.update(func(tx *storage.Tx) error { return tx.DeleteSubscription(f.account.OrganizationID, s.ID) })
		f.is.Equal(left("delivery_hours"), 0)
	})
}

// Counted rows are found by an index, from where it begins to where it ends.
func TestCountsSeekByTheirIndex(t *testing.T) {
	db := open(t, newFile(t))
	for name, c := range map[string]struct {
		run  func(rx *storage.Rx) error
		uses string
	}{
		"messages":   {func(rx *storage.Rx) error { _, err := rx.MessageHours(1, 0, 1); return err }, "message_hours USING PRIMARY KEY (account_id=? AND hour>? AND hour<?)"},
		"days":       {func(rx *storage.Rx) error { _, err := rx.MessageDays(1, 0, 1); return err }, "message_hours USING PRIMARY KEY (account_id=? AND hour>? AND hour<?)"},
		"failures":   {func(rx *storage.Rx) error { _, err := rx.Failures(1, 0); return err }, "message_failures USING PRIMARY KEY (account_id=? AND hour>?)"},
		"deliveries": {func(rx *storage.Rx) error { _, err := rx.DeliveryHours("wbs", 0, 1); return err }, "delivery_hours USING PRIMARY KEY (subscription_id=? AND hour>? AND hour<?)"},
		"hours":      {func(rx *storage.Rx) error { _, err := rx.DeliveryHours("wbs", 0, 1); return err }, "deliveries_of_subscription (subscription_id=? AND status=? AND created_at>? AND created_at<?)"},
		"usage":      {func(rx *storage.Rx) error { _, err := rx.StoredUsage(1, 0); return err }, "PRIMARY KEY (organization_id=? AND month=?)"},
		"accounts":   {func(rx *storage.Rx) error { _, err := rx.OrganizationFailures(1, 0); return err }, "accounts_of_organization (organization_id=?"},
	} {
		storagetest.View(t, db, func(rx *storage.Rx) error {
			plans, err := rx.Plans(func() error { return c.run(rx) })
			if text := strings.Join(slices.Collect(maps.Values(plans)), "\n"); !strings.Contains(text, c.uses) {
				t.Errorf("%s:\n%s", name, text)
			}
			return err
		})
	}
}

// An upgrade counts the existing rows.
func TestAnUpgradeCountsTheMessagesAndDeliveriesOfBefore(t *testing.T) {
	is := is.New(t)
	o := frozenFile(t, 8)
	alter(t, o.Path, `UPDATE messages SET created_at = (unixepoch() - 3600) * 1000`)
	upgrade(t, o)
	is.Equal(column(t, o.Path, `SELECT sent || ' ' || failed || ' ' || received FROM message_hours`), []string{"0 1 1"})
	is.Equal(column(t, o.Path, `SELECT error_code || ' ' || provider_code || ' ' || failures FROM message_failures`), []string{"provider_rejected 131026 1"})
	is.Equal(column(t, o.Path, `SELECT hour || ' ' || succeeded || ' ' || dead || ' ' || untried FROM delivery_hours`), []string{"1767322800000 0 1 0"})
}
