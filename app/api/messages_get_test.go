package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// provider does to a stored message what the provider's answers do.
func (f *fixture) provider(a storage.Account, id string, fn func(tx *storage.Tx, m *storage.Message) error) {
	f.t.Helper()
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		m, err := tx.Message(a.ID, id)
		if err != nil {
			return err
		}
		return fn(tx, &m)
	})
}

func TestATagChangesWithWhatHappensToAMessage(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	id := f.call("POST", messages, sends["message_audio"]).text("data.id")
	path := messages + "/" + id
	code := 131026
	seen := make(map[string]bool)
	for _, step := range []struct {
		name, status string
		do           func(tx *storage.Tx, m *storage.Message) error
	}{
		{"queued", "queued", func(*storage.Tx, *storage.Message) error { return nil }},
		{"pending", "pending", func(tx *storage.Tx, m *storage.Message) error { return tx.MarkPending(*m) }},
		{"sent", "sent", func(tx *storage.Tx, m *storage.Message) error { _, err := tx.MarkSent(m, "wamid.x"); return err }},
		{"delivered", "delivered", status(storage.MessageDelivered)},
		{"played", "delivered", status(storage.StatusPlayed)},
		{"failed", "failed", func(tx *storage.Tx, m *storage.Message) error {
			return tx.MarkFailed(m, "undeliverable", "Message undeliverable", &code)
		}},
	} {
		f.provider(account, id, step.do)
		got := f.call("GET", path, "")
		is.Equal(got.get("data.status"), step.status)
		tag := got.header.Get("ETag")
		is.True(!seen[tag]) // a new one
		seen[tag] = true
		for _, header := range []string{tag, strings.TrimPrefix(tag, "W/"), `"x", ` + tag, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				same := f.call(method, path, "", "If-None-Match: "+header)
				is.Equal(same.status, 304)
				is.Equal(same.header.Get("ETag"), tag)
				is.Equal(same.body, "")
			}
		}
		is.Equal(f.call("GET", path, "", `If-None-Match: W/"other"`).status, 200)
		is.Equal(f.call("HEAD", path, "").header.Get("ETag"), tag)
		is.Equal(strings.Contains(got.body, `"error"`), step.status == "failed")
		is.Equal(strings.Contains(got.body, `"played_at"`), len(seen) >= 5) // once it was
	}
	other := f.call("POST", messages, hello).text("data.id")
	is.True(!seen[f.call("GET", messages+"/"+other, "").header.Get("ETag")])
}

func status(reported string) func(tx *storage.Tx, m *storage.Message) error {
	return func(tx *storage.Tx, m *storage.Message) error {
		_, err := tx.MarkStatus(m, reported, tx.Now, nil)
		return err
	}
}

func TestAMessageIsShownInEveryState(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	id := f.call("POST", messages, hello).text("data.id")
	path := messages + "/" + id
	f.provider(account, id, func(tx *storage.Tx, m *storage.Message) error { _, err := tx.MarkSent(m, "wamid.x"); return err })
	golden(t, "message_sent", f.call("GET", path, "").body)
	code := 131047
	f.provider(account, id, func(tx *storage.Tx, m *storage.Message) error {
		return tx.MarkFailed(m, "outside_24h_window", "Re-engagement message", &code)
	})
	golden(t, "message_failed", f.call("GET", path, "").body)
	golden(t, "message_list_page", f.call("GET", messages+"?limit=1", "").body)

	voice := f.call("POST", messages, sends["message_audio"]).text("data.id")
	f.provider(account, voice, status(storage.StatusPlayed))
	golden(t, "message_played", f.call("GET", messages+"/"+voice, "").body)

	refused := f.call("POST", messages, hello).text("data.id")
	f.provider(account, refused, func(tx *storage.Tx, m *storage.Message) error {
		return tx.MarkFailed(m, "customer_suspended", "The customer is suspended.", nil)
	})
	is.Equal(f.call("GET", messages+"/"+refused, "").get("data.error"),
		map[string]any{"code": "customer_suspended", "message": "The customer is suspended.", "provider_code": nil})
}

