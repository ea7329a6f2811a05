package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storageaudit"
	"confab/storage/storagetest"
)

// labeledPeople stores a label and contacts that have it.
func (w *world) labeledPeople(n int) (label string, contacts []storage.Contact) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		l := storage.Label{OrganizationID: w.tenant.Organization.ID, TeamID: w.account.TeamID, Name: "VIP", Color: "red"}
		if err := tx.InsertLabel(&l); err != nil {
			return err
		}
		label, contacts = l.ID, nil
		for i := range n {
			phone, name := fmt.Sprintf("+1555%07d", i), fmt.Sprintf("P%d", i)
			c := storage.Contact{AccountID: w.account.ID, PhoneNumber: &phone, Name: &name}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
			if _, err := tx.SetContactLabel(c.ID, l.ID, true); err != nil {
				return err
			}
			contacts = append(contacts, c)
		}
		return nil
	})
	return label, contacts
}

// toLabel makes a broadcast to all who have a label.
func (w *world) toLabel(label string) (b storage.Broadcast) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		b = storage.Broadcast{
			AccountID: w.account.ID, Name: "Sale", Content: storage.JSON(saleContent), TemplateName: "sale", TemplateLanguage: "en_US",
			AudienceType: storage.AudienceLabel, LabelID: &label,
		}
		if err := tx.InsertBroadcast(&b); err != nil {
			return err
		}
		return jobs.PublishBroadcast(tx, &b)
	})
	return b
}

// Who was stored while the clock was ahead is in the audience, and who comes later is not.
func TestALabelsAudienceDoesNotDependOnTheClock(t *testing.T) {
	var clock storagetest.Clock
	bubbleWith(t, func(o *storage.Options) { o.Now = clock.Now }, func(w *world) {
		w.provider.answer = acceptedTo
		w.template("MARKETING")
		clock.Set(200 * 24 * time.Hour)
		label, _ := w.labeledPeople(30)
		clock.Set(0)
		b := w.toLabel(label)
		clock.Set(-time.Hour)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			phone := "+15559999999"
			c := storage.Contact{AccountID: w.account.ID, PhoneNumber: &phone}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
			_, err := tx.SetContactLabel(c.ID, label, true)
			return err
		})
		clock.Set(0)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 30, Sent: 30})
	})
}

// The audience of a label is read after the broadcast was made, and is as it was then.
func TestALabelsAudienceIsAsItStood(t *testing.T) {
	broadcasting(t, func(w *world) {
		label, contacts := w.labeledPeople(120)
		b := w.toLabel(label) // the runner has not started: nothing is read yet
		w.is.Equal(b.Status, storage.BroadcastPreparing)
		time.Sleep(time.Second)

		late := "+15559999999"
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			for _, c := range contacts[:30] { // who loses the label is in it
				if _, err := tx.SetContactLabel(c.ID, label, false); err != nil {
					return err
				}
			}
			if _, err := tx.SetContactLabel(contacts[0].ID, label, true); err != nil { // and again
				return err
			}
			c := storage.Contact{AccountID: w.account.ID, PhoneNumber: &late}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
			_, err := tx.SetContactLabel(c.ID, label, true) // who gets it is not
			return err
		})
		w.start()
		time.Sleep(20 * time.Second)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 120, Sent: 120})
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT 1 FROM broadcast_label_changes`)), 0)
	})
}

func TestACancelledAudienceFollowsItsLabelNoMore(t *testing.T) {
	broadcasting(t, func(w *world) {
		label, contacts := w.labeledPeople(3)
		b := w.move(w.toLabel(label), jobs.CancelBroadcast) // the runner has not started: nothing is read yet
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			_, err := tx.SetContactLabel(contacts[0].ID, label, false)
			return err
		})
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT 1 FROM broadcast_label_changes`)), 0)
		w.is.Equal(w.now(b).Status, storage.BroadcastCancelled)
	})
}

func TestALabelThatIsDeletedMeanwhileIsStillTheAudience(t *testing.T) {
	broadcasting(t, func(w *world) {
		label, _ := w.labeledPeople(50)
		b := w.toLabel(label)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.DeleteLabel(w.tenant.Organization.ID, label) })
		w.start()
		time.Sleep(20 * time.Second)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 50, Sent: 50})
	})
}

