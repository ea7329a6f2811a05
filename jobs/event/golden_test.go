package event_test

import (
	"flag"
	"regexp"
	"testing"

	"github.com/matryer/is"

	"confab/jobs/event"
	"confab/storage"
	"confab/storage/storagetest"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")

	anyEvent = regexp.MustCompile(`evt_[0-9A-Z]{26}`)
	anyTime  = regexp.MustCompile(`"created_at":"20[0-9-]{8}T[0-9:.]{12}Z"`)
)

// instant is the time in all events.
const instant storage.Time = 1767323045678

// golden holds a payload against testdata/golden/<name>.json.
func golden(t *testing.T, name string, payload []byte) {
	t.Helper()
	payload = anyEvent.ReplaceAll(payload, []byte("evt_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"))
	payload = anyTime.ReplaceAll(payload, []byte(`"created_at":"2026-01-02T03:04:05.678Z"`))
	storagetest.Golden(t, name, payload, *update)
}

// emit stores an event and returns its row.
func emit(t *testing.T, db *storage.DB, organization int64, e event.Event) storage.Event {
	t.Helper()
	var all []storage.Event
	storagetest.Update(t, db, func(tx *storage.Tx) error { return e.Emit(tx) })
	storagetest.View(t, db, func(rx *storage.Rx) (err error) { all, err = rx.Events(organization, 100); return err })
	return all[len(all)-1]
}

