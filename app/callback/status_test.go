package callback

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// line is a callback server with one connected number.
type line struct {
	heard   int // messages of numbered people
	t       testing.TB
	is      *is.I
	dir     string
	server  *Server
	tenant  storagetest.Tenant
	account storage.Account
}

const ourNumber = "100200300"

func newLine(t testing.TB) *line {
	t.Helper()
	l := openLine(t, t.TempDir())
	t.Cleanup(func() { l.server.DB.Close() })
	return l
}

// openLine is a line that its caller closes.
func openLine(t testing.TB, dir string) *line {
	t.Helper()
	where := storagetest.Options(t, dir)
	db, err := storage.Open(where)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, is: is.New(t), dir: dir, server: New(Options{DB: db, AppSecret: secret, VerifyToken: token, Log: slog.New(slog.DiscardHandler)})}
	l.tenant = storagetest.Seed(t, db, "Acme")
	l.account = storagetest.Connect(t, db, l.tenant, ourNumber)
	return l
}

// outbound stores a message of the account, with the provider's id unless "".
func (l *line) outbound(account storage.Account, wamid string) string {
	l.t.Helper()
	var m storage.Message
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error {
		phone := "+15550001111"
		c, err := tx.ContactByPhone(account.ID, phone)
		if err != nil {
			c = storage.Contact{AccountID: account.ID, PhoneNumber: &phone}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
		}
		conversation, err := tx.EnsureConversation(account.ID, c.ID)
		if err != nil {
			return err
		}
		m = storage.Message{AccountID: account.ID, ConversationID: conversation.ID, ContactID: c.ID, Direction: storage.Outbound, Type: "audio",
			Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{"link":"https://shop.test/note.ogg","voice":true}`)}
		if err := tx.InsertMessage(&m); err != nil || wamid == "" {
			return err
		}
		_, err = tx.MarkSent(&m, wamid)
		return err
	})
	return m.ID
}

// report posts statuses of one number, which must be taken.
func (l *line) report(number string, statuses ...string) {
	l.t.Helper()
	l.post(change(number, statuses...))
}

// post posts changes in one callback, which must be taken.
func (l *line) post(changes ...string) {
	l.t.Helper()
	l.postBody(`{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[` + strings.Join(changes, ",") + `]}]}`)
}

func (l *line) postBody(body string) {
	l.t.Helper()
	status, refused := post(l.t, l.server, body, sign(body))
	if refused != nil || status != 200 {
		l.t.Fatalf("%d %v: %.300s", status, refused, body)
	}
}

func change(number string, statuses ...string) string {
	return `{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15551","phone_number_id":"` + number + `"},"statuses":[` +
		strings.Join(statuses, ",") + `]}}`
}

// status words a status; more is further keys, each with a comma before it.
func status(wamid, name, more string) string {
	return fmt.Sprintf(`{"id":%q,"status":%q,"timestamp":"1750030073","recipient_id":"15550001111"%s}`, wamid, name, more)
}

func tagged(id string) string { return fmt.Sprintf(`,"biz_opaque_callback_data":%q`, id) }

func (l *line) message(id string) storage.Message { return l.messageOf(l.account, id) }

func (l *line) messageOf(account storage.Account, id string) (m storage.Message) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) { m, err = rx.OutboundMessage(account.ID, id); return err })
	return m
}

func (l *line) events() (all []storage.Event) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) {
		all, err = rx.Events(l.tenant.Organization.ID, 100_000)
		return err
	})
	return all
}

// reported lists the statuses in the events of a provider's id, in order.
func (l *line) reported(wamid string) (names []string) {
	l.t.Helper()
	for _, e := range l.events() {
		if e.Type == "message.status" && e.EventID == wamid {
			names = append(names, statusOf(l, e.Payload)["status"].(string))
		}
	}
	return names
}

// statusOf is the one status of an event.
func statusOf(l *line, payload []byte) map[string]any {
	l.t.Helper()
	return valueOf(l, payload)["statuses"].([]any)[0].(map[string]any)
}

func valueOf(l *line, payload []byte) map[string]any {
	l.t.Helper()
	var e struct {
		Object string
		Entry  []struct {
			ID      string
			Changes []struct{ Value map[string]any }
		}
	}
	l.is.NoErr(json.Unmarshal(payload, &e))
	l.is.Equal(e.Object, "chat_business_account")
	return e.Entry[0].Changes[0].Value
}

func (l *line) parked() int {
	l.t.Helper()
	return len(storagetest.Select[string](l.t, l.dir, `SELECT provider_id FROM parked_statuses`))
}

