package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// encoded is what encoding/json writes, which is what views that write their own JSON
// must write too.
func encoded(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shownMessage is what a message must show.
func shownMessage(v messageView) map[string]any {
	from, to := v.AccountPhone, v.To()
	if v.Direction == storage.Inbound {
		from, to = to, from
	}
	want := map[string]any{
		"id": v.ID, "object": "message", "direction": v.Direction, "from": from, "to": to, "bsuid": v.ContactBSUID,
		"parent_bsuid": v.ContactParentBSUID, "username": v.ContactUsername, "contact_id": v.ContactID,
		"conversation_id": v.ConversationID, "message_id": v.ProviderID, "type": v.Type, "status": v.Status, "source": v.Source,
		"sent_by": v.SentBy, "rule_id": v.RuleID, "context": v.Context, "is_revoked": v.IsRevoked, "edited_at": v.EditedAt,
		"scheduled_at": v.ScheduledAt, "pricing": nil, "created_at": v.CreatedAt, "updated_at": v.UpdatedAt,
	}
	if v.media != nil {
		want["media"] = v.media
	}
	if v.ErrorCode != nil {
		want["error"] = sendErrorView{*v.ErrorCode, *v.ErrorMessage, v.ErrorProviderCode}
	}
	if v.PlayedAt != 0 {
		want["played_at"] = v.PlayedAt
	}
	if p, ok := provider.ReadPricing(json.RawMessage(v.Pricing)); ok {
		want["pricing"] = p
	}
	if _, isTaken := messageFields[v.Type]; !isTaken {
		want[v.Type] = v.Content
	}
	return want
}

func shownContact(v contactView) map[string]any {
	return map[string]any{
		"id": v.ID, "object": "contact", "phone_number": v.PhoneNumber, "bsuid": v.BSUID, "parent_bsuid": v.ParentBSUID,
		"username": v.Username, "name": v.Name, "email": v.Email, "metadata": v.Metadata, "labels": rest.OrEmpty(v.labels),
		"marketing_opted_out": v.MarketingOptedOut, "opted_in": v.OptedIn, "chat_account": shownAccount(v.account),
		"created_at": v.CreatedAt, "updated_at": v.UpdatedAt,
	}
}

func shownAccount(v chatAccountView) map[string]any {
	want := map[string]any{"phone_number": v.PhoneNumber, "phone_number_id": v.PhoneNumberID, "customer": nil}
	if v.CustomerID != nil {
		want["customer"] = map[string]any{"id": v.CustomerID, "name": v.CustomerName}
	}
	return want
}

func shownConversation(v conversationView) map[string]any {
	contact := map[string]any{"id": v.ContactID, "phone_number": v.ContactPhone, "name": v.ContactName}
	if v.ContactPhone == nil && v.ContactBSUID != nil {
		contact["bsuid"] = v.ContactBSUID
	}
	if v.ContactPhone == nil && v.ContactParent != nil {
		contact["parent_bsuid"] = v.ContactParent
	}
	want := map[string]any{
		"id": v.ID, "object": "conversation", "status": v.Status, "contact": contact, "chat_account": shownAccount(v.account),
		"assignee": nil, "labels": rest.OrEmpty(v.labels), "unread_count": v.UnreadCount, "last_message": nil,
		"last_message_at": v.LastMessageAt, "last_inbound_at": v.LastInboundAt, "service_window_expires_at": nil,
		"waiting_since": v.WaitingSince, "snoozed_until": v.SnoozedUntil, "holder": v.Holder(),
		"created_at": v.CreatedAt, "updated_at": v.UpdatedAt,
	}
	if v.AssigneeID != nil {
		want["assignee"] = map[string]any{"id": v.AssigneeID, "name": v.AssigneeName, "email": v.assigneeEmail}
	}
	if v.LastInboundAt != 0 {
		want["service_window_expires_at"] = v.LastInboundAt.Add(24 * time.Hour)
	}
	if m := v.last; m != nil {
		want["last_message"] = map[string]any{
			"id": m.ID, "type": m.Type, "direction": m.Direction, "status": m.Status, "source": m.Source, "sent_by": m.SentBy,
			"preview": m.Preview, "created_at": m.CreatedAt,
		}
	}
	return want
}

// sorted is an object with its members in the order of their names, in the encoder's spelling.
func sorted(t testing.TB, object []byte) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	for name, member := range members {
		if member[0] == '{' && name != "metadata" && name != "context" {
			members[name] = json.RawMessage(sorted(t, member))
		}
	}
	return encoded(t, members)
}

