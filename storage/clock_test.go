package storage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// look is one look at a clock: how far it is off the right time, how much time has
// passed since the look before, and whether a new process looks.
type look struct {
	off     time.Duration
	after   time.Duration
	restart bool
	ahead   bool // what it must find
}

func TestClocksThatAreBelieved(t *testing.T) {
	const day = 24 * time.Hour
	for name, looks := range map[string][]look{
		"a right one":                       {{}, {after: time.Hour}, {after: 20 * day}},
		"one that drifts":                   {{}, {off: time.Hour, after: day}, {off: 2 * time.Hour, after: day}},
		"one that is off for a night":       {{}, {after: 16 * time.Hour, restart: true}},
		"one that was behind":               {{off: -200 * day}, {after: time.Hour, ahead: true}, {after: day}},
		"one that steps back":               {{}, {off: -200 * day, after: time.Hour}, {after: time.Hour}},
		"one that leaps":                    {{}, {off: 200 * day, after: time.Hour, ahead: true}, {off: 200 * day, after: time.Hour, ahead: true}},
		"one that is corrected":             {{}, {off: 200 * day, after: 20 * time.Hour, ahead: true}, {after: 20 * time.Hour}, {after: time.Hour}},
		"one that leaps in a new process":   {{}, {off: 200 * day, after: time.Hour, restart: true, ahead: true}},
		"off for long":                      {{}, {after: 200 * day, restart: true, ahead: true}, {after: 23 * time.Hour, ahead: true}, {after: time.Hour}},
		"off for long, with restarts":       {{}, {after: 9 * day, restart: true, ahead: true}, {after: 23 * time.Hour, ahead: true}, {after: day, restart: true, ahead: true}, {after: time.Hour}},
		"off for long, and then again":      {{}, {after: 9 * day, restart: true, ahead: true}, {after: 23 * time.Hour, ahead: true}, {after: 9 * day, restart: true, ahead: true}, {after: time.Hour, ahead: true}, {after: 23 * time.Hour}},
		"leaps on trial":                    {{}, {after: 9 * day, restart: true, ahead: true}, {after: 23 * time.Hour, ahead: true}, {off: 200 * day, after: time.Hour, ahead: true}, {off: 200 * day, after: time.Hour, ahead: true}},
		"behind for long, and corrected":    {{}, {off: -200 * day, after: time.Hour}, {off: -200 * day, after: day}, {after: time.Hour, ahead: true}, {after: day}},
		"ahead for a day, and corrected":    {{}, {off: 200 * day, after: time.Hour, ahead: true}, {off: 200 * day, after: day}, {after: time.Hour}, {after: day}, {off: 200 * day, after: time.Hour, ahead: true}},
		"the same wrong one at each start":  {{}, {off: 9 * day, after: time.Hour, restart: true, ahead: true}, {after: time.Minute}, {off: 9 * day, after: time.Hour, restart: true, ahead: true}, {after: time.Minute}, {off: 9 * day, after: time.Hour, restart: true, ahead: true}},
		"a machine that runs for the week":  {{}, {after: 63 * time.Hour, restart: true, ahead: true}, {after: 9 * time.Hour, ahead: true}, {after: 15 * time.Hour, restart: true, ahead: true}, {after: 9 * time.Hour, ahead: true}, {after: 15 * time.Hour, restart: true, ahead: true}, {after: 9 * time.Hour}},
		"a machine that sleeps for a month": {{}, {off: 30 * day, ahead: true}, {off: 30 * day, after: day}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				var clock storagetest.Clock
				o := newFile(t)
				o.Now = clock.Now
				db := open(t, o)
				for i, l := range looks {
					time.Sleep(l.after)
					clock.Set(l.off)
					elapsed := l.after
					if l.restart || i == 0 {
						elapsed = 0
					}
					var told storage.Clock
					storagetest.View(t, db, func(rx *storage.Rx) (err error) { told, err = rx.Clock(); return err })
					c := update(t, db, func(tx *storage.Tx) (storage.Clock, error) { return tx.LookAtClock(elapsed) })
					if (c.Ahead() > 0) != l.ahead {
						t.Errorf("look %d: %+v is ahead by %s", i, c, c.Ahead())
					}
					if elapsed == 0 {
						is.Equal(told, c) // a caller that only looks gets the same
					}
				}
			})
		})
	}
}

