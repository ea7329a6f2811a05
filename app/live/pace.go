package live

import (
	"time"

	"confab/storage"
)

const (
	// hintInterval is the least time between two hints of a kind to an organization.
	hintInterval = 100 * time.Millisecond
	// maxHintInterval is the same while more than fewIDs of a kind change there in each
	// hintInterval: its consoles then read whole lists again, and not what was changed alone.
	maxHintInterval = 400 * time.Millisecond
	fewIDs          = 5
)

// pace is how often the viewers of an organization are notified, and what waits for that.
type pace struct {
	waiting  *batch // nil if nothing does
	interval time.Duration
	until    time.Time // nothing is sent before
}

// paces are those of the organizations where something was changed just now. They belong to
// Hub.Run.
type paces map[int64]*pace

func (all paces) add(organization int64, kind string, ids []string) {
	p := all[organization]
	if p == nil {
		p = &pace{interval: hintInterval}
		all[organization] = p
	}
	if p.waiting == nil {
		p.waiting = newBatch()
	}
	p.waiting.add(kind, ids)
}

// notifyDue notifies the viewers of the organizations whose time has come, and reports whether
// something is held back for others.
func (h *Hub) notifyDue(all paces, now time.Time) (isHeld bool) {
	for organization, p := range all {
		switch {
		case now.Before(p.until):
			isHeld = isHeld || p.waiting != nil
			continue
		case p.waiting == nil:
			delete(all, organization)
			continue
		}

		h.notify(organization, p.waiting)
		if p.waiting.most > fewIDs*int(p.interval/hintInterval) {
			p.interval = min(2*p.interval, maxHintInterval)
		} else {
			p.interval = hintInterval
		}
		p.waiting, p.until = nil, now.Add(p.interval)
	}
	return isHeld
}

// countOf is how many of a kind were changed; any are as many as can be listed.
func (s changeSet) countOf(kind string) int {
	if s[kind] == nil {
		return storage.MaxHintIDs
	}
	return len(s[kind])
}
