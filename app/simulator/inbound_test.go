package simulator

import (
	"encoding/base64"
	"net/http"
	"testing"
)

func TestInboundMessagesOfEveryType(t *testing.T) {
	b := newBench(t, func(o *Options) { o.PublicURL = "http://sim.test" })
	data := base64.StdEncoding.EncodeToString(png)
	media := object{"data": data, "caption": "c"}
	tests := []struct {
		kind    string
		content any
		check   func(object) bool
	}{
		{"text", object{"body": "hi"}, func(m object) bool { return m.child("text").text("body") == "hi" }},
		{"text", "hi", func(m object) bool { return m.child("text").text("body") == "hi" }},
		{"image", media, func(m object) bool {
			c := m.child("image")
			return c.text("mime_type") == "image/png" && numericID(c.text("id")) && len(c.text("sha256")) == 44 && c.text("caption") == "c" && c.has("url")
		}},
		{"video", object{"data": data, "mime_type": "video/mp4"}, func(m object) bool { return m.child("video").text("mime_type") == "video/mp4" }},
		{"audio", object{"data": data, "mime_type": "audio/ogg; codecs=opus", "voice": true}, func(m object) bool {
			return m.child("audio").text("mime_type") == "audio/ogg; codecs=opus" && m.child("audio")["voice"] == true
		}},
		{"document", object{"data": data, "filename": "a.pdf", "mime_type": "application/pdf"}, func(m object) bool { return m.child("document").text("filename") == "a.pdf" }},
		{"sticker", object{"data": data, "animated": true, "mime_type": "image/webp"}, func(m object) bool { return m.child("sticker")["animated"] == true }},
		{"location", object{"latitude": "1.5", "longitude": 2}, func(m object) bool {
			return m.child("location").text("latitude") == "1.5" && !m.child("location").isText("latitude")
		}},
		{"contacts", []object{{"name": object{"formatted_name": "A"}}}, func(m object) bool { return len(m.list("contacts")) == 1 }},
		{"interactive", object{"type": "button_reply", "button_reply": object{"id": "1", "title": "Yes"}}, func(m object) bool { return m.child("interactive").child("button_reply").text("title") == "Yes" }},
		{"button", object{"payload": "p", "text": "Yes"}, func(m object) bool { return m.child("button").text("payload") == "p" }},
		{"reaction", object{"message_id": "wamid.x", "emoji": "👍"}, func(m object) bool { return m.child("reaction").text("emoji") == "👍" }},
		{"order", object{"catalog_id": "1", "product_items": []object{{"quantity": 1}}}, func(m object) bool { return len(m.child("order").list("product_items")) == 1 }},
		{"system", object{"body": "b", "type": "user_changed_user_id", "user_id": "US.2"}, func(m object) bool { return m.child("system").text("user_id") == "US.2" }},
		{"edit", object{"original_message_id": "wamid.x", "message": object{"type": "text", "text": object{"body": "y"}}}, func(m object) bool { return m.child("edit").child("message").text("type") == "text" }},
		{"revoke", object{"original_message_id": "wamid.x"}, func(m object) bool { return m.child("revoke").text("original_message_id") == "wamid.x" }},
		{"unsupported", nil, func(m object) bool {
			e := asObject(m.list("errors")[0])
			return e.text("code") == "131051" && e.text("title") == "Message type unknown" && m.child("unsupported").text("type") == "unknown"
		}},
	}
	for _, tt := range tests {
		body := object{"from": "+16505551234", "name": "Ann", "type": tt.kind, "phone_number_id": b.number.PhoneNumberID, tt.kind: tt.content}
		id := b.sim("POST", "/inbound", body).text("id")
		h := b.app.next()
		m := h.messageOf(t)
		b.Equal(m.text("id"), id)
		b.Equal(m.text("type"), tt.kind)
		b.Equal(m.text("from"), "16505551234")
		b.Equal(m.text("from_user_id"), bsuidFor("16505551234"))
		b.True(m.isText("timestamp"))
		b.Equal(h.value.has("contacts"), tt.kind != "system") // system messages name no contact
		b.True(tt.check(m))                                   // the content of tt.kind
		w, err := parseWamid(id)
		b.NoErr(err)
		b.True(w.sender == sentByUser && len(w.nonce) == 20)
	}
}

