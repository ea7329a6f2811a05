package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// play calls the simulator's control surface and returns the id in its answer.
func (s *stage) play(method, path, body string) string {
	s.t.Helper()
	req, err := http.NewRequest(method, s.simURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, text, err)
	}
	var out struct{ ID string }
	json.Unmarshal(text, &out) // not every answer has one
	return out.ID
}

// awaitEvent waits for an event of a type that a test picks.
func (s *stage) awaitEvent(kind string, wanted func(storage.Event) bool) storage.Event {
	s.t.Helper()
	var found storage.Event
	came := until(func() bool {
		var events []storage.Event
		storagetest.View(s.t, s.app.DB, func(rx *storage.Rx) error { // the index has the type: most events are statuses
			return rx.List(&events, `SELECT id, type, source, event_id, payload, created_at FROM events INDEXED BY events_of_organization
				WHERE organization_id = ? AND type = ? ORDER BY seq`, s.tenant.Organization.ID, kind)
		})
		i := slices.IndexFunc(events, wanted)
		if i >= 0 {
			found = events[i]
		}
		return i >= 0
	})
	if !came {
		s.t.Fatalf("no %s came", kind)
	}
	return found
}

// byID picks the event with an id.
func byID(id string) func(storage.Event) bool {
	return func(e storage.Event) bool { return e.EventID == id }
}

// saying picks the event whose payload holds a text.
func saying(text string) func(storage.Event) bool {
	return func(e storage.Event) bool { return strings.Contains(string(e.Payload), text) }
}

// heard lets ana write and returns the message that came of it, once its event is sent.
func (s *stage) heard(number, content string) map[string]any {
	s.t.Helper()
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550001111","name":"Ana Ruiz",`+content+`}`)
	e := s.awaitEvent("message.received", byID(wamid))
	var reported struct {
		Svc struct {
			MessageID string `json:"message_id"`
		}
	}
	if err := json.Unmarshal(e.Payload, &reported); err != nil {
		s.t.Fatal(err)
	}
	return s.call("GET", s.app.URL()+"/v1/"+number+"/messages/"+reported.Svc.MessageID, "")
}

func TestPeopleCanWriteEverythingThereIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	number := s.connect()
	for kind, content := range map[string]string{
		"text":        `"type":"text","text":{"body":"hi"}`,
		"location":    `"type":"location","location":{"latitude":1.5,"longitude":2}`,
		"contacts":    `"type":"contacts","contacts":[{"name":{"formatted_name":"Bo"}}]`,
		"interactive": `"type":"interactive","interactive":{"type":"button_reply","button_reply":{"id":"a","title":"A"}},"context":{"message_id":"wamid.x"}`,
		"button":      `"type":"button","button":{"payload":"a","text":"A"}`,
		"reaction":    `"type":"reaction","reaction":{"message_id":"wamid.x","emoji":"👍"}`,
		"order":       `"type":"order","order":{"catalog_id":"1","product_items":[]}`,
		"unsupported": `"type":"unsupported"`,
	} {
		t.Run(kind, func(t *testing.T) {
			is := is.New(t)
			m := s.heard(number, content)
			is.Equal(m["type"], kind)
			is.Equal(m["direction"], "inbound")
			is.Equal(m["status"], "delivered")
			is.Equal(m["from"], "+15550001111")
			is.True(m[kind] != nil)
		})
	}
}

func TestFilesOfPeopleAreHosted(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	number := s.connect()
	for kind, content := range map[string]string{
		"image":    "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"document": "%PDF-1.7 hello",
		"video":    "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom",
		"audio":    "ID3\x03\x00\x00\x00\x00\x00\x00",
		"sticker":  "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00",
	} {
		t.Run(kind, func(t *testing.T) {
			is := is.New(t)
			m := s.heard(number, fmt.Sprintf(`"type":%q,%q:{"data":%q,"caption":"Look"}`, kind, kind, base64.StdEncoding.EncodeToString([]byte(content))))
			media := m["media"].(map[string]any)
			is.Equal(media["status"], "ready")
			is.Equal(media["size"], float64(len(content)))
			req, err := http.NewRequest("GET", s.app.URL()+"/v1/"+number+"/messages/"+m["id"].(string)+"/media", nil)
			is.NoErr(err)
			req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
			res, err := http.DefaultClient.Do(req) // follows the redirect
			is.NoErr(err)
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			is.NoErr(err)
			is.Equal(string(got), content)
			is.Equal(res.Request.URL.String(), media["url"])
			is.Equal(res.Header.Get("Content-Type"), media["mime_type"])
		})
	}
}

func TestAFileOfAPurgedMessageIsNoLongerHosted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	m := s.heard(number, `"type":"document","document":{"data":"JVBERi0xLjcgaGVsbG8="}`)
	link := m["media"].(map[string]any)["url"].(string)
	got := ask(t, "GET", link, nil)
	is.Equal(got.status, 200)
	is.Equal(got.header.Get("Cache-Control"), "public, max-age=86400") // a day, because it does end

	var purged storage.PurgeCounts
	dir := datadir.Dir(s.app.Config.DataDir)
	is.NoErr(dir.Purge(t.Context(), storage.PurgeScope{Before: storage.Now().Add(time.Hour)},
		func(p storage.PurgeCounts) { purged = p },
		func(context.Context) error { return errors.New("the server was not found") }))
	is.Equal(purged.Messages, int64(1))
	is.Equal(purged.Media, int64(1))
	is.Equal(ask(t, "GET", link, nil).status, 404)
	is.Equal(ask(t, "GET", link, nil, "If-None-Match: *").status, 404) // nor does a cache hear that it is still good
}

