package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// incoming is a received message of any type.
func incoming(providerID, kind, content string, change ...func(*storage.Message)) storage.Message {
	m := received(providerID)
	m.Type, m.Content = kind, storage.JSON(content)
	for _, c := range change {
		c(&m)
	}
	return m
}

func TestReceivedMediaIsShownWithHowFarItIs(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	const content = `{"id":"77","mime_type":"image/jpeg","sha256":"x","caption":"Look"}`
	all := f.say(f.contact(account, "+15551234567"),
		incoming("wamid.1", "image", content, func(m *storage.Message) { m.MediaStatus = new(storage.MediaFetching) }),
		incoming("wamid.2", "image", content, func(m *storage.Message) { m.MediaStatus = new(storage.MediaFailed) }),
		incoming("wamid.3", "sticker", content, func(m *storage.Message) { m.MediaStatus = new(storage.MediaFetching) }),
		incoming("wamid.4", "image", `{"link":"https://evil.test/x"}`)) // a person's word is no link of ours
	for i, status := range []string{"fetching", "failed"} {
		got := f.call("GET", messages+"/"+all[i].ID, "")
		is.Equal(got.get("data.media.status"), status)
		is.Equal(got.get("data.media.url"), nil)
		is.Equal(got.get("data.image.caption"), "Look")
		is.Equal(f.call("GET", messages+"/"+all[i].ID+"/media", "").code(), "404 resource_not_found") // still in flight, or lost
	}
	is.Equal(f.call("GET", messages+"/"+all[3].ID, "").get("data.media"), nil)
	is.Equal(f.call("GET", messages+"/"+all[3].ID+"/media", "").code(), "404 resource_not_found")

	file := storage.Media{AccountID: account.ID, Origin: storage.OriginMessage, SHA256: "ab", MIMEType: "image/webp", Size: 7}
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		if err := tx.InsertMedia(&file); err != nil {
			return err
		}
		return tx.MarkMediaFetched(&all[2], file)
	})
	got := f.call("GET", messages+"/"+all[2].ID, "")
	is.Equal(got.get("data.media.status"), "ready")
	is.Equal(got.get("data.media.mime_type"), "image/webp")
	moved := f.call("GET", messages+"/"+all[2].ID+"/media", "")
	is.Equal(moved.status, 302)
	is.Equal(moved.header.Get("Location"), got.text("data.media.url"))
}

func TestATypeToComeNeverHidesAField(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	all := f.say(f.contact(account, "+15551234567"), incoming("wamid.1", "status", `{"a":1}`), incoming("wamid.2", "poll", `{"a":1}`), incoming("wamid.3", "hologram", `null`))
	is.Equal(f.call("GET", messages+"/"+all[0].ID, "").get("data.status"), "delivered")
	raw := func(id string) string { // openapi.json cannot list the types to come
		var view []byte
		storagetest.View(t, f.db, func(rx *storage.Rx) error {
			m, err := rx.Message(account.ID, id)
			view = f.api.viewMessage(m).AppendJSON(nil)
			return err
		})
		return string(view)
	}
	is.True(strings.HasSuffix(raw(all[1].ID), `,"poll":{"a":1}}`))
	is.True(strings.HasSuffix(raw(all[2].ID), `,"hologram":null}`))
}
