package app

import (
	"container/list"
	"sync"
)

// crowd bounds how many of something there are at once. If there are too many, the one
// that has been there longest is ended. Thus nobody is turned away: whoever asks for
// something that can be answered at once gets it, also while others only hold on.
type crowd struct {
	max int

	mu    sync.Mutex
	order *list.List // of members, the longest there first
	found map[any]*list.Element
}

// member is one of a crowd.
type member struct {
	key any
	end func()
}

func newCrowd(max int) *crowd {
	return &crowd{max: max, order: list.New(), found: make(map[any]*list.Element)}
}

// enter adds a member, or lets one that is there begin anew. It calls the end of the
// member that makes way, if one must.
func (c *crowd) enter(key any, end func()) {
	if longest, ok := c.add(member{key, end}); ok {
		longest.end()
	}
}

// leave removes a member, if it is there.
func (c *crowd) leave(key any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// add adds a member and returns the one that makes way.
func (c *crowd) add(m member) (longest member, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.remove(m.key)
	c.found[m.key] = c.order.PushBack(m)
	if c.order.Len() <= c.max {
		return member{}, false
	}

	longest = c.order.Front().Value.(member)
	c.remove(longest.key)
	return longest, true
}

// remove forgets a member. mu is held.
func (c *crowd) remove(key any) {
	if e := c.found[key]; e != nil {
		c.order.Remove(e)
		delete(c.found, key)
	}
}
