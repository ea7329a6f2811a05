package simulator

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMessageIDsHaveTheProvidersAnatomy(t *testing.T) {
	is := is.New(t)
	id := makeWamid("16505551234", "US.1", sentByBusiness, "0123456789ABCDEF01")
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(id, "wamid."))
	is.NoErr(err)
	want := "1c180b" + hex.EncodeToString([]byte("16505551234")) + "150200" + "11" + "1812" + hex.EncodeToString([]byte("0123456789ABCDEF01")) + "00"
	is.Equal(hex.EncodeToString(b), want)
	is.True(len(id) <= 128)

	in, err := parseWamid(newInboundWamid(&person{BSUID: "US.13491208655302741918"}))
	is.NoErr(err)
	is.Equal(in.sender, byte(sentByUser))
	is.Equal(in.phone, "")
	is.Equal(in.bsuid, "US.13491208655302741918")
	is.True(strings.HasPrefix(in.nonce, "3A"))
	for _, bad := range []string{"", "wamid.", "wamid.!!", "wamid.AAAA", "x", id[:len(id)-8], id + "AAAA"} {
		_, err := parseWamid(bad)
		is.True(err != nil) // bad
	}
}

func TestBSUIDsAreStableAndLookAtHome(t *testing.T) {
	is := is.New(t)
	is.Equal(bsuidFor("16505551234"), bsuidFor("16505551234"))
	is.True(bsuidFor("16505551234") != bsuidFor("16505551235"))
	for phone, country := range map[string]string{"16505551234": "US.", "4915112345678": "DE.", "97150123456": "AE.", "99912345678": "US."} {
		is.True(strings.HasPrefix(bsuidFor(phone), country))
		is.True(bsuidPattern.MatchString(bsuidFor(phone)))
	}
}

// wamid is what makeWamid puts into an id.
type wamid struct {
	phone, bsuid string
	sender       byte
	nonce        string
}

// parseWamid reads the parts of an id; it refuses any other format.
func parseWamid(id string) (wamid, error) {
	encoded, ok := strings.CutPrefix(id, wamidPrefix)
	if !ok {
		return wamid{}, fmt.Errorf("message id lacks the prefix %s", wamidPrefix)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return wamid{}, fmt.Errorf("message id: %w", err)
	}

	rest, ok := strings.CutPrefix(string(b), wamidHead)
	if !ok {
		return wamid{}, fmt.Errorf("message id has an unknown head")
	}
	party, rest, ok := cutField(rest)
	if !ok || len(rest) < 4 {
		return wamid{}, fmt.Errorf("message id is cut short")
	}

	m := wamid{sender: rest[3]}
	switch {
	case rest[:3] == wamidByPhone && party != "":
		m.phone = party
	case rest[:3] == wamidByUserID:
		m.bsuid = party
	default:
		return wamid{}, fmt.Errorf("message id has an unknown kind")
	}

	if m.sender != sentByBusiness && m.sender != sentByUser || len(rest) < 5 || rest[4] != wamidFieldStart {
		return wamid{}, fmt.Errorf("message id has an unknown sender")
	}
	if m.nonce, rest, ok = cutField(rest[5:]); !ok || rest != "\x00" {
		return wamid{}, fmt.Errorf("message id is cut short")
	}
	return m, nil
}

// cutField cuts a field that begins with its length.
func cutField(s string) (field, rest string, ok bool) {
	if s == "" || len(s) < 1+int(s[0]) {
		return "", "", false
	}
	n := 1 + int(s[0])
	return s[1:n], s[n:], true
}