func TestInboundExtrasAreKept(t *testing.T) {
	b := newBench(t)
	sent := b.sentID(b.text("16505551234"))
	b.app.next()
	b.sim("POST", "/inbound", object{
		"from": "16505551234", "type": "text", "text": object{"body": "x"},
		"context": object{"message_id": sent}, "referral": object{"source_type": "ad"},
	})
	m := b.app.next().messageOf(t)
	b.Equal(m.child("context").text("id"), sent)
	b.Equal(m.child("context").text("from"), "15550009999")
	b.Equal(m.child("referral").text("source_type"), "ad")
	b.sim("POST", "/inbound", object{"from": "16505551234", "text": "x", "context": object{"forwarded": true}})
	b.Equal(b.app.next().messageOf(t).child("context").boolean("forwarded"), true)
}

func TestAUserBehindAUsernameHasNoNumber(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/inbound", object{"bsuid": "US.13491208655302741918", "username": "Ann.b", "name": "Ann", "type": "text", "text": object{"body": "x"}})
	h := b.app.next()
	m := h.messageOf(t)
	b.True(!m.has("from"))
	b.Equal(m.text("from_user_id"), "US.13491208655302741918")
	c := asObject(h.value.list("contacts")[0])
	b.True(!c.has("wa_id"))
	b.Equal(c.text("user_id"), "US.13491208655302741918")
	b.Equal(c.child("profile").text("username"), "Ann.b")
	w, err := parseWamid(m.text("id"))
	b.NoErr(err)
	b.True(w.phone == "" && w.bsuid != "")

	b.settings(func(set *Settings) { set.ServiceWindow = true })
	b.sentID(b.send(object{"recipient": "US.13491208655302741918", "text": object{"body": "x"}}))
	st := b.app.next().statusOf(t)
	b.Equal(st.text("status"), "sent") // the window is open by id
	b.True(!st.has("recipient_id"))
}

func TestTheRealContentMayFollowUnderTheSameID(t *testing.T) {
	b := newBench(t)
	id := b.sim("POST", "/inbound", object{"from": "16505551234", "type": "unsupported", "error_code": 131060}).text("id")
	m := b.app.next().messageOf(t)
	e := asObject(m.list("errors")[0])
	b.Equal(e.text("code"), "131060")
	b.Equal(e.text("title"), "This message is unavailable.")
	again := b.sim("POST", "/inbound", object{"id": id, "from": "16505551234", "type": "text", "text": object{"body": "real"}}).text("id")
	b.Equal(again, id)
	b.Equal(b.app.next().messageOf(t).child("text").text("body"), "real")
	r := b.send(object{"status": "read", "message_id": id})
	b.Equal(r.status, 200)
}

func TestAChangedIdentityNamesTheOneBefore(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/inbound", object{"from": "16505551234", "text": "x"})
	old := b.app.next().messageOf(t).text("from_user_id")
	r := b.sim("POST", "/contacts/16505551234/identity", object{"phone_number": "+16505559876"})
	h := b.app.next()
	b.Equal(h.field, "messages")
	m := h.messageOf(t)
	b.Equal(m.text("from"), "16505551234")
	system := m.child("system")
	b.Equal(system.text("type"), "user_changed_number")
	b.Equal(system.text("wa_id"), "16505559876")
	b.Equal(system.text("previous_user_id"), old)
	b.Equal(system.text("user_id"), r.text("bsuid"))

	b.sim("POST", "/contacts/16505559876/identity", object{"bsuid": "US.42"})
	system = b.app.next().messageOf(t).child("system")
	b.Equal(system.text("type"), "user_changed_user_id")
	b.Equal(system.text("previous_user_id"), r.text("bsuid"))
	b.Equal(system.text("user_id"), "US.42")
}

