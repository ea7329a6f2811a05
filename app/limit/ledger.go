package limit

import (
	"container/list"
	"net/netip"
	"strconv"
	"time"
)

type hold struct {
	holder Holder
	weight int64
	since  time.Time
	end    func() // nil if it cannot be ended, or was
	// isEnded says that it was ended, and is still held.
	isEnded bool

	place      *list.Element // nil when it is not in the ledger
	group, own *tally
}

// tally is what a group or a member of it has.
type tally struct {
	weight int64
	holds  int
	group  *tally // of a member
}

// isLarger compares holds by what their groups have, and within a group by what their
// members have.
func (h *hold) isLarger(than *hold) bool {
	if h.group.weight != than.group.weight {
		return h.group.weight > than.group.weight
	}
	return h.group == than.group && h.own.weight > than.own.weight
}

// ledger counts what each holder has.
type ledger struct {
	order   list.List // of holds, the longest held first
	used    int64
	known   int64 // of what is used
	groups  map[Holder]*tally
	members map[Holder]*tally
}

func newLedger() ledger {
	return ledger{groups: make(map[Holder]*tally), members: make(map[Holder]*tally)}
}

func (l *ledger) insert(h *hold) {
	h.since, h.place = time.Now(), l.order.PushBack(h)
	l.attach(h)
}

func (l *ledger) remove(h *hold) {
	if h.place == nil {
		return
	}
	l.order.Remove(h.place)
	h.place = nil
	l.detach(h)
}

func (l *ledger) attach(h *hold) {
	h.own = l.memberOf(h.holder)
	h.group = h.own.group
	h.group.holds++
	h.own.holds++
	l.count(h, h.weight)
}

// memberOf is the tally of a holder. Every request asks several times, so that a member leads
// to its group.
func (l *ledger) memberOf(h Holder) *tally {
	own := l.members[h]
	if own != nil {
		return own
	}

	group := l.groups[h.whole()]
	if group == nil {
		group = new(tally)
		l.groups[h.whole()] = group
	}
	own = &tally{group: group}
	l.members[h] = own
	return own
}

func (l *ledger) detach(h *hold) {
	l.count(h, -h.weight)
	if h.group.holds--; h.group.holds == 0 {
		delete(l.groups, h.holder.whole())
	}
	if h.own.holds--; h.own.holds == 0 {
		delete(l.members, h.holder)
	}
}

// count adds to what the holder of a hold has.
func (l *ledger) count(h *hold, by int64) {
	h.group.weight += by
	h.own.weight += by
	l.used += by
	if h.holder.Known {
		l.known += by
	}
}

// largest finds what has been held longest by the largest member of the largest group, of
// the holds that may be ended; nil if none may.
func (l *ledger) largest(may func(*hold) bool) (found *hold) {
	for e := l.order.Front(); e != nil; e = e.Next() {
		h := e.Value.(*hold)
		if h.end != nil && may(h) && (found == nil || h.isLarger(found)) {
			found = h
		}
	}
	return found
}

// Holder is who holds something. Shares are those of a group, and within it of a member.
type Holder struct {
	Known  bool
	Group  string // an organization, or a network of strangers
	Member string // a person, or an address; "" for no one in particular
}

// Organization is somebody of an organization; person is "" for its keys.
func Organization(id int64, person string) Holder {
	return Holder{Known: true, Group: "organization " + strconv.FormatInt(id, 10), Member: person}
}

// Stranger is somebody at an address who has not shown who it is. Its group is the
// network that one subscriber or one site has: a /24 of IPv4, a /64 of IPv6. Text that is no
// address is a group of its own.
func Stranger(address string) Holder {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return Holder{Group: address}
	}

	bits := 64
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 24
	}
	return Holder{Group: netip.PrefixFrom(addr, bits).Masked().String(), Member: addr.String()}
}

// whole is the holder's group.
func (h Holder) whole() Holder { return Holder{Known: h.Known, Group: h.Group} }