func TestStatusesMoveAMessageAndAreTold(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	for _, name := range []string{"sent", "delivered", "read"} {
		l.report(ourNumber, status("wamid.1", name, tagged(id)))
		l.is.Equal(l.message(id).Status, name)
	}
	l.report(ourNumber, status("wamid.1", "played", ""))
	l.is.Equal(l.message(id).Status, storage.MessageRead)
	l.is.Equal(l.message(id).PlayedAt, storage.At(time.Unix(1750030073, 0)))
	l.is.Equal(l.reported("wamid.1"), []string{"sent", "delivered", "read", "played"})
}

func TestAReportedFailureSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		errors, code string
		providerCode *int
		message      string
	}{
		"code":    {`,"errors":[{"code":131047,"title":"Re-engagement message","message":"Re-engagement message","error_data":{"details":"24 hours"}}]`, "outside_24h_window", new(131047), "24 hours"},
		"title":   {`,"errors":[{"code":131049,"title":"Not now"}]`, "undeliverable", new(131049), "Not now"},
		"none":    {``, "upstream_error", nil, "The provider gave no reason."},
		"empty":   {`,"errors":[]`, "upstream_error", nil, "The provider gave no reason."},
		"no code": {`,"errors":[{"title":"Odd"}]`, "upstream_error", nil, "Odd"},
		"null":    {`,"errors":[null]`, "upstream_error", nil, "The provider gave no reason."},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			id := l.outbound(l.account, "wamid.1")
			l.report(ourNumber, status("wamid.1", "failed", c.errors))
			m := l.message(id)
			l.is.Equal(m.Status, storage.MessageFailed)
			l.is.Equal(*m.ErrorCode, c.code)
			l.is.Equal(m.ErrorProviderCode, c.providerCode)
			l.is.Equal(*m.ErrorMessage, c.message)
			l.is.Equal(l.reported("wamid.1"), []string{"failed"})
		})
	}
}

func TestAnImpossibleTimeIsNow(t *testing.T) {
	for _, timestamp := range []string{`0`, `-5`, `""`, `null`, `"9223372036854775807"`, `99999999999`} {
		l := newLine(t)
		id := l.outbound(l.account, "wamid.1")
		l.report(ourNumber, `{"id":"wamid.1","status":"played","timestamp":`+timestamp+`}`)
		at := l.message(id).PlayedAt
		l.is.True(at > storage.Now().Add(-time.Minute) && at <= storage.Now())
	}
}

func TestAStatusThatMatchesNothingIsParkedOnce(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "")
	l.report(ourNumber, status("wamid.early", "sent", ""), status("wamid.early", "sent", ""), status("wamid.early", "read", ""))
	l.is.Equal(l.parked(), 2)
	l.is.Equal(len(l.events()), 0)
	l.report(ourNumber, status("wamid.early", "delivered", tagged(id))) // this one says whose it is
	l.is.Equal(l.message(id).Status, storage.MessageRead)
	l.is.Equal(l.parked(), 0)
	reported := l.reported("wamid.early")
	l.is.Equal(len(reported), 3)
	l.is.Equal(l.events()[0].Type, "message.sent")
}

func TestATagCountsOnlyWithinItsAccount(t *testing.T) {
	l := newLine(t)
	stranger := storagetest.Connect(t, l.server.DB, storagetest.Seed(t, l.server.DB, "Other"), "999")
	theirs := l.outbound(stranger, "")
	known := l.outbound(stranger, "wamid.theirs")
	l.report(ourNumber, status("wamid.forged", "failed", tagged(theirs)), status("wamid.theirs", "failed", tagged(known)))
	l.is.Equal(l.messageOf(stranger, theirs).Status, storage.MessageQueued)
	l.is.Equal(l.messageOf(stranger, known).Status, storage.MessageSent)
	l.is.Equal(l.parked(), 2)
	l.is.Equal(len(l.events()), 0)

	l.report("999", status("wamid.right", "sent", tagged(theirs)))
	l.is.Equal(l.messageOf(stranger, theirs).Status, storage.MessageSent)
}

func TestATagThatIsNoneIsIgnored(t *testing.T) {
	l := newLine(t)
	for i, tag := range []string{"order 17", "msg_", "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", "' OR 1=1 --"} {
		l.report(ourNumber, status(fmt.Sprint("wamid.", i), "sent", tagged(tag)))
	}
	l.is.Equal(l.parked(), 4)
}

func TestABatchIsAppliedAndWhatIsWrongInItKept(t *testing.T) {
	l := newLine(t)
	one, two := l.outbound(l.account, "wamid.1"), l.outbound(l.account, "wamid.2")
	bad := []string{`null`, `7`, `"sent"`, `[]`, `{}`, `{"id":"wamid.1"}`, `{"id":"wamid.1","status":"read","timestamp":"soon"}`,
		`{"id":7,"status":"read"}`, `{"id":"wamid.1","status":{}}`, `{"id":"wamid.1\u0000","status":"read"}`, `{"id":"` + strings.Repeat("w", 513) + `","status":"read"}`}
	l.report(ourNumber, append(append([]string{status("wamid.1", "delivered", "")}, bad...), status("wamid.2", "read", ""))...)
	l.is.Equal(l.message(one).Status, storage.MessageDelivered)
	l.is.Equal(l.message(two).Status, storage.MessageRead)
	l.is.Equal(len(l.events()), 2)
	raw := storagetest.Select[string](l.t, l.dir, `SELECT CAST(payload AS TEXT) FROM raw_callbacks ORDER BY id`)
	l.is.Equal(raw, bad) // exactly as they came
}

