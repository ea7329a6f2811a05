package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestOnlyVoiceNotesArePlayed(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	for content, played := range map[string]bool{
		`{"link":"https://example.com/a.ogg","voice":true}`:  true,
		`{"link":"https://example.com/a.ogg","voice":false}`: false,
		`{"link":"https://example.com/a.mp3"}`:               false,
	} {
		id := f.call("POST", messages, message("audio", content)).text("data.id")
		f.provider(account, id, status(storage.StatusPlayed))
		is.Equal(strings.Contains(f.call("GET", messages+"/"+id, "").body, `"played_at"`), played)
	}
}