func TestADeletedContactIsBlankedInItsBroadcasts(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		sent := w.broadcast(people(2))
		time.Sleep(5 * time.Second)
		waiting := w.broadcast(people(2), func(b *storage.Broadcast) { b.ScheduledAt = w.db.Now().Add(time.Hour) })

		contact := *w.recipients(sent)[0].ContactID
		w.is.NoErr(jobs.DeleteContactMessages(context.Background(), w.db, w.account.ID, contact))
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return jobs.DeleteContact(tx, w.account.ID, contact) })

		r := w.recipients(sent)[0]
		w.is.True(r.PhoneNumber == nil && r.ContactID == nil)
		w.is.Equal(r.Status, storage.RecipientSent) // what became of it stays
		w.is.Equal(w.reasons(waiting), []string{"contact_deleted", ""})
		w.is.True(w.recipients(waiting)[0].PhoneNumber == nil)
		time.Sleep(2 * time.Hour)
		w.is.Equal(w.now(waiting).BroadcastCounts, storage.BroadcastCounts{Total: 2, Sent: 1, Skipped: 1})
	})
}

// Somebody who was never sent to is known in a broadcast by the number alone.
func TestADeletedContactIsBlankedWhereItWasSkipped(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		sent := w.broadcast(people(1))
		time.Sleep(5 * time.Second)
		nameless := people(1)
		nameless[0].Fields = nil
		unfilled := w.broadcast(nameless)
		cancelled := w.broadcast(people(1), func(b *storage.Broadcast) { b.ScheduledAt = w.db.Now().Add(time.Hour) })
		time.Sleep(5 * time.Second)
		w.move(cancelled, jobs.CancelBroadcast)

		contact := *w.recipients(sent)[0].ContactID
		w.is.NoErr(jobs.DeleteContactMessages(context.Background(), w.db, w.account.ID, contact))
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return jobs.DeleteContact(tx, w.account.ID, contact) })

		w.is.True(w.recipients(unfilled)[0].PhoneNumber == nil)
		w.is.Equal(w.reasons(unfilled), []string{"missing_parameter"}) // what became of it stays
		w.is.True(w.recipients(cancelled)[0].PhoneNumber == nil)
		w.is.Equal(w.reasons(cancelled), []string{"broadcast_cancelled"})
		w.is.Equal(w.now(cancelled).BroadcastCounts, storage.BroadcastCounts{Total: 1, Skipped: 1})
	})
}

func TestAMergedContactKeepsItsRecipients(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(2))
		time.Sleep(5 * time.Second)
		all := w.recipients(b)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			into, err := tx.Thread(w.account.ID, *all[0].ContactID)
			if err != nil {
				return err
			}
			from, err := tx.Thread(w.account.ID, *all[1].ContactID)
			if err != nil {
				return err
			}
			_, err = tx.MergeThreads(&into, from)
			return err
		})
		w.is.Equal(*w.recipients(b)[1].ContactID, *all[0].ContactID)
		w.report(*w.message(*all[1].MessageID).ProviderID, "delivered", *all[1].MessageID)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 2, Sent: 1, Delivered: 1})
	})
}