// hostileTexts are what has to be escaped, what only HTML would have escaped, and what
// is no text.
var hostileTexts = []string{
	"", "plain", `"`, `\`, "/", "<script>&'</script>", "a\x00b", "\x01\b\t\n\v\f\r\x1f\x7f", "Grüße, 世界 👋", "\u2028 \u2029 \u2027", "\u0085\ufeff\ufffd",
	"\xff", "a\xc3", "\xe2\x80", "\xe2\x80\xa8\xe2", "\xed\xa0\x80", "\xf4\x90\x80\x80", "null", strings.Repeat(`long "text" `, 300),
}

// hostileStored is JSON as it may have come: with space, escapes, and what only looks
// like space or the end of a string.
var hostileStored = []string{
	`null`, `{}`, ` { } `, "[\n1 ,\t2\r\n]", `{"body": "a  b"}`, `{"a\" b" : "\\" , "c":"\\\" "}`, `"\u2028 <&>"`, `-1.5e+3`, `[[[ ]]]`,
	"{\"a\":\"\u2028 \xff\"}", `{"link":"https://a.test/?a=1&b=2", "caption":"<b>"}`, ` true `, `""`, `"\\"`,
}

// drawText is a text, most often a hostile one.
func drawText(t *rapid.T, name string) string {
	part := rapid.OneOf(rapid.SampledFrom(hostileTexts), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, name), "")
}

// fillView gives every field of a view a value, also those that are added one day.
func fillView(t *rapid.T, name string, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[storage.JSON]():
		if rapid.Bool().Draw(t, name+" given") {
			v.SetBytes([]byte(rapid.SampledFrom(hostileStored).Draw(t, name)))
		}
		return
	case reflect.TypeFor[storage.Time]():
		v.SetInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-99_999_999_999_999, 299_999_999_999_999)).Draw(t, name))
		return
	}

	switch v.Kind() {
	case reflect.String:
		v.SetString(drawText(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name+" given") {
			v.Set(reflect.New(v.Type().Elem()))
			fillView(t, name, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, name+" length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			fillView(t, fmt.Sprint(name, i), v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				fillView(t, name+"."+field.Name, v.Field(i))
			}
		}
	default:
		t.Fatalf("%s is a %s, which this test cannot make up", name, v.Type())
	}
}

// Views that write their own JSON write what encoding/json would of the same values.
func TestViewsWriteWhatTheEncoderWouldWrite(t *testing.T) {
	check := func(rt *rapid.T, view any, want map[string]any) {
		got, err := rest.AppendView([]byte("before"), view)
		got, found := bytes.CutPrefix(got, []byte("before"))
		text := encoded(t, want)
		isLike := bytes.HasPrefix(got, []byte(`{"id":`)) && sorted(t, got) == sorted(t, []byte(text))
		if err != nil || !found || !isLike {
			rt.Fatalf("wrote\n%s\nin the place of\n%s (%v)", got, text, err)
		}
	}

	t.Run("message", rapid.MakeCheck(func(rt *rapid.T) {
		v := messageView{media: new(mediaView)}
		fillView(rt, "message", reflect.ValueOf(&v.Message).Elem())
		fillView(rt, "media", reflect.ValueOf(v.media).Elem())
		v.Type = rapid.OneOf(rapid.SampledFrom([]string{"text", "status", "image", "a<b"}), rapid.Just(v.Type)).Draw(rt, "type")
		v.ErrorMessage = cmp.Or(v.ErrorMessage, new("none"))
		v.Pricing = storage.JSON(rapid.SampledFrom([]string{"", `{"billable":true,"category":"utility"}`, `{"pricing_model":"PMP"}`}).Draw(rt, "pricing"))
		if rapid.Bool().Draw(rt, "has no media") {
			v.media = nil
		}
		check(rt, v, shownMessage(v))
	}))
	t.Run("contact", rapid.MakeCheck(func(rt *rapid.T) {
		var v contactView
		fillView(rt, "contact", reflect.ValueOf(&v.Contact).Elem())
		fillView(rt, "labels", reflect.ValueOf(&v.labels).Elem())
		fillView(rt, "account", reflect.ValueOf(&v.account).Elem())
		v.account.CustomerName = cmp.Or(v.account.CustomerName, new("none"))
		check(rt, v, shownContact(v))
	}))
	t.Run("conversation", rapid.MakeCheck(func(rt *rapid.T) {
		var v conversationView
		fillView(rt, "conversation", reflect.ValueOf(&v.FullConversation).Elem())
		fillView(rt, "email", reflect.ValueOf(&v.assigneeEmail).Elem())
		fillView(rt, "labels", reflect.ValueOf(&v.labels).Elem())
		fillView(rt, "last", reflect.ValueOf(&v.last).Elem())
		check(rt, v, shownConversation(v))
	}))
}

// A message of any content is the message that the encoder would write.
func FuzzMessageView(f *testing.F) {
	for i, text := range hostileTexts {
		f.Add(text, text, []byte(hostileStored[i%len(hostileStored)]), int64(i))
	}
	f.Fuzz(func(t *testing.T, kind, text string, stored []byte, number int64) {
		if !json.Valid(stored) {
			return
		}
		code := int(number)
		v := messageView{storage.Message{
			ID: text, AccountPhone: &text, Type: kind, Context: stored, Content: stored, CreatedAt: storage.Time(number % 1e14), IsRevoked: number > 0,
			ErrorCode: &text, ErrorMessage: &text, ErrorProviderCode: &code,
		}, &mediaView{URL: &text, Size: &number}}
		got, want := v.AppendJSON(nil), encoded(t, shownMessage(v))
		if !utf8.ValidString(kind) || kind == "" {
			return // a name that no object can have twice
		}
		if sorted(t, got) != sorted(t, []byte(want)) {
			t.Fatalf("wrote\n%s\nin the place of\n%s", got, want)
		}
	})
}