func TestOneBadChangeDoesNotHoldUpTheOthers(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	l.post(`{"field":"messages","value":{"statuses":"none"}}`, `{"field":"messages","value":null}`, `{"field":"messages"}`, change("404", status("wamid.1", "read", "")),
		`{"field":"messages","value":{"metadata":[],"statuses":[{}]}}`, change(ourNumber, status("wamid.1", "delivered", "")))
	l.is.Equal(l.message(id).Status, storage.MessageDelivered)
	l.is.Equal(len(storagetest.Select[int](l.t, l.dir, `SELECT id FROM raw_callbacks`)), 5)
}

func TestALargeBatchIsTakenWhole(t *testing.T) {
	l := newLine(t)
	var all []string
	var ids []string
	for i := range 1000 {
		if i%10 == 0 {
			ids = append(ids, l.outbound(l.account, fmt.Sprint("wamid.", i)))
		}
		all = append(all, status(fmt.Sprint("wamid.", i), "delivered", ""))
	}
	l.report(ourNumber, all...)
	for _, id := range ids {
		l.is.Equal(l.message(id).Status, storage.MessageDelivered)
	}
	l.is.Equal(l.parked(), 900)
}

func TestAnEventHoldsItsStatusAndNobodyElses(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	l.outbound(l.account, "wamid.2")
	l.post(`{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15551","phone_number_id":"` + ourNumber + `"},
		"future":{"a":[1]},"contacts":[{"profile":{"name":"whatsapp"},"wa_id":"15550001111"},{"profile":{"name":"Other"},"wa_id":"15550002222"},7],
		"statuses":[` + status("wamid.1", "failed", tagged(id)+`,"new_key":{"x":"<&>"},"errors":[{"code":131026,"error_data":{"messaging_product":"whatsapp","details":"whatsapp"}}]`) + `,
		` + storagetest.Swap(t, status("wamid.2", "read", ""), "15550001111", "15550002222") + `]}}`)
	value := valueOf(l, l.events()[0].Payload)
	l.is.Equal(value["messaging_product"], "chat")
	l.is.Equal(value["future"], map[string]any{"a": []any{1.0}})
	l.is.Equal(value["contacts"], []any{map[string]any{"profile": map[string]any{"name": "whatsapp"}, "wa_id": "15550001111"}}) // a name is not translated
	one := statusOf(l, l.events()[0].Payload)
	l.is.Equal(one["new_key"], map[string]any{"x": "<&>"})
	l.is.Equal(one["errors"].([]any)[0].(map[string]any)["error_data"], map[string]any{"messaging_product": "chat", "details": "whatsapp"})
	_, leaked := one["biz_opaque_callback_data"]
	l.is.True(!leaked)
	l.is.Equal(statusOf(l, l.events()[1].Payload)["id"], "wamid.2")
}

func TestACallbackInAnotherCaseIsKeptWhole(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.1")
	body := `{"object":"whatsapp_business_account","ENTRY":[{"id":"1","changes":[` + change(ourNumber, status("wamid.1", "read", "")) + `]}]}`
	l.postBody(body)
	l.is.Equal(storagetest.Select[string](l.t, l.dir, `SELECT CAST(payload AS TEXT) FROM raw_callbacks`), []string{body})
	l.is.Equal(len(l.events()), 0)
}

func TestAStatusTooDeepToBeParkedIsKeptRaw(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	deep := `,"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	l.report(ourNumber, status("wamid.unknown", "sent", deep), status("wamid.1", "read", ""))
	l.is.Equal(l.parked(), 0)
	l.is.Equal(storagetest.Select[string](l.t, l.dir, `SELECT CAST(payload AS TEXT) FROM raw_callbacks`), []string{status("wamid.unknown", "sent", deep)})
	l.is.Equal(l.message(id).Status, storage.MessageRead)
}

func TestAStatusOfAnInboundMessageChangesNothing(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.in")
	storagetest.Exec(l.t, l.dir, `UPDATE messages SET direction = 'inbound', status = 'delivered' WHERE id = ?`, id)
	l.report(ourNumber, status("wamid.in", "failed", ""), status("wamid.other", "failed", tagged(id)))
	l.is.Equal(storagetest.Select[string](l.t, l.dir, `SELECT status FROM messages`), []string{"delivered"})
	l.is.Equal(len(l.events()), 0)
}