func TestBeforeOctoberAChangedNumberIsToldTwice(t *testing.T) {
	b := newBench(t)
	b.sim("PATCH", "/settings", object{"as_of": "2026-09-30"})
	b.sim("POST", "/inbound", object{"from": "16505551234", "text": "x"})
	old := b.app.next().messageOf(t).text("from_user_id")
	r := b.sim("POST", "/contacts/16505551234/identity", object{"phone_number": "+16505559876"})
	b.Equal(r.text("phone_number"), "+16505559876")
	h := b.app.next()
	b.Equal(h.field, "user_id_update")
	u := asObject(h.value.list("user_id_update")[0])
	b.Equal(u.text("wa_id"), "16505559876")
	b.Equal(u.child("user_id").text("previous"), old)
	b.Equal(u.child("user_id").text("current"), r.text("bsuid"))
	b.True(old != r.text("bsuid"))
	system := b.app.next()
	b.True(!system.value.has("contacts"))
	m := system.messageOf(t)
	b.Equal(m.text("from"), "16505551234")
	b.Equal(m.child("system").text("type"), "user_changed_number")
	b.Equal(m.child("system").text("wa_id"), "16505559876")

	r = b.sim("POST", "/contacts/16505559876/identity", object{"bsuid": "US.42"})
	b.Equal(r.text("bsuid"), "US.42")
	u = asObject(b.app.next().value.list("user_id_update")[0])
	b.Equal(u.child("user_id").text("current"), "US.42")
	b.sim("POST", "/inbound", object{"from": "16505559876", "text": "x"})
	b.Equal(b.app.next().messageOf(t).text("from_user_id"), "US.42") // from now on
}

func TestAnEditOfAnOldMessageLeavesTheNewIDAlone(t *testing.T) {
	b := newBench(t)
	id := b.sim("POST", "/inbound", object{"from": "16505551234", "text": "x"}).text("id")
	b.app.next()
	b.sim("POST", "/contacts/16505551234/identity", object{"bsuid": "US.42"})
	b.app.next()
	b.sim("POST", "/messages/"+id+"/edit", object{"text": "y"})
	b.Equal(b.app.next().messageOf(t).text("from_user_id"), "US.42")
	b.sim("POST", "/inbound", object{"from": "16505551234", "text": "z"})
	b.Equal(b.app.next().messageOf(t).text("from_user_id"), "US.42")
}

func TestEchoesEditsAndRevokes(t *testing.T) {
	b := newBench(t)
	id := b.sim("POST", "/echo", object{"phone_number_id": b.number.PhoneNumberID, "to": "+16505551234", "type": "text", "text": object{"body": "from the phone"}}).text("id")
	h := b.app.next()
	b.Equal(h.field, "smb_message_echoes")
	echo := asObject(h.value.list("message_echoes")[0])
	b.Equal(echo.text("id"), id)
	b.Equal(echo.text("from"), "15550009999")
	b.Equal(echo.text("to"), "16505551234")
	b.Equal(echo.text("to_user_id"), bsuidFor("16505551234"))
	b.True(!b.s.ServiceWindowOpen(b.number.PhoneNumberID, "16505551234")) // echoes open nothing
	b.Equal(len(b.sim("GET", "/messages", nil).list("data")), 0)

	b.sim("POST", "/messages/"+id+"/edit", object{"text": "changed"})
	h = b.app.next()
	b.Equal(h.field, "smb_message_echoes")
	edit := asObject(h.value.list("message_echoes")[0])
	b.Equal(edit.child("edit").text("original_message_id"), id)
	b.Equal(edit.child("edit").child("message").child("text").text("body"), "changed")

	in := b.sim("POST", "/inbound", object{"from": "16505551234", "type": "image", "image": object{"data": base64.StdEncoding.EncodeToString(png), "caption": "old"}}).text("id")
	picture := b.app.next().messageOf(t).child("image").text("id")
	b.sim("POST", "/messages/"+in+"/edit", object{"text": "new"})
	m := b.app.next().messageOf(t)
	b.Equal(m.text("type"), "edit")
	inner := m.child("edit").child("message")
	b.Equal(inner.child("image").text("caption"), "new")
	b.Equal(inner.child("image").text("id"), picture)
	b.sim("POST", "/messages/"+in+"/revoke", nil)
	m = b.app.next().messageOf(t)
	b.Equal(m.child("revoke").text("original_message_id"), in)
	b.Equal(m.text("from"), "16505551234")
}

