package sqlite

import (
	"bufio"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// order gives times and ids that never go back, even if the clock does.
//
// Where the clock is behind what was given before, because it was ahead and was corrected, the
// order goes on from there at half the speed of time until the clock has caught up. So what
// happens one after the other keeps its order, and an hour that the clock was ahead is made up
// for after two.
type order struct {
	mu      sync.Mutex
	last    Time          // the latest that was given
	given   time.Time     // when that was, by a clock that cannot be set
	lead    time.Duration // how far last was ahead of the clock, at most
	entropy *ulid.MonotonicEntropy
}

func newOrder() *order { return &order{entropy: newEntropy()} }

func newEntropy() *ulid.MonotonicEntropy {
	return ulid.Monotonic(bufio.NewReaderSize(rand.Reader, 1024), 0)
}

// startAfter makes the order go on after a time that was given by another process.
func (o *order) startAfter(t Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.given = max(o.last, t+1), time.Now()
}

// now is the time in the order when the clock says another.
func (o *order) now(clock Time) Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.advance(clock)
}

// advance is now for callers that hold mu.
func (o *order) advance(clock Time) Time {
	if clock == o.last {
		return clock // as for most requests of a busy server
	}

	at := time.Now()
	half := Time(at.Sub(o.given).Milliseconds() / 2)
	switch {
	case clock > o.last:
		o.last, o.given = clock, at
	case half > 0:
		o.last, o.given = o.last+half, at
	}

	o.lead = max(o.lead, o.last.Sub(clock))
	return o.last
}

// id returns a ULID that carries exactly a time, greater than all that it has returned before
// as long as times do not go back.
func (o *order) id(t Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()

	for {
		id, err := o.newULID(t)
		if err == nil {
			return id.String()
		}
		o.entropy = newEntropy() // the millisecond is used up: begin again somewhere in it
	}
}

// next returns a ULID that is greater than all that it has returned before.
func (o *order) next(clock Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()

	for {
		id, err := o.newULID(o.advance(clock))
		if err == nil {
			return id.String()
		}
		o.last++ // the millisecond is used up: borrow the next one
	}
}

// newULID makes a ULID, unless its millisecond is used up: the only error there can be.
func (o *order) newULID(t Time) (ulid.ULID, error) {
	return ulid.New(min(uint64(max(t, 0)), ulid.MaxTime()), o.entropy)
}

// StartAfter makes all ids and the order of transactions go on after a time.
func (db *DB) StartAfter(t Time) {
	db.ids.startAfter(t)
	db.rows.startAfter(t)
}

// Lead is how far the order of transactions is ahead of the clock: 0 unless that was set back.
func (db *DB) Lead() time.Duration {
	clock := db.Now()
	return db.rows.now(clock).Sub(clock)
}

// MaxLead is how far ids were ahead of the clock at most, since the file was opened.
func (db *DB) MaxLead() time.Duration {
	db.ids.mu.Lock()
	defer db.ids.mu.Unlock()
	return db.ids.lead
}

// NewID makes a public id, greater than every id made before. Without a prefix it is a bare ULID.
func (db *DB) NewID(prefix string) string { return prefix + db.ids.next(db.Now()) }

// NewID makes a public id for a row of the transaction. It carries Order, as created_at does.
func (wx *Wx) NewID(prefix string) string { return prefix + wx.db.rows.id(wx.Order) }

// FirstID is where the ids with a prefix begin that carry a time or a later one.
func FirstID(prefix string, t Time) string {
	var id ulid.ULID
	if err := id.SetTime(uint64(max(t, 0))); err != nil {
		return prefix + "~" // later than any id can be
	}
	return prefix + id.String()
}

// IDTime is the time that an id with a prefix carries, 0 if it is not an id.
func IDTime(prefix, id string) Time {
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(id, prefix))
	if err != nil {
		return 0
	}
	return Time(parsed.Time())
}

// ValidID reports whether id is the prefix and 26 characters of Crockford's
// alphabet in upper case; ulid.Parse would take lower case as well.
func ValidID(prefix, id string) bool {
	bare, ok := strings.CutPrefix(id, prefix)
	return ok && len(bare) == ulid.EncodedSize && strings.Trim(bare, ulid.Encoding) == ""
}
