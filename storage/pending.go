package storage

import "confab/storage/sqlite"

// pending is what the closures of one transaction have counted, of which each count is
// written once for all of them, before the commit. Only the writer uses it.
type pending struct {
	usage usageCounts
	moved broadcastMoves
	hours hourCounts
	costs costCounts
}

func newPending() pending {
	return pending{usage: make(usageCounts), moved: make(broadcastMoves), hours: newHourCounts(), costs: make(costCounts)}
}

// clear forgets what a transaction before has counted.
func (p pending) clear() {
	clear(p.usage)
	clear(p.moved)
	p.hours.clear()
	clear(p.costs)
}

// write adds the counts to those that are stored.
func (p pending) write(wx *sqlite.Wx) error {
	if err := p.usage.write(wx); err != nil {
		return err
	}
	if err := p.moved.write(wx, wx.Order); err != nil {
		return err
	}
	if err := p.hours.write(wx); err != nil {
		return err
	}
	return p.costs.write(wx)
}
