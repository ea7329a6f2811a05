package simulator

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestMessageIDsHaveTheProvidersAnatomy(t *testing.T) {
	is := is.New(t)
	id := wamid{Party: "16505551234", Nonce: "0123456789ABCDEF01"}.String()
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(id, "wamid."))
	is.NoErr(err)
	want := "1c180b" + hex.EncodeToString([]byte("16505551234")) + "150200" + "11" + "1812" + hex.EncodeToString([]byte("0123456789ABCDEF01")) + "00"
	is.Equal(hex.EncodeToString(b), want)
	is.True(len(id) <= 128)

	in, err := parseWamid(newInboundWamid("US.13491208655302741918", true))
	is.NoErr(err)
	is.True(in.FromUser && in.ByUserID)
	is.Equal(in.Party, "US.13491208655302741918")
	is.True(strings.HasPrefix(in.Nonce, "3A"))
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
