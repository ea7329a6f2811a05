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

// newWamid makes up an id for a message that the business sent to a user, who has no number
// where a username hides it.
func newWamid(phone, bsuid string) string {
	return makeWamid(phone, bsuid, sentByBusiness, randomHex(9))
}

// newInboundWamid makes up an id for a message sent by a user.
func newInboundWamid(user *person) string {
	return makeWamid(user.Phone, user.BSUID, sentByUser, "3A"+randomHex(9))
}

func makeWamid(phone, bsuid string, sender byte, nonce string) string {
	party, kind := phone, wamidByPhone
	if phone == "" {
		party, kind = bsuid, wamidByUserID
	}

	b := append([]byte(wamidHead), byte(len(party)))
	b = append(append(b, party...), kind...)
	b = append(b, sender, wamidFieldStart, byte(len(nonce)))
	b = append(append(b, nonce...), 0)
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
