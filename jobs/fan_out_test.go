package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// subscribeMore gives the organization further subscriptions, and returns them after the
// first.
func (w *delivering) subscribeMore(n int) (all []storage.Subscription) {
	w.t.Helper()
	w.change(func(tx *storage.Tx) error {
		all = []storage.Subscription{w.subscription}
		for i := range n {
			s := storage.Subscription{OrganizationID: w.tenant.Organization.ID, URL: fmt.Sprintf("https://h%d.test/in", i), Events: storage.Strings{"*"}, Status: storage.WebhookActive}
			if _, err := tx.InsertSubscription(&s); err != nil {
				return err
			}
			all = append(all, s)
		}
		return nil
	})
	return all
}

// had lists the events that were delivered to a subscription, in the order in which
// their deliveries were made.
func (w *delivering) had(s storage.Subscription) []string {
	w.t.Helper()
	return storagetest.Select[string](w.t, w.dir, `SELECT event_id FROM deliveries WHERE subscription_id = ? ORDER BY rowid`, s.ID)
}

// waiting counts the jobs of a kind.
func (w *delivering) waiting(kind string) int {
	w.t.Helper()
	return storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM jobs WHERE kind = ?`, kind)[0]
}

// emit stores events of a payload each without waiting for anything.
func (w *delivering) emit(payloads ...string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) (err error) {
		for _, payload := range payloads {
			err = errors.Join(err, tx.InsertEvent(storage.Event{
				ID: tx.NewID(storage.PrefixEvent), OrganizationID: w.tenant.Organization.ID, Type: "message.sent", Source: "svc", EventID: payload, Payload: []byte(payload),
			}, ""))
		}
		return err
	})
}

// fanOutArgs are the arguments of a job.
func fanOutArgs(j storage.Job) (args storage.FanOutArgs) {
	if err := json.Unmarshal(j.Args, &args); err != nil {
		panic(err)
	}
	return args
}

// With many subscriptions an event is stored with one job, however many there are, and
// everybody gets it all the same.
func TestAnEventForManyIsFannedOutByAJob(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.subscribeMore(31)
		w.stop()
		w.emit("few")
		w.is.Equal(w.waiting(storage.KindDeliver), 32) // made at once
		w.is.Equal(w.waiting(storage.KindFanOut), 0)

		all := w.subscribeMore(38)
		w.emit("many", "more")
		w.is.Equal(w.waiting(storage.KindDeliver), 32)
		w.is.Equal(w.waiting(storage.KindFanOut), 2)

		w.start()
		w.wait(time.Second)
		w.is.Equal(w.waiting(storage.KindFanOut), 0)
		w.is.Equal(w.had(all[0]), []string{"few", "many", "more"})
		for _, s := range all[1:] {
			w.is.Equal(w.had(s), []string{"many", "more"})
		}
		w.is.Equal(w.statuses()["succeeded"], 32+2*(32+38))
	})
}

// An event that only some want goes only to them, and one that none wants needs no job.
func TestFanningOutKeepsToTheFilters(t *testing.T) {
	deliveries(t, func(w *delivering) {
		all := w.subscribeMore(40)
		w.stop()
		w.change(func(tx *storage.Tx) (err error) {
			for i, s := range all {
				s.Events = storage.Strings{"contact.created"}
				if i == 7 {
					s.Events = storage.Strings{"message.sent"}
				}
				if i == 8 {
					s.Events, s.PhoneNumberIDs = storage.Strings{"*"}, storage.Strings{"999999", "100200300"}
				}
				err = errors.Join(err, tx.UpdateSubscription(&s))
			}
			return err
		})
		emit := func(kind, number string) {
			w.change(func(tx *storage.Tx) error {
				return tx.InsertEvent(storage.Event{
					ID: tx.NewID(storage.PrefixEvent), OrganizationID: w.tenant.Organization.ID, AccountID: &w.account.ID, Type: kind, Source: "svc", EventID: kind + number, Payload: []byte("{}"),
				}, number)
			})
		}
		emit("message.edited", "555555") // of a number that none chose
		w.is.Equal(w.waiting(storage.KindFanOut), 0)
		emit("message.sent", "555555")
		emit("message.edited", "100200300")
		w.start()
		w.wait(time.Second)
		w.is.Equal(w.had(all[7]), []string{"message.sent555555"})
		w.is.Equal(w.had(all[8]), []string{"message.edited100200300"})
		w.is.Equal(len(w.all()), 2)
	})
}

// While deliveries of earlier events are still to be made, later ones wait for them,
// even if the subscriptions became few meanwhile.
func TestLaterEventsStayBehindWhenSubscriptionsBecomeFew(t *testing.T) {
	deliveries(t, func(w *delivering) {
		all := w.subscribeMore(40)
		w.stop()
		w.emit("1", "2")
		w.change(func(tx *storage.Tx) (err error) {
			for _, s := range all[5:] {
				err = errors.Join(err, tx.DeleteSubscription(s.OrganizationID, s.ID))
			}
			return err
		})
		w.emit("3")
		w.is.Equal(w.had(all[0]), nil) // not before the others
		w.start()
		w.emit("4")
		w.wait(time.Second)
		for _, s := range all[:5] {
			w.is.Equal(w.had(s), []string{"1", "2", "3", "4"})
		}

		w.wait(time.Minute) // none waits any more
		w.stop()
		w.emit("5")
		w.is.Equal(w.waiting(storage.KindFanOut), 0)
		w.is.Equal(w.had(all[0]), []string{"1", "2", "3", "4", "5"})
	})
}

// A process that dies in the middle has made some deliveries; the next one makes the
// rest, each once, and no later event overtakes.
func TestFanningOutGoesOnAfterACrash(t *testing.T) {
	deliveries(t, func(w *delivering) {
		all := w.subscribeMore(250)
		w.stop()
		w.emit("1")

		// The first process makes a step, and dies with the lease.
		w.change(func(tx *storage.Tx) error {
			claimed, _, err := tx.ClaimDue(storage.KindFanOut, 1, time.Minute, func(string) bool { return true })
			if err != nil {
				return err
			}
			_, done, err := tx.FanOut(claimed[0], fanOutArgs(claimed[0]))
			w.is.True(!done)
			return err
		})
		made := len(w.all())
		w.is.True(made > 0 && made < 250)

		// Events that came while it was leased were held after it.
		w.emit("2", "3")
		storagetest.Exec(w.t, w.dir, `UPDATE jobs SET state = 'held' WHERE kind = ? AND state = 'due'`, storage.KindFanOut)

		w.start()
		w.emit("4")
		w.wait(time.Minute)
		for _, s := range all {
			w.is.Equal(w.had(s), []string{"1", "2", "3", "4"})
		}
		w.is.Equal(w.waiting(storage.KindFanOut), 0)
	})
}

// A worker whose lease was lost makes no deliveries beside the one that has it now.
func TestAFanOutWhoseLeaseIsLostWritesNothing(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.subscribeMore(40)
		w.stop()
		w.emit("1")
		var lost storage.Job
		w.change(func(tx *storage.Tx) error {
			claimed, _, err := tx.ClaimDue(storage.KindFanOut, 1, time.Minute, func(string) bool { return true })
			lost = claimed[0]
			return err
		})
		w.change(func(tx *storage.Tx) error {
			_, err := tx.FreeJob(storage.RunningJob{ID: lost.ID, Runs: lost.Runs}, 0, 0)
			return err
		})
		err := w.db.Update(context.Background(), func(tx *storage.Tx) error {
			_, _, err := tx.FanOut(lost, fanOutArgs(lost))
			return err
		})
		w.is.True(errors.Is(err, storage.ErrLeaseLost))
		w.is.Equal(len(w.all()), 0)
	})
}

// Events whose account is purged are not fanned out, and new subscriptions do not get
// old events.
func TestOnlyWhoWasThereGetsAnEvent(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.subscribeMore(40)
		w.stop()
		w.emit("old")
		w.wait(time.Second)
		late, _ := storagetest.Subscribe(w.t, w.db, w.tenant, "https://late.test/in")
		w.emit("new", "purged")
		storagetest.Exec(w.t, w.dir, `DELETE FROM events WHERE event_id = 'purged'`)
		w.start()
		w.wait(time.Second)
		w.is.Equal(w.had(late), []string{"new"})
		w.is.Equal(slices.Compact(w.had(w.subscription)), []string{"old", "new"})
		w.is.Equal(w.waiting(storage.KindFanOut), 0)
	})
}
