package simulator

import (
	"net/http"
	"testing"
)

func TestAnAcceptedTextIsAnsweredExactlyAsTheProviderDoes(t *testing.T) {
	b := newBench(t)
	r := b.text("+1 (650) 555-1234")
	b.Equal(r.status, http.StatusOK)
	id := b.sentID(r)
	b.Equal(string(r.raw), `{"messaging_product":"whatsapp","contacts":[{"input":"+1 (650) 555-1234","wa_id":"16505551234"}],"messages":[{"id":"`+id+`"}]}`)
	m, err := parseWamid(id)
	b.NoErr(err)
	b.Equal(m.phone, "16505551234")
	b.Equal(len(m.nonce), 18)
	b.Equal(m.sender, byte(sentByBusiness))
	b.Equal(r.header.Get("Content-Type"), "application/json; charset=UTF-8")
	b.Equal(r.header.Get("facebook-api-version"), "v23.0")
}

func TestAMessageToABSUIDIsAnsweredWithoutANumber(t *testing.T) {
	b := newBench(t)
	r := b.send(object{"recipient": "US.13491208655302741918", "type": "text", "text": object{"body": "x"}})
	id := b.sentID(r)
	b.Equal(string(r.raw), `{"messaging_product":"whatsapp","contacts":[{"input":"US.13491208655302741918","user_id":"US.13491208655302741918"}],"messages":[{"id":"`+id+`"}]}`)
	st := b.app.next().statusOf(t)
	b.Equal(st.text("recipient_user_id"), "US.13491208655302741918")
	b.True(!st.has("recipient_id")) // the number is not known
}

func TestAMessageToAParentIDIsReportedAsThat(t *testing.T) {
	b := newBench(t)
	b.sentID(b.send(object{"recipient": "US.ENT.9", "type": "text", "text": object{"body": "x"}}))
	st := b.app.next().statusOf(t)
	b.Equal(st.text("recipient_parent_user_id"), "US.ENT.9")
	b.True(!st.has("recipient_user_id")) // no person's own id is known
}

func TestATemplateSendNamesItsStatus(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	r := b.send(object{"to": "16505551234", "type": "template", "template": object{
		"name": "hello", "language": object{"code": "en_US"},
		"components": []object{{"type": "body", "parameters": []object{{"type": "text", "text": "Ann"}}}},
	}})
	b.sentID(r)
	b.Equal(asObject(r.list("messages")[0]).text("message_status"), "accepted")
}

func TestStatusesFollowInTurnAndEchoTheOpaqueData(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) {
		set.DeliveredMS, set.ReadMS = ptr(int64(5)), ptr(int64(10))
	})
	id := b.sentID(b.send(object{"to": "16505551234", "text": object{"body": "x"}, "biz_opaque_callback_data": "msg_1"}))
	for i, want := range []string{"sent", "delivered", "read"} {
		h := b.app.next()
		b.Equal(h.field, "messages")
		b.Equal(h.account, b.number.WABAID)
		b.Equal(h.time, nil) // entries about messages carry no time
		st := h.statusOf(t)
		b.Equal(st.text("status"), want)
		b.Equal(st.text("id"), id)
		b.Equal(st.text("recipient_id"), "16505551234")
		b.Equal(st.text("recipient_user_id"), bsuidFor("16505551234"))
		b.Equal(st.text("biz_opaque_callback_data"), "msg_1")
		b.Equal(st.has("pricing"), i < 2) // on sent, and on the first of the others
		b.True(!st.has("conversation"))   // v24
		b.Equal(h.value.child("metadata").text("display_phone_number"), "15550009999")
		b.Equal(h.value.child("metadata").text("phone_number_id"), b.number.PhoneNumberID)
		b.Equal(len(h.value.list("contacts")), 1)
	}
}

func TestStatusesOfOldVersionsNameAConversation(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.WebhookVersion = "v23.0" })
	b.sentID(b.text("16505551234"))
	st := b.app.next().statusOf(t)
	b.True(st.child("conversation").text("id") != "")
	b.Equal(st.child("conversation").child("origin").text("type"), "service")
}

func TestAVoiceMessageIsPlayed(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.DeliveredMS, set.AutoRead = ptr(int64(1)), true })
	b.sentID(b.send(object{"to": "16505551234", "type": "audio", "audio": object{"link": "https://example.com/a.ogg", "voice": true}}))
	for _, want := range []string{"sent", "delivered", "read", "played"} {
		b.Equal(b.app.next().statusOf(t).text("status"), want)
	}
}

func TestAReactionIsOnlyEverSent(t *testing.T) {
	b := newBench(t)
	b.settings(func(set *Settings) { set.DeliveredMS = ptr(int64(0)) })
	id, err := b.s.Inbound(map[string]any{"from": "+16505551234", "text": "hi"})
	b.NoErr(err)
	b.Equal(b.app.next().messageOf(t).text("id"), id)
	b.sentID(b.send(object{"to": "16505551234", "type": "reaction", "reaction": object{"message_id": id, "emoji": "👍"}}))
	b.Equal(b.app.next().statusOf(t).text("status"), "sent")
	b.sentID(b.text("16505551234"))
	b.Equal(b.app.next().statusOf(t).text("status"), "sent") // of the text: no delivered came between
}

func TestAReactionToNothingFailsByCallback(t *testing.T) {
	b := newBench(t)
	b.sentID(b.send(object{"to": "16505551234", "type": "reaction", "reaction": object{"message_id": "wamid.none", "emoji": "👍"}}))
	st := b.app.next().statusOf(t)
	b.Equal(st.text("status"), "failed")
	b.Equal(asObject(st.list("errors")[0]).text("code"), "131009")
}

func TestMissingPartsOfTheEnvelopeAreNamed(t *testing.T) {
	b := newBench(t)
	path := "/" + b.number.PhoneNumberID + "/messages"
	r := b.graph("POST", path, object{"to": "1"})
	b.Equal(r.err().text("message"), "(#100) The parameter messaging_product is required.")
	r = b.send(object{"text": object{"body": "x"}})
	b.Equal(r.err().text("message"), "The parameter to is required.") // without the usual prefix
	b.Equal(r.err().text("type"), "OAuthException")
}

func TestReadReceiptsNeedAnInboundMessage(t *testing.T) {
	b := newBench(t)
	id, err := b.s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
	b.NoErr(err)
	r := b.send(object{"status": "read", "message_id": id, "typing_indicator": object{"type": "text"}})
	b.Equal(string(r.raw), `{"success":true}`)
	b.Equal(b.send(object{"status": "read", "message_id": "wamid.none"}).err().text("code"), "131009")
	b.Equal(b.send(object{"status": "read"}).err().text("code"), "100")
	b.Equal(b.send(object{"status": "seen", "message_id": id}).err().text("code"), "100")
	b.Equal(b.send(object{"status": "read", "message_id": id, "typing_indicator": object{"type": "dots"}}).err().text("code"), "131009")
}

func TestANumberThatIsNotConnectedCannotSend(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddNumber(Number{PhoneNumberID: b.number.PhoneNumberID, Status: "DISCONNECTED"})
	b.NoErr(err)
	r := b.text("16505551234")
	b.Equal(r.err().text("code"), "133010")
	b.Equal(r.err().text("message"), "(#133010) Account not registered")
}

func ptr[T any](v T) *T { return &v }
