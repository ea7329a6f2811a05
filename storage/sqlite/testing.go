package sqlite

import "time"

// Settings and state for tests of a database's owner. Nothing else uses them.

// Observe hands each statement that the connection runs to fn, a quick one; nil ends that.
func (rx *Rx) Observe(fn func(query string)) { rx.s.observe = fn }

// Raw hands the driver's own connection to fn.
func (rx *Rx) Raw(fn func(driver any) error) error { return rx.s.raw(fn) }

// SetScanTime sets how long a list with filters looks for its page.
func (db *DB) SetScanTime(d time.Duration) { db.scanTime = d }

// SetTurnTime sets how long a search reads before it offers its connection.
func (db *DB) SetTurnTime(d time.Duration) { db.turnTime = d }

// SearchesWaiting is how many searches of an organization wait.
func (db *DB) SearchesWaiting(organization int64) int {
	db.searches.mu.Lock()
	defer db.searches.mu.Unlock()
	if q := db.searches.queues[organization]; q != nil {
		return len(q.waiters)
	}
	return 0
}
