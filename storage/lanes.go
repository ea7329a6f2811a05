package storage

import "sync"

// closedLanes are the lanes whose jobs wait until the lane is opened: those of
// subscriptions that are not active, and of broadcasts that are paused. They are kept in memory because every job
// that is enqueued or claimed asks. Changes happen on the writer, so that a job
// is admitted or held by the state that its own transaction sees.
//
// The process itself suspends others for a moment, of which the database knows nothing.
type closedLanes struct {
	mu        sync.RWMutex // guards all and suspended
	all       map[string]bool
	suspended map[string]bool
}

// LaneClosed reports whether the jobs of a lane must wait.
func (db *DB) LaneClosed(lane string) bool {
	db.closed.mu.RLock()
	defer db.closed.mu.RUnlock()
	return db.closed.all[lane] || db.closed.suspended[lane]
}

// SuspendLane makes the jobs of a lane wait that have not begun, until ContinueLane is called.
func (db *DB) SuspendLane(lane string) {
	db.closed.mu.Lock()
	defer db.closed.mu.Unlock()
	db.closed.suspended[lane] = true
}

// ContinueLane lets the jobs of a lane go that SuspendLane has made wait.
func (db *DB) ContinueLane(lane string) {
	db.closed.mu.Lock()
	delete(db.closed.suspended, lane)
	db.closed.mu.Unlock()

	if d := db.currentDispatcher(); d != nil {
		d.Look()
	}
}

// LoadClosedLanes finds the closed lanes anew: at the start, or as another process wrote.
func (tx *Tx) LoadClosedLanes() error {
	lanes, err := list[string](&tx.Rx, `
		SELECT ?1 || id FROM subscriptions WHERE status <> 'active'
		UNION ALL SELECT ?2 || number FROM broadcasts INDEXED BY broadcasts_unfinished
		WHERE status <> 'completed' AND status <> 'cancelled' AND status = 'paused'`, deliveryLanes, broadcastLanes)
	if err != nil {
		return err
	}

	all := make(map[string]bool, len(lanes))
	for _, lane := range lanes {
		all[lane] = true
	}

	tx.db.closed.mu.Lock()
	defer tx.db.closed.mu.Unlock()
	tx.db.closed.all = all
	return nil
}

func (tx *Tx) closeLane(lane string) {
	if tx.db.closed.set(lane, true) {
		tx.OnUndo(func() { tx.db.closed.set(lane, false) })
	}
}

// openLane lets the jobs of a lane go, those that wait first.
func (tx *Tx) openLane(lane string) {
	if !tx.db.closed.set(lane, false) {
		return
	}

	tx.OnUndo(func() { tx.db.closed.set(lane, true) })
	if d := tx.db.currentDispatcher(); d != nil {
		tx.AfterCommit(d.Look)
	}
}

// holdLane closes a lane until release is called, so that the jobs which are
// enqueued meanwhile wait and then go out one after the other, oldest first. A
// lane that is closed already stays so.
func (tx *Tx) holdLane(lane string) (release func()) {
	if tx.db.LaneClosed(lane) {
		return func() {}
	}
	tx.closeLane(lane)
	return func() { tx.openLane(lane) }
}

func (c *closedLanes) set(lane string, closed bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.all[lane] != closed
	if closed {
		c.all[lane] = true
	} else {
		delete(c.all, lane)
	}
	return changed
}