// What a crash leaves half made is deleted when nothing was added to it for a while.
func TestABroadcastThatWasHalfMadeIsDeleted(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.periodic = []string{"housekeeping"}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			b := storage.Broadcast{AccountID: w.account.ID, Name: "Half", Content: storage.JSON(saleContent), TemplateName: "sale", AudienceType: storage.AudienceRecipients}
			if err := tx.InsertBroadcast(&b); err != nil {
				return err
			}
			return tx.AddRecipients(b.Number, people(120))
		})
		w.start()
		time.Sleep(time.Minute)
		rows := func() int { return len(storagetest.Select[int](t, w.dir, `SELECT number FROM broadcast_recipients`)) }
		w.is.Equal(rows(), 120)
		time.Sleep(time.Hour)
		w.is.Equal(rows(), 0)
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT number FROM broadcasts`)), 0)
	})
}

// One that is taken back goes in steps. An audit in between finds no fault, and a request
// that goes on can neither add to it nor publish what is left.
func TestABroadcastThatIsTakenBackStaysSo(t *testing.T) {
	broadcasting(t, func(w *world) {
		b := storage.Broadcast{AccountID: w.account.ID, Name: "Half", Content: storage.JSON(saleContent), TemplateName: "sale", AudienceType: storage.AudienceRecipients}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			if err := tx.InsertBroadcast(&b); err != nil {
				return err
			}
			return tx.AddRecipients(b.Number, people(59))
		})
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			_, err := tx.DeleteUnpublishedBroadcast(b.Number, 50)
			return err
		})
		found, err := storageaudit.Find(w.dir)
		w.is.NoErr(err)
		w.is.Equal(len(found), 1) // by the real clock it is old
		w.is.Equal(found[0].Rule, "broadcast that was only half made, long ago")

		w.is.True(w.db.Update(t.Context(), func(tx *storage.Tx) error { return tx.AddRecipients(b.Number, people(1)) }) != nil)
		w.is.True(w.db.Update(t.Context(), func(tx *storage.Tx) error { return tx.PublishBroadcast(&b) }) != nil)
	})
}

// Whoever takes one back because of an error that came after its publication takes nothing from it.
func TestAPublishedBroadcastKeepsItsRecipients(t *testing.T) {
	broadcasting(t, func(w *world) {
		b := w.broadcast(people(5))
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			n, err := tx.DeleteUnpublishedBroadcast(b.Number, 50)
			w.is.Equal(n, int64(0))
			return err
		})
		w.is.Equal(len(w.recipients(b)), 5)
		w.is.Equal(w.now(b).CompletedAt, storage.Time(0))
	})
}

// later queues a text that is sent later.
func (w *world) later(after time.Duration) string {
	return w.queue("+15550001111", "text", `{"body":"later"}`, func(m *storage.Message) { m.ScheduledAt = w.db.Now().Add(after) })
}

func TestAMessageIsSentWhenItsTimeComes(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		id, now := w.later(24*time.Hour), w.text()
		time.Sleep(23 * time.Hour)
		w.is.Equal(w.message(id).Status, storage.MessageQueued)
		w.is.Equal(len(w.provider.calls()), 1)
		time.Sleep(2 * time.Hour)

		m := w.message(id)
		w.is.Equal(m.Status, storage.MessageSent)
		w.is.True(m.CreatedAt >= m.ScheduledAt) // it is as new as that,
		storagetest.View(t, w.db, func(rx *storage.Rx) error {
			c, err := rx.Conversation(w.account.ID, m.ConversationID)
			if err == nil && c.LastMessageAt < m.ScheduledAt {
				err = fmt.Errorf("the conversation's last message is of %s", c.LastMessageAt)
			}
			if err != nil {
				return err
			}
			list, _, err := rx.Messages(w.account.ID, storage.MessageFilter{ConversationID: m.ConversationID}, storage.First, 10)
			if err == nil && (len(list) != 2 || list[0].ID != id || list[1].ID != now) {
				err = fmt.Errorf("the list is %v", list) // and first in lists
			}
			last, err2 := rx.LastMessages(m.ConversationID)
			if err == nil && (err2 != nil || last[m.ConversationID].ID != id) {
				err = fmt.Errorf("the last is %v: %w", last, err2)
			}
			return err
		})
	})
}

func TestALaterSendIsCheckedAgain(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		id := w.later(time.Hour)
		storagetest.Exec(t, w.dir, `UPDATE organizations SET suspended_at = 1`)
		w.db.DropCaches()
		time.Sleep(2 * time.Hour)
		m := w.message(id)
		w.is.Equal(*m.ErrorCode, "organization_suspended")
		w.is.True(m.CreatedAt >= m.ScheduledAt) // its time has come all the same
		about, code := w.failure()
		w.is.Equal(about, id)
		w.is.Equal(code, -1)
		w.is.Equal(len(w.provider.calls()), 0)
	})
}

func TestACancelledMessageIsNotSent(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		id := w.later(time.Hour)
		m := w.message(id)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			cancelled, err := jobs.CancelMessage(tx, &m)
			if err == nil && !cancelled {
				err = fmt.Errorf("it was not cancelled")
			}
			return err
		})
		w.is.Equal(*w.message(id).ErrorCode, "message_cancelled")
		time.Sleep(2 * time.Hour)
		w.is.Equal(len(w.provider.calls()), 0)
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT id FROM jobs WHERE kind = 'send.later'`)), 0)
	})
}