// outbound is a message as it is when the provider has just taken it.
func outbound(kind, content string, change ...func(*storage.Message)) storage.Message {
	m := storage.Message{
		ID: "msg_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", ConversationID: "cnv_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", ContactID: "ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D",
		Direction: storage.Outbound, Type: kind, Status: storage.MessageSent, Source: storage.SourceAPI, ProviderID: new("wamid.HBgL"),
		Content: storage.JSON(content), ContactPhone: new("+15550001111"), ContactName: new("Ana Ruiz"), AccountPhone: new("+15550100200"),
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func TestMessageSentInEachForm(t *testing.T) {
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	subject := event.Subject{Organization: tenant.Organization.ID, Account: account.ID, PhoneNumberID: "100200300"}
	link := "https://shop.test/a.png?x=1&y=<2>"
	for name, c := range map[string]struct {
		message storage.Message
		body    *string
		media   string
	}{
		"message_sent_text": {outbound("text", `{"body":"hi <there> & you"}`), new("hi <there> & you"), ""},
		"message_sent_media": {outbound("image", `{"link":"https://shop.test/a.png?x=1&y=<2>","caption":"Look"}`),
			new("Look"), link},
		"message_sent_media_bare": {outbound("audio", `{"link":"https://shop.test/a.png?x=1&y=<2>","voice":true}`), nil, link},
		"message_sent_template": {outbound("template", `{"name":"order_update","language":"en_US"}`),
			new("Hi Ana, your order A-1042 is on its way."), ""},
		"message_sent_reply": {outbound("text", `{"body":"yes"}`, func(m *storage.Message) {
			m.Context = storage.JSON(`{"message_id":"wamid.in"}`)
		}), new("yes"), ""},
		"message_sent_bsuid": {outbound("text", `{"body":"yes"}`, func(m *storage.Message) {
			m.ContactPhone, m.ContactName, m.ContactBSUID = nil, nil, new("US.13491208655302741918")
		}), new("yes"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.message.Body, c.message.ConversationStatus = c.body, storage.ConversationOpen
			e := emit(t, db, tenant.Organization.ID, event.MessageSent(subject, c.message, instant, c.media))
			golden(t, name, e.Payload)
			is.Equal(e.Type, "message.sent")
			is.Equal(e.Source, "svc")
			is.Equal(e.EventID, c.message.ID+":sent")
			is.Equal(*e.AccountID, account.ID)
		})
	}
}

// sender is the account whose messages fail.
var sender = storage.Account{WABAID: new("waba-1"), PhoneNumber: new("+15550100200")}

func TestSynthesizedFailuresLookLikeTheProviders(t *testing.T) {
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	subject := event.Subject{Organization: tenant.Organization.ID, Account: account.ID, PhoneNumberID: "100200300"}
	byID := func(m *storage.Message) { m.ContactPhone, m.ContactBSUID = nil, new("US.13491208655302741918") }
	for name, c := range map[string]struct {
		message storage.Message
		code    int
		text    string
	}{
		"message_failed_provider": {outbound("text", `{"body":"hi"}`), 131000, "The provider could not be reached."},
		"message_failed_own":      {outbound("text", `{"body":"hi"}`), -1, "The organization is suspended."},
		"message_failed_bsuid":    {outbound("text", `{"body":"hi"}`, byID), 131026, "Message undeliverable"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			why := event.Failure{Code: c.code, Title: c.text, Message: c.text}
			why.Data.Details = c.text
			failed, err := event.MessageFailed(subject, sender, c.message, instant, why)
			is.NoErr(err)
			e := emit(t, db, tenant.Organization.ID, failed)
			golden(t, name, e.Payload)
			is.Equal(e.Type, "message.status")
			is.Equal(e.Source, "provider")
			is.Equal(e.EventID, c.message.ID)
		})
	}
}

func TestASynthesizedFailureSaysAllThatTheProviderSaid(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	subject := event.Subject{Organization: tenant.Organization.ID, Account: storagetest.Connect(t, db, tenant, "100200300").ID, PhoneNumberID: "100200300"}
	why := event.Failure{
		Code: 131009, Title: "Parameter value is not valid", Message: "(#131009) Parameter value is not valid",
		Subcode: 2494010, TraceID: "AbCdEf", Href: "https://provider.test/codes",
	}
	why.Data.Details = "Button title length invalid."
	failed, err := event.MessageFailed(subject, sender, outbound("text", `{"body":"hi"}`), instant, why)
	is.NoErr(err)
	golden(t, "message_failed_explained", emit(t, db, tenant.Organization.ID, failed).Payload)
}

func TestContactCreated(t *testing.T) {
	is := is.New(t)
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	subject := event.Subject{Organization: tenant.Organization.ID, Account: account.ID, PhoneNumberID: "100200300"}
	e := emit(t, db, tenant.Organization.ID, event.ContactCreated(subject, storage.Contact{
		ID: "ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", PhoneNumber: new("+15550001111"), Name: new("Ana Ruiz"), Metadata: storage.JSON(`{"vip":true}`),
		CreatedAt: instant, UpdatedAt: instant,
	}))
	golden(t, "contact_created", e.Payload)
	is.Equal(e.EventID, e.ID) // an event of our own goes by its own id
	e = emit(t, db, tenant.Organization.ID, event.ContactCreated(subject, storage.Contact{
		ID: "ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", BSUID: new("US.13491208655302741918"), CreatedAt: instant, UpdatedAt: instant,
	}))
	golden(t, "contact_created_bsuid", e.Payload)
}

func TestChangesOfTheInbox(t *testing.T) {
	db := storagetest.Open(t)
	tenant := storagetest.Seed(t, db, "Acme")
	account := storagetest.Connect(t, db, tenant, "100200300")
	subject := event.Subject{Organization: tenant.Organization.ID, Account: account.ID, PhoneNumberID: "100200300"}
	conversation := storage.Conversation{ID: "cnv_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", Status: storage.ConversationPending}
	contact := storage.Contact{ID: "ctc_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", PhoneNumber: new("+15550001111"), Name: new("Ana Ruiz"),
		Metadata: storage.JSON(`{"vip":true}`), CreatedAt: instant, UpdatedAt: instant}
	ada, bob, team := new("01JQ0Z8M4T9V2X3W5Y6A7B8C9D"), new("01JQ0Z8M4T9V2X3W5Y6A7B8C9E"), new("team_01JQ0Z8M4T9V2X3W5Y6A7B8C9D")
	for name, e := range map[string]event.Event{
		"conversation_assigned":   event.ConversationAssigned(subject, conversation, event.Assignment{UserID: ada, TeamID: team}),
		"conversation_reassigned": event.ConversationAssigned(subject, conversation, event.Assignment{UserID: bob, TeamID: team, PreviousUserID: ada}),
		"conversation_unassigned": event.ConversationAssigned(subject, conversation, event.Assignment{PreviousUserID: bob}),
		"conversation_closed":     event.ConversationClosed(subject, conversation, nil),
		"contact_updated":         event.ContactUpdated(subject, contact, []string{"name", "metadata"}),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			row := emit(t, db, tenant.Organization.ID, e)
			golden(t, name, row.Payload)
			is.Equal(row.Source, "svc")
			is.Equal(row.EventID, row.ID)
			is.Equal(*row.AccountID, account.ID)
		})
	}
}