func TestAReceivedMessageGoesTheOtherWay(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	c := f.contact(account, "+15551234567")
	unsupported := received("wamid.2")
	unsupported.Type, unsupported.Content = "unsupported", storage.JSON(`{"type":"edit"}`)
	reaction := received("wamid.3")
	reaction.Type, reaction.Content = "reaction", storage.JSON(`{"message_id":"wamid.1","emoji":"👍"}`)
	all := f.say(c, received("wamid.1"), unsupported, reaction)
	got := f.call("GET", messages+"/"+all[0].ID, "")
	golden(t, "message_received", got.body)
	is.Equal(got.get("data.from"), "+15551234567")
	is.Equal(got.get("data.to"), *account.PhoneNumber)
	is.Equal(got.get("data.direction"), "inbound")
	is.Equal(got.get("data.unsupported"), nil)
	is.Equal(f.call("GET", messages+"/"+all[1].ID, "").get("data.unsupported"), map[string]any{"type": "edit"})
	is.Equal(f.call("GET", messages+"/"+all[2].ID, "").get("data.reaction.emoji"), "👍")
}

func TestAMalformedMessageIdIsMissing(t *testing.T) {
	f, _ := serveNumber(t)
	id := f.call("POST", messages, hello).text("data.id")
	for _, bad := range []string{"x", "msg_", strings.ToLower(id), id + "0", id[:len(id)-1], "ctc_" + id[4:], id[:29] + "U", f.db.NewID(storage.PrefixMessage), "%25"} {
		is := is.New(t)
		is.Equal(f.call("GET", messages+"/"+bad, "").code(), "404 resource_not_found")
		is.Equal(f.call("GET", messages+"/"+bad+"/media", "").code(), "404 resource_not_found")
	}
}

func TestMediaByLinkIsWhereTheLinkSays(t *testing.T) {
	f, account := serveNumber(t)
	f.template(account, storage.Template{Name: "hi", Category: "UTILITY", Components: storage.JSON(`[{"type":"BODY","text":"Hi {{1}}!"}]`)})
	linked := 0
	for name, body := range sends {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f := f.in(t)
			sent := f.call("POST", messages, body)
			is.Equal(sent.status, 200) // else there is nothing at its path anyway
			path := messages + "/" + sent.text("data.id") + "/media"
			_, rest, found := strings.Cut(body, `"link":"`)
			link, _, _ := strings.Cut(rest, `"`)
			if !found || strings.Contains(body, `"interactive"`) {
				is.Equal(f.call("GET", path, "").code(), "404 resource_not_found")
				return
			}
			linked++
			for _, method := range []string{"GET", "HEAD"} {
				got := f.call(method, path, "")
				is.Equal(got.status, 302)
				is.Equal(got.header.Get("Location"), link)
				is.Equal(got.body, "")
			}
		})
	}
	is := is.New(t)
	is.Equal(linked, 4) // an image, a document, a video and a sound
	sent := f.call("POST", messages, hello)
	is.Equal(sent.status, 200)
	is.Equal(f.call("GET", messages+"/"+sent.text("data.id")+"/media", "").code(), "404 resource_not_found")
}

func TestALinkInAHeaderIsASCII(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	is.Equal(f.call("POST", messages, message("image", `{"link":"https://example.com/ä b.png"}`)).code(), "400 invalid_field_value image.link") // for the space
	sent := f.call("POST", messages, message("image", `{"link":"https://example.com/ä.png?q=€&x=%20"}`))
	is.Equal(sent.get("data.media.url"), "https://example.com/ä.png?q=€&x=%20") // as it was given
	got := f.call("GET", messages+"/"+sent.text("data.id")+"/media", "")
	is.Equal(got.header.Get("Location"), "https://example.com/%C3%A4.png?q=%E2%82%AC&x=%20")
}

func TestAReadReceiptAnswersWithTheMessageThatWasRead(t *testing.T) {
	is := is.New(t)
	f, account := serveNumber(t)
	inbound := f.say(f.contact(account, "+15551234567"), received("wamid.1"))[0]
	f.change(f.tenant, func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive }) // which refuses sends only
	before := f.call("GET", messages+"/"+inbound.ID, "").header.Get("ETag")
	got := f.call("POST", messages, `{"status":"read","message_id":"wamid.1","typing_indicator":{"type":"text"}}`)
	is.Equal(got.get("data.id"), inbound.ID)
	is.Equal(got.get("data.status"), "read")
	is.Equal(f.effects(), "map[contacts:1 conversations:1 jobs:1 messages:1]")
	is.True(f.call("GET", messages+"/"+inbound.ID, "").header.Get("ETag") != before)

	sent := written("text", storage.MessageSent)
	id := "wamid.2"
	sent.ProviderID = &id
	f.say(f.contact(account, "+15557654321"), sent)
	is.Equal(f.call("POST", messages, `{"status":"read","message_id":"wamid.2"}`).code(), "404 resource_not_found") // our own
}
