package simulator

import (
	"encoding/base64"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A message id is "wamid." and the base64 of a small record: who the other
// party is, who sent it, and a random hexadecimal id.
const (
	wamidPrefix     = "wamid."
	wamidHead       = "\x1c\x18"
	wamidByPhone    = "\x15\x02\x00"
	wamidByUserID   = "\x15\x14\x00"
	sentByBusiness  = 0x11
	sentByUser      = 0x12
	wamidFieldStart = 0x18
)

// wamid holds the parts of a message id.
type wamid struct {
	Party    string // phone digits or BSUID of the user
	ByUserID bool
	FromUser bool
	Nonce    string
}

// newWamid makes up an id for a message sent by the business.
func newWamid(party string, byUserID bool) string {
	return wamid{Party: party, ByUserID: byUserID, Nonce: randomHex(9)}.String()
}

// newInboundWamid makes up an id for a message sent by a user.
func newInboundWamid(party string, byUserID bool) string {
	return wamid{Party: party, ByUserID: byUserID, FromUser: true, Nonce: "3A" + randomHex(9)}.String()
}

func (m wamid) String() string {
	kind, sender := wamidByPhone, byte(sentByBusiness)
	if m.ByUserID {
		kind = wamidByUserID
	}
	if m.FromUser {
		sender = sentByUser
	}

	b := make([]byte, 0, 64)
	b = append(b, wamidHead...)
	b = append(b, byte(len(m.Party)))
	b = append(b, m.Party...)
	b = append(b, kind...)
	b = append(b, sender, wamidFieldStart, byte(len(m.Nonce)))
	b = append(b, m.Nonce...)
	b = append(b, 0)

	return wamidPrefix + base64.StdEncoding.EncodeToString(b)
}

// randomHex makes n random bytes in upper-case hexadecimal.
func randomHex(n int) string { return strings.ToUpper(newSecret(n)) }

// randomDigits makes a number of n digits that does not begin with 0.
func randomDigits(n int) string {
	low := uint64(1)
	for range n - 1 {
		low *= 10
	}
	return strconv.FormatUint(low+rand.Uint64N(9*low), 10)
}