// A message that is being handed to the provider cannot be cancelled, and one that is being
// cancelled is not handed over.
func TestAMessageIsEitherCancelledOrSent(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		id := w.later(time.Minute)
		w.is.True(w.handlers.Calls.Cancel(w.t.Context(), id))
		w.is.True(!w.handlers.Calls.Cancel(w.t.Context(), id))
		time.Sleep(2 * time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
		w.handlers.Calls.EndCancel(id) // it is to be sent after all
		time.Sleep(time.Minute)
		w.is.Equal(len(w.provider.calls()), 1)
	})
}

// A message whose turn comes after another server has taken over is left to that one.
func TestASupersededServerSendsNothing(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.options.Fence = func(context.Context) error { return fmt.Errorf("another server has taken over") }
		w.start()
		w.later(time.Minute)
		time.Sleep(2 * time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
	})
}

func TestARestoredDatabaseSendsNothingLateByItself(t *testing.T) {
	broadcasting(t, func(w *world) {
		overdue, future := w.later(time.Hour), w.later(100*time.Hour)
		b, cooling := w.broadcast(people(5)), w.broadcast(people(5))
		storagetest.Exec(t, w.dir, `UPDATE broadcasts SET status = 'paused', paused_reason = 'account_rate_limited' WHERE id = ?`, cooling.ID)
		time.Sleep(50 * time.Hour)
		w.is.NoErr(storage.HoldRestored(storage.DatabaseFile(w.dir)))
		w.is.Equal(*w.now(cooling).PausedReason, "restored") // it would go on by itself
		w.start()
		time.Sleep(time.Hour)
		w.is.Equal(*w.message(overdue).ErrorCode, "message_overdue")
		w.is.Equal(w.message(future).Status, storage.MessageQueued)
		w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
		w.is.Equal(*w.now(b).PausedReason, "restored")
		w.is.Equal(len(w.provider.calls()), 0)
		w.move(b, jobs.ResumeBroadcast)
		time.Sleep(100 * time.Hour)
		w.is.Equal(len(w.provider.calls()), 6)
	})
}

// Numbers that repeat are counted once.
func TestACopiedRecipientListIsCountedOnce(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	b := storage.Broadcast{AccountID: account.ID, Name: "Sale", Content: storage.JSON(saleContent), TemplateName: "sale", AudienceType: storage.AudienceRecipients}
	twice := append(people(300), people(300)...)
	next := func(limit int) ([]storage.BroadcastRecipient, error) {
		some := twice[:min(limit, len(twice))]
		twice = twice[len(some):]
		return some, nil
	}
	is.NoErr(jobs.StoreRecipients(context.Background(), db, &b, next))
	storagetest.View(t, db, func(rx *storage.Rx) (err error) { b, err = rx.BroadcastByNumber(b.Number); return err })
	is.Equal(b.Total, int64(300))
	is.Equal(b.Waiting, int64(300))
}

// If the recipients cannot all be stored, nothing is left of the broadcast.
func TestRecipientsThatCannotBeReadLeaveNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Acme"), "100200300")
	b := storage.Broadcast{AccountID: account.ID, Name: "Sale", Content: storage.JSON(saleContent), TemplateName: "sale", AudienceType: storage.AudienceRecipients}
	torn := fmt.Errorf("torn")
	calls := 0
	err := jobs.StoreRecipients(context.Background(), db, &b, func(limit int) ([]storage.BroadcastRecipient, error) {
		if calls++; calls > 3 {
			return nil, torn
		}
		return people(limit), nil
	})
	is.True(err != nil)
	is.Equal(len(storagetest.Select[int](t, dir, `SELECT number FROM broadcasts`)), 0)
	is.Equal(len(storagetest.Select[int](t, dir, `SELECT number FROM broadcast_recipients`)), 0)
}

// A broadcast whose next recipients are deleted while it is paused goes on with the others.
func TestABroadcastGoesOnAfterTheContactsOfItsMessagesWereDeleted(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.options.MessagesPerSecond = 1
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(300 * time.Millisecond)
		b = w.move(b, jobs.PauseBroadcast)
		time.Sleep(10 * time.Second)
		waiting := storagetest.Select[string](t, w.dir, `SELECT id FROM messages WHERE status = 'queued'`)
		w.is.Equal(len(waiting), 1) // a second's worth
		w.forget(w.message(waiting[0]))
		time.Sleep(time.Minute)
		w.move(b, jobs.ResumeBroadcast)
		time.Sleep(time.Hour)
		synctest.Wait()
		w.is.Equal(w.now(b).Status, storage.BroadcastCompleted)
	})
}
