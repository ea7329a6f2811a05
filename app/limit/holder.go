package limit

import (
	"net/netip"
	"strconv"
)

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
	network, err := addr.Prefix(bits)
	if err != nil {
		return Holder{Group: address}
	}
	return Holder{Group: network.String(), Member: addr.String()}
}

// whole is the holder's group.
func (h Holder) whole() Holder { return Holder{Known: h.Known, Group: h.Group} }