func TestWhatWasWrittenIsEditedAndRevoked(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	m := s.heard(number, `"type":"text","text":{"body":"tomorow"}`)
	wamid := m["message_id"].(string)
	s.play("POST", "/_sim/messages/"+wamid+"/edit", `{"text":"tomorrow"}`)
	s.awaitEvent("message.edited", saying(wamid))
	s.play("POST", "/_sim/messages/"+wamid+"/revoke", ``)
	s.awaitEvent("message.revoked", saying(wamid))
	m = s.await(number, m["id"].(string), func(m map[string]any) bool { return m["is_revoked"] == true })
	is.Equal(m["text"], map[string]any{"body": "tomorrow"})
	is.True(m["edited_at"] != nil)
}

func TestAMessageFromThePhoneIsSentAndDelivered(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	wamid := s.play("POST", "/_sim/echo", `{"phone_number_id":"`+number+`","to":"15550001111","type":"image","image":{"data":"`+base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))+`"}}`)
	e := s.awaitEvent("message.sent", saying(wamid))
	is.True(strings.Contains(string(e.Payload), `"media_status":"ready"`))
	is.True(strings.Contains(string(e.Payload), `"source":"app"`))
	s.play("POST", "/_sim/messages/"+wamid+"/status", `{"status":"read"}`)
	m := s.await(number, strings.TrimSuffix(e.EventID, ":sent"), isStatus("read"))
	is.Equal(m["direction"], "outbound")
	is.Equal(m["source"], "app")
}

func TestSomebodyWithANewNumberStaysTheSamePerson(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	before := s.heard(number, `"type":"text","text":{"body":"hi"}`)
	s.play("POST", "/_sim/contacts/15550001111/identity", `{"phone_number":"15550003333"}`)
	s.awaitEvent("contact.identity_updated", saying(`"reason":"phone_number_changed"`))
	wamid := s.play("POST", "/_sim/inbound", `{"phone_number_id":"`+number+`","from":"15550003333","type":"text","text":{"body":"it is me"}}`)
	e := s.awaitEvent("message.received", byID(wamid))
	is.True(strings.Contains(string(e.Payload), before["contact_id"].(string)))
}

// refusal posts a message and returns the code that it is refused with, or "".
func (s *stage) refusal(number, to, template string) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"messaging_product":"chat","to":%q,"type":"template","template":{"name":%q,"language":"en"}}`, to, template)
	req, err := http.NewRequest("POST", s.app.URL()+"/v1/"+number+"/messages", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ Error struct{ Code string } }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	if out.Error.Code != "" && res.StatusCode != 422 {
		s.t.Fatalf("%d %s", res.StatusCode, out.Error.Code)
	}
	return out.Error.Code
}

// awaitRefusal waits until a message is refused with a code, or taken for "".
func (s *stage) awaitRefusal(number, to, template, want string) {
	s.t.Helper()
	got := ""
	became := until(func() bool { // no event has a preference
		got = s.refusal(number, to, template)
		return got == want
	})
	if !became {
		s.t.Fatalf("%s to %s: %q, not %q", template, to, got, want)
	}
}

// store gives a number a template of a category.
func (s *stage) store(number, name, category string) {
	s.t.Helper()
	storagetest.Update(s.t, s.app.DB, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(number)
		if err != nil {
			return err
		}
		return tx.InsertTemplate(&storage.Template{AccountID: a.ID, Name: name, Language: "en", Status: "approved", Category: category,
			ParameterFormat: "POSITIONAL", Components: storage.JSON(`[{"type":"BODY","text":"Hello"}]`)})
	})
}

func TestWhoWantsNoMarketingGetsNone(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	s.store(number, "promo", "MARKETING")
	s.store(number, "notice", "UTILITY")
	const ana = "+15550001111"
	is.Equal(s.refusal(number, ana, "promo"), "")
	s.play("POST", "/_sim/contacts/15550001111/preferences", `{"marketing":"stop"}`)
	s.awaitRefusal(number, ana, "promo", "marketing_opted_out")
	is.Equal(s.refusal(number, ana, "notice"), "") // which is no marketing
	is.Equal(s.refusal(number, "+15550002222", "promo"), "")
	s.play("POST", "/_sim/contacts/15550001111/preferences", `{"marketing":"resume"}`)
	s.awaitRefusal(number, ana, "promo", "")

	const blocked = "+1999000131050" // fails with the code that says so
	s.send(number, blocked, `"type":"text","text":{"body":"hi"}`)
	s.awaitRefusal(number, blocked, "promo", "marketing_opted_out")
}

func TestWhoHasNotConsentedGetsNoTemplates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	number := s.connect()
	s.store(number, "notice", "UTILITY")
	storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
		o, err := tx.Organization(s.tenant.Organization.PublicID)
		if err != nil {
			return err
		}
		o.RequireOptIn = true
		return tx.UpdateOrganization(&o)
	})
	is.Equal(s.refusal(number, "+15550001111", "notice"), "consent_required")
	s.heard(number, `"type":"text","text":{"body":"hi"}`)
	is.Equal(s.refusal(number, "+15550001111", "notice"), "")
}