// A file without a record of the clock shows by its rows when it was right.
func TestTheNewestRowStandsInForTheClock(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		ahead bool
	}{
		"young":           {time.Hour, false},
		"old":             {200 * 24 * time.Hour, true},
		"from the future": {-200 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db := open(t, newFile(t))
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				return tx.InsertAPICalls([]storage.APICall{{Method: "GET", Path: "/v1/me", Status: 200, RequestID: "r", CreatedAt: tx.Now.Add(-c.age)}})
			})
			first := update(t, db, func(tx *storage.Tx) (storage.Clock, error) { return tx.LookAtClock(0) })
			is.Equal(first.Ahead() > 0, c.ahead)
			storagetest.Update(t, db, (*storage.Tx).ConfirmClock)
			second := update(t, db, func(tx *storage.Tx) (storage.Clock, error) { return tx.LookAtClock(time.Minute) })
			is.Equal(second.Ahead(), time.Duration(0))
		})
	}
}

func TestSecretsOutliveAClockThatIsAhead(t *testing.T) {
	is := is.New(t)
	var clock storagetest.Clock
	o := newFile(t)
	o.Now = clock.Now
	db := open(t, o)
	s, _ := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Umbrella"), "https://x.test")
	mint := func() error {
		return db.Update(t.Context(), func(tx *storage.Tx) error {
			_, _, err := tx.InsertSecret(s.ID, "", time.Hour)
			return err
		})
	}
	secrets := func() (n int) {
		storagetest.View(t, db, func(rx *storage.Rx) error { all, err := rx.Secrets(s.ID); n = len(all); return err })
		return n
	}
	update(t, db, func(tx *storage.Tx) (storage.Clock, error) { return tx.LookAtClock(0) })
	is.NoErr(mint())
	clock.Set(200 * 24 * time.Hour)
	is.NoErr(mint())
	is.Equal(secrets(), 3) // the first one, one that seems to have expired long ago, and the new one
	storagetest.Update(t, db, (*storage.Tx).ConfirmClock)
	is.NoErr(mint())
	is.Equal(secrets(), 3)
}

func TestFailuresOfTheFutureBeginNow(t *testing.T) {
	is := is.New(t)
	var clock storagetest.Clock
	o := newFile(t)
	o.Now = clock.Now
	db := open(t, o)
	s, _ := storagetest.Subscribe(t, db, storagetest.Seed(t, db, "Umbrella"), "https://x.test")
	count := func() (since storage.Time) {
		storagetest.Update(t, db, func(tx *storage.Tx) (err error) { _, since, err = tx.CountFailure(s.ID); return err })
		return since
	}
	clock.Set(200 * 24 * time.Hour)
	future := count()
	clock.Set(0)
	first := count()
	is.True(first < future) // or the endpoint would not be disabled for 200 days
	is.Equal(count(), first)
}

// TestAMovedClockIsBelievedAndKept: the offset is in the database, for the next process too.
func TestAMovedClockIsBelievedAndKept(t *testing.T) {
	is := is.New(t)
	clock := &storage.MovableClock{}
	o := storagetest.Options(t, t.TempDir())
	o.Now = clock.Now
	db := storagetest.OpenWith(t, o)

	for _, by := range []time.Duration{200 * 24 * time.Hour, 90 * time.Minute} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			tx.AfterCommit(func() { clock.Advance(by) })
			return tx.MoveClock(by)
		})
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			c, err := tx.LookAtClock(0)
			is.Equal(c.Ahead(), time.Duration(0))
			return err
		})
	}

	again := &storage.MovableClock{}
	is.NoErr(again.Restore(t.Context(), db))
	is.Equal(again.Offset(), clock.Offset())
	is.Equal(again.Offset(), 200*24*time.Hour+90*time.Minute)
	is.Equal((*storage.MovableClock)(nil).Offset(), time.Duration(0))
}
