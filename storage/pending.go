package storage

import "confab/storage/sqlite"

// pending is what the closures of one transaction have counted. Only the writer uses it.
type pending struct {
	usage      *counts[usageKey, int64]
	moved      *counts[int64, broadcastMove]
	messages   *counts[messagesOf, MessageCounts]
	failures   *counts[failuresOf, int]
	deliveries *counts[deliveriesOf, endedCounts]
	costs      *counts[costsOf, costCount]
}

func newPending() pending {
	return pending{
		newCounts(storeUsage), newCounts(storeMove), newCounts(storeMessages), newCounts(storeFailures), newCounts(storeEnded),
		newCounts(storeCosts),
	}
}

func (p pending) all() []storedCounts {
	return []storedCounts{p.usage, p.moved, p.messages, p.failures, p.deliveries, p.costs}
}

func (p pending) clear() {
	for _, c := range p.all() {
		c.clear()
	}
}

func (p pending) write(wx *sqlite.Wx) error {
	for _, c := range p.all() {
		if err := c.write(wx); err != nil {
			return err
		}
	}
	return nil
}

type storedCounts interface {
	clear()
	write(wx *sqlite.Wx) error
}

// counts are by how much stored counts change in one transaction. Many callers share it, so that
// each is written once for all of them, before the commit.
type counts[K, N comparable] struct {
	changes map[K]N
	store   func(wx *sqlite.Wx, of K, change N) error
}

func newCounts[K, N comparable](store func(*sqlite.Wx, K, N) error) *counts[K, N] {
	return &counts[K, N]{make(map[K]N), store}
}

func (c *counts[K, N]) clear() { clear(c.changes) }

// set makes a change what it is with one more, until that is undone.
func (c *counts[K, N]) set(tx *Tx, of K, change N) {
	before := c.changes[of]
	c.changes[of] = change
	tx.OnUndo(func() { c.changes[of] = before })
}

func (c *counts[K, N]) write(wx *sqlite.Wx) error {
	for of := range c.changes {
		if err := c.writeOne(wx, of); err != nil {
			return err
		}
	}
	return nil
}

// writeOne writes a change, unless all of it was taken back.
func (c *counts[K, N]) writeOne(wx *sqlite.Wx, of K) error {
	var none N
	if c.changes[of] == none {
		return nil
	}
	return c.store(wx, of, c.changes[of])
}
