package rest

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"confab/storage"
)

func TestACursorComesBackOnlyToItsList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		codec := newCursorCodec(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		scope := rapid.String().Draw(t, "scope")
		after := storage.After{Key: storage.Time(rapid.Int64().Draw(t, "time")), ID: rapid.String().Draw(t, "id")}
		cursor := codec.Encode(scope, after)

		got, fits := codec.decode(scope, cursor)
		is.True(fits)
		is.Equal(got, after)

		_, fits = codec.decode(scope+rapid.StringN(1, -1, -1).Draw(t, "more"), cursor)
		is.True(!fits) // another list, organization or filter
		_, fits = newCursorCodec(bytes.Repeat([]byte{7}, 32)).decode(scope, cursor)
		is.True(!fits) // another server

		at := rapid.IntRange(0, len(cursor)-1).Draw(t, "at")
		other := rapid.Byte().Filter(func(b byte) bool { return b != cursor[at] }).Draw(t, "other")
		_, fits = codec.decode(scope, cursor[:at]+string([]byte{other})+cursor[at+1:])
		is.True(!fits) // any changed byte
		_, fits = codec.decode(scope, cursor[:at])
		is.True(!fits) // cut
		_, fits = codec.decode(scope, cursor[:at]+"\n"+cursor[at:])
		is.True(!fits) // with a line break, which base64 overlooks
	})
}

func TestACursorHasOneSpelling(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	codec := newCursorCodec(bytes.Repeat([]byte{1}, 32))
	for _, id := range []string{"", "a", "ab"} { // so that its last character has 0, 2 and 4 idle bits
		cursor := codec.Encode("labels", storage.After{Key: 1, ID: id})
		taken := 0
		for _, last := range alphabet {
			if _, fits := codec.decode("labels", cursor[:len(cursor)-1]+string(last)); fits {
				taken++
			}
		}
		is.New(t).Equal(taken, 1)
	}
}

// FuzzCursor looks for a text that is taken though encode did not make it.
func FuzzCursor(f *testing.F) {
	codec := newCursorCodec(bytes.Repeat([]byte{1}, 32))
	f.Add(codec.Encode("labels", storage.First))
	f.Add(codec.Encode("labels", storage.After{Key: math.MinInt64}))
	f.Add(codec.Encode("other", storage.After{Key: 1, ID: "lbl_1"}))
	f.Add("")
	f.Add("AQ")
	f.Add(strings.Repeat("A", 40))
	f.Fuzz(func(t *testing.T, text string) {
		if after, fits := codec.decode("labels", text); fits && codec.Encode("labels", after) != text {
			t.Errorf("%q is another spelling of the cursor of %v", text, after)
		}
	})
}