func TestInboundMediaByLinkIsFetched(t *testing.T) {
	files := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
		if r.URL.Path != "/a.png" {
			return answer(http.StatusNotFound)
		}
		res := answer(http.StatusOK)
		res.Header.Set("Content-Type", "application/octet-stream") // which says nothing
		res.Body = bodyOfBytes(png)
		return res
	})}
	b := newBench(t, func(o *Options) { o.Fetch = files.Do })
	body := object{"from": "16505551234", "type": "image", "image": object{"link": "https://x.y/a.png"}}
	b.sim("POST", "/inbound", body)
	id := b.app.next().messageOf(t).child("image").text("id")
	b.Equal(b.graph("GET", "/"+id, nil).text("mime_type"), "image/png")
	b.sim("POST", "/inbound", object{"from": "16505551234", "type": "image", "image": object{"id": id}})
	b.Equal(b.app.next().messageOf(t).child("image").text("id"), id)
	body["image"] = object{"link": "https://x.y/missing"}
	r := b.do("POST", "/_sim/inbound", body)
	b.Equal(r.status, 400)
	b.Equal(r.err().text("param"), "image.link")
}

func TestSenselessInboundsAreRefused(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		status int
		param  string
		body   object
	}{
		{400, "from", object{"text": "x"}},
		{400, "from", object{"from": "abc", "text": "x"}},
		{400, "bsuid", object{"bsuid": "abc", "text": "x"}},
		{400, "username", object{"from": "16505551234", "username": "A!", "text": "x"}},
		{400, "id", object{"from": "16505551234", "id": "", "text": "x"}},
		{400, "type", object{"from": "16505551234", "type": "poll"}},
		{400, "text", object{"from": "16505551234", "type": "text"}},
		{400, "text.body", object{"from": "16505551234", "text": object{}}},
		{400, "location", object{"from": "16505551234", "type": "location", "location": 5}},
		{400, "location.latitude", object{"from": "16505551234", "type": "location", "location": object{"latitude": "NaN", "longitude": 1}}},
		{400, "contacts", object{"from": "16505551234", "type": "contacts", "contacts": []object{}}},
		{400, "image.link", object{"from": "16505551234", "type": "image", "image": object{}}},
		{400, "image.data", object{"from": "16505551234", "type": "image", "image": object{"data": "!"}}},
		{400, "image.link", object{"from": "16505551234", "type": "image", "image": object{"link": "https://x.y"}}}, // nothing fetches links here
		{404, "", object{"from": "16505551234", "phone_number_id": "1", "text": "x"}},
		{404, "", object{"from": "16505551234", "type": "image", "image": object{"id": "1"}}},
	} {
		r := b.do("POST", "/_sim/inbound", tt.body)
		b.Equal(r.status, tt.status)
		b.Equal(r.err().text("param"), tt.param)
		b.True(r.err().text("message") != "")
	}
	b.Equal(b.do("POST", "/_sim/echo", object{"text": "x"}).err().text("param"), "to")
	b.Equal(b.do("POST", "/_sim/echo", object{"to": "x", "text": "x"}).err().text("param"), "to")
}

func TestUsernamesFollowTheProvidersRule(t *testing.T) {
	b := newBench(t)
	for name, want := range map[string]bool{
		"ann": true, "ann.b_1": true, "_a1": true, "an": false, "123": false, ".ann": false, "ann.": false, "a..b": false, "Ann": true,
	} {
		b.Equal(validUsername(name), want) // name
	}
}
