package jobs_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// cancel takes the only job of a kind out of the queue, as an operator does.
func (w *world) cancel(kind string) {
	w.t.Helper()
	var all []storage.Job
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		all, err = rx.Jobs(storage.JobFilter{Kind: kind, Limit: 10})
		return err
	})
	w.is.Equal(len(all), 1)
	workers := jobs.New(jobs.Options{DB: w.db})
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return workers.Cancel(tx, all[0].ID) })
	err := w.db.Update(w.t.Context(), func(tx *storage.Tx) error { return workers.Cancel(tx, all[0].ID) })
	w.is.True(errors.Is(err, storage.ErrNotFound)) // it is gone
}

func TestACancelledSendEndsItsMessage(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = busy
		id := w.text()
		w.start()
		time.Sleep(time.Second)
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessagePending)
		w.cancel("send")
		m := w.message(id)
		w.is.Equal(m.Status, storage.MessageFailed)
		w.is.Equal(*m.ErrorCode, "upstream_error")
		event, code := w.failure()
		w.is.Equal(event, id)
		w.is.Equal(code, -1)
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 1)
	})
}

func TestACancelledImportHasFailed(t *testing.T) {
	bubble(t, func(w *world) {
		i := storage.ContactImport{AccountID: w.account.ID, Status: storage.ImportRunning, Line: 1, Errors: storage.JSON(`[]`)}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			if err := tx.InsertContactImport(&i); err != nil {
				return err
			}
			return jobs.EnqueueContactImport(tx, i)
		})
		w.cancel("contacts.import")
		storagetest.View(t, w.db, func(rx *storage.Rx) (err error) {
			i, err = rx.ContactImport(w.account.ID, i.ID)
			return err
		})
		w.is.Equal(i.Status, storage.ImportFailed)
		w.is.True(strings.Contains(string(i.Errors), "The import stopped."))
	})
}

func TestACancelledDeliveryIsDead(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.endpoint.answer = always(500)
		w.happen("a")
		w.is.Equal(w.one().Status, storage.DeliveryFailed)
		w.cancel(storage.KindDeliver)
		d := w.one()
		w.is.Equal(d.Status, storage.DeliveryDead)
		w.is.Equal(d.NextAttemptAt, storage.Time(0))
		w.is.Equal(*d.ErrorMessage, "its job was cancelled")
		w.wait(48 * time.Hour)
		w.is.Equal(w.one().AttemptCount, 1)
	})
}

func TestACancelledFetchTellsOfTheMessageWithoutItsFile(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = busy
		w.photo("wamid.1", "image", "")
		w.start()
		time.Sleep(time.Second)
		synctest.Wait()
		before := len(w.stored())
		w.cancel("media.fetch")
		told := w.stored()
		w.is.Equal(len(told), before+1)
		w.is.Equal(told[before].Type, "message.received")
		svc := w.svc(told[before].Payload)
		w.is.Equal(svc.MediaURL, nil)
		w.is.Equal(svc.MediaStatus, nil)
	})
}

func TestACancelledJobThatNobodyWaitsForIsJustGone(t *testing.T) {
	bubble(t, func(w *world) {
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueAccountRemoval(tx, w.account) })
		w.cancel("account.purge")
		w.is.Equal(w.jobs(), 0)
		w.is.Equal(len(w.stored()), 0)
	})
}
