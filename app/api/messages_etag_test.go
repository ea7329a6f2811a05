package api

import (
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

func TestATagChangesWithWhatAMessageShows(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	file := storage.Media{AccountID: account.ID, Origin: storage.OriginMessage, SHA256: "ab", MIMEType: "image/webp", Size: 7}
	m := f.say(f.contact(account, "+15551234567"), incoming("wamid.1", "image", `{"caption":"Look"}`,
		func(m *storage.Message) { m.MediaStatus = new(storage.MediaFetching) }))[0]
	edit := func(body string) func(*storage.Tx, *storage.Message) error {
		return func(tx *storage.Tx, m *storage.Message) error {
			m.Body, m.Content = &body, storage.JSON(`{"caption":"`+body+`"}`)
			return tx.EditMessage(m, storage.MessageEdit{Version: 1, EditedAt: tx.Now, Content: m.Content, ProviderID: "wamid.edit." + body})
		}
	}
	seen := make(map[string]bool)
	for _, step := range []func(tx *storage.Tx, m *storage.Message) error{
		func(*storage.Tx, *storage.Message) error { return nil },
		func(tx *storage.Tx, m *storage.Message) error {
			if err := tx.InsertMedia(&file); err != nil {
				return err
			}
			return tx.MarkMediaFetched(m, file)
		},
		edit("Here"),
		func(tx *storage.Tx, m *storage.Message) error { _, err := tx.MarkRevoked(m); return err },
	} {
		f.provider(account, m.ID, step)
		tag := f.call("GET", messages+"/"+m.ID, "").header.Get("ETag")
		is.True(!seen[tag]) // a new one
		seen[tag] = true
		is.Equal(f.call("GET", messages+"/"+m.ID, "", "If-None-Match: "+tag).status, 304)
	}
}
