package jobs_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// oddPeople are contacts with a label, of whom some cannot get a message.
func (w *world) oddPeople() (label string) {
	w.t.Helper()
	label, contacts := w.labeledPeople(12)
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		number, broken := "+1 555 000 1111", "Ana\nRuiz"
		for i, c := range contacts {
			switch i {
			case 0, 1, 2:
				c.Name = nil
			case 3:
				c.Name = &number
			case 4:
				c.Name = &broken
			}
			if err := tx.UpdateContact(&c); err != nil {
				return err
			}
		}
		return tx.MarkOptedOut(contacts[11].ID)
	})
	return label
}

// skippedIn counts why recipients of a broadcast were skipped.
func (w *world) skippedIn(b storage.Broadcast) map[string]int64 {
	skipped := make(map[string]int64)
	for _, r := range w.recipients(b) {
		if r.Status == storage.RecipientSkipped {
			skipped[*r.Reason]++
		}
	}
	return skipped
}

// A label once promised all who had it, and the run left out those without a name.
func TestAForecastIsWhatTheRunDoes(t *testing.T) {
	source := func(all []storage.BroadcastRecipient) jobs.RecipientSource {
		return func(limit int) ([]storage.BroadcastRecipient, error) {
			some := all[:min(limit, len(all))]
			all = all[len(some):]
			return some, nil
		}
	}
	lines := func() []storage.BroadcastRecipient {
		all := people(6)
		all[1].Fields = nil                                                // nobody knows the name
		all[2].SetFields(map[string]string{"name": " "}, []string{"name"}) // nor this one
		all[3].Skip(storage.SkippedPhoneNumber)
		return append(all, people(1)...) // there before
	}

	for name, run := range map[string]func(w *world) (promised jobs.Forecast, b storage.Broadcast){
		"label": func(w *world) (jobs.Forecast, storage.Broadcast) {
			label := w.oddPeople()
			b := w.draft(func(b *storage.Broadcast) { b.AudienceType, b.LabelID = storage.AudienceLabel, &label })
			promised, err := jobs.ForecastBroadcast(context.Background(), w.db, b, nil)
			w.is.NoErr(err)
			return promised, w.toLabel(label)
		},
		"lines": func(w *world) (jobs.Forecast, storage.Broadcast) {
			w.oddPeople()
			promised, err := jobs.ForecastBroadcast(context.Background(), w.db, w.draft(), source(lines()))
			w.is.NoErr(err)
			w.is.Equal(promised.Repeated, int64(1))
			return promised, w.broadcast(lines())
		},
	} {
		t.Run(name, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				w.start()
				promised, b := run(w)
				time.Sleep(10 * time.Second)
				b = w.now(b)
				w.is.Equal(b.Status, storage.BroadcastCompleted)
				w.is.Equal(promised.Total, b.Total)
				w.is.Equal(promised.WillSend(), b.Sent)
				w.is.True(maps.Equal(promised.Skipped, w.skippedIn(b)))
				w.is.True(len(promised.Skipped) > 1)
				w.is.Equal(len(promised.First), 3)
			})
		})
	}
}

// Whoever is told that a broadcast would be paused need not start it.
func TestAForecastSaysWhatPausesTheRun(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.setAccount("disconnected")
		promised, err := jobs.ForecastBroadcast(context.Background(), w.db, w.draft(), func(int) ([]storage.BroadcastRecipient, error) { return people(1), nil })
		w.is.NoErr(err)
		w.is.Equal(promised.PausedReason, "upstream_error")
	})
}
