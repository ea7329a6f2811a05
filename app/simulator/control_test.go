package simulator

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTheListOfSendsIsFiltered(t *testing.T) {
	b := newBench(t)
	b.sentID(b.text("+16505551234"))
	b.sentID(b.send(object{"to": "16505550000", "type": "location", "location": object{"latitude": 1, "longitude": 2}, "biz_opaque_callback_data": "msg_2"}))
	for query, want := range map[string]int{
		"": 2, "?to=%2B16505551234": 1, "?to=16505551234": 1, "?type=location": 1, "?type=image": 0,
		"?biz_opaque_callback_data=msg_2": 1, "?phone_number_id=" + b.number.PhoneNumberID: 2, "?phone_number_id=1": 0,
	} {
		b.Equal(len(b.sim("GET", "/messages"+query, nil).list("data")), want) // query
	}
	b.app.next()
	b.app.next()
	first := asObject(b.sim("GET", "/messages", nil).list("data")[0])
	b.Equal(len(first), 7)
	b.Equal(first.text("to"), "+16505551234")
	b.Equal(first.text("type"), "text")
	b.Equal(first.text("status"), "sent")
	b.Equal(first.child("request").child("text").text("body"), "hello")
	b.True(strings.HasSuffix(first.text("created_at"), "Z"))
	b.sim("DELETE", "/messages", nil)
	b.Equal(string(b.sim("GET", "/messages", nil).raw), `{"data":[]}`+"\n")
}

func TestAnyStatusCanBeToldAnyTime(t *testing.T) {
	b := newBench(t)
	id := b.sentID(b.text("16505551234"))
	b.app.next()
	for _, status := range []string{"read", "delivered", "delivered", "played", "failed"} {
		b.sim("POST", "/messages/"+id+"/status", object{"status": status, "error_code": 131026})
		st := b.app.next().statusOf(t)
		b.Equal(st.text("status"), status)
		b.Equal(st.has("errors"), status == "failed")
	}
	b.Equal(asObject(b.sim("GET", "/messages", nil).list("data")[0]).text("status"), "failed")
	path := "/_sim/messages/" + id + "/status"
	b.Equal(b.do("POST", path, object{}).err().text("param"), "status")
	b.Equal(b.do("POST", path, object{"status": "lost"}).err().text("param"), "status")
	b.Equal(b.do("POST", path, object{"status": "failed", "error_code": 5}).err().text("param"), "error_code")
	b.Equal(b.do("POST", "/_sim/messages/wamid.x/status", object{"status": "read"}).status, 404)
	b.Equal(b.do("POST", "/_sim/messages/wamid.x/edit", object{"text": "x"}).status, 404)
	b.Equal(b.do("POST", "/_sim/messages/"+id+"/edit", object{}).err().text("param"), "text")
	b.Equal(b.do("POST", "/_sim/messages/wamid.x/revoke", nil).status, 404)
}

func TestSettingsArePatched(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/reset", nil)
	r := b.sim("GET", "/settings", nil)
	for key, want := range map[string]string{
		"sent_ms": "50", "delivered_ms": "200", "auto_read": "false", "service_window": "true", "template_review_ms": "2000",
		"template_verdict": "APPROVED", "messages_per_second": "80", "pair_limit": "true",
	} {
		b.Equal(r.text(key), want) // key
	}
	_, there := r.object["read_ms"]
	b.True(there && !r.has("read_ms")) // null
	r = b.sim("PATCH", "/settings", object{"sent_ms": nil, "read_ms": 500, "template_verdict": "rejected"})
	b.True(!r.has("sent_ms"))
	b.Equal(r.text("read_ms"), "500")
	b.Equal(r.text("template_verdict"), "REJECTED")
	b.Equal(r.text("delivered_ms"), "200") // untouched
	for param, body := range map[string]object{
		"sent_ms": {"sent_ms": -1}, "template_verdict": {"template_verdict": "MAYBE"},
		"messages_per_second": {"messages_per_second": -1}, "as_of": {"as_of": "soon"}, "service_allowance": {"service_allowance": -1}, "webhook_version": {"webhook_version": "new"},
		"": {"sent_ms": "soon"},
	} {
		r := b.do("PATCH", "/_sim/settings", body)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("param"), param)
	}
	b.Equal(b.do("PATCH", "/_sim/settings", object{}).status, 400)
}

func TestAnyPayloadCanBePosted(t *testing.T) {
	b := newBench(t)
	payload := object{"object": "whatsapp_business_account", "entry": []object{{"id": "1", "changes": []object{{"field": "history", "value": object{"x": "é/"}}}}}}
	b.Equal(string(b.sim("POST", "/callbacks", payload).raw), `{"status":200}`+"\n")
	p := b.app.nextPost()
	b.True(strings.Contains(string(p.body), `\u00e9\/`))
	b.app.status.Store(503)
	b.Equal(b.sim("POST", "/callbacks", payload).text("status"), "503")
	b.s.SetWebhook("")
	b.Equal(b.do("POST", "/_sim/callbacks", payload).status, 400)
	b.Equal(b.do("POST", "/_sim/callbacks", object{}).status, 400)
}

func TestNumbersAreAddedAndChanged(t *testing.T) {
	b := newBench(t)
	n := b.sim("POST", "/numbers", object{})
	for _, key := range []string{"phone_number_id", "waba_id", "display_phone_number", "verified_name"} {
		b.True(n.text(key) != "") // made up
	}
	b.Equal(n.text("status"), "CONNECTED")
	b.Equal(len(b.sim("GET", "/numbers", nil).list("data")), 2)
	same := b.sim("POST", "/numbers", object{"phone_number_id": n.text("phone_number_id"), "status": "FLAGGED", "pin": "123456"})
	b.Equal(same.text("status"), "FLAGGED")
	b.Equal(same.text("pin"), "123456")
	b.Equal(same.text("waba_id"), n.text("waba_id"))
	made := b.sim("POST", "/numbers", object{"phone_number_id": "42", "waba_id": "43", "display_phone_number": "+4930123456", "code_verification_status": "NOT_VERIFIED", "is_on_biz_app": true})
	b.Equal(made.text("display_phone_number"), "+4930123456")
	b.Equal(b.graph("GET", "/43/phone_numbers", nil).status, 200)
	for param, body := range map[string]object{
		"phone_number_id": {"phone_number_id": "x"}, "waba_id": {"waba_id": "42"}, "display_phone_number": {"display_phone_number": "+4930123456"},
		"status": {"status": "HAPPY"}, "pin": {"pin": "1"}, "code_verification_status": {"code_verification_status": "MAYBE"},
	} {
		b.Equal(b.do("POST", "/_sim/numbers", body).err().text("param"), param)
	}
	b.Equal(b.do("POST", "/_sim/numbers", object{"status": 5}).status, 400)
}

func TestResetForgetsPeopleAndMessagesButKeepsWhatClientsHold(t *testing.T) {
	b := newBench(t)
	id, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	_, err = b.s.Inbound(map[string]any{"from": "16505551234", "text": "x"})
	b.NoErr(err)
	b.app.next()
	b.sim("POST", "/faults", object{"kind": "timeout", "times": 0})
	b.sim("POST", "/reset", nil)
	b.True(!b.s.ServiceWindowOpen(b.number.PhoneNumberID, "16505551234"))
	b.Equal(len(b.sim("GET", "/faults", nil).list("data")), 0)
	b.Equal(b.graph("GET", "/"+id, nil).status, 200)
	b.Equal(b.graph("GET", "/"+b.number.PhoneNumberID, nil).status, 200)
}

func TestReviewsOfNothingAreNotFound(t *testing.T) {
	b := newBench(t)
	b.Equal(b.do("POST", "/_sim/templates/1/review", object{"status": "APPROVED"}).status, 404)
	b.Equal(b.do("POST", "/_sim/templates/1/review", object{"status": "GREAT"}).err().text("param"), "status")
	b.Equal(b.do("POST", "/_sim/templates/1/review", object{}).err().text("param"), "status")
	b.Equal(b.do("POST", "/_sim/contacts/x/preferences", object{"marketing": "stop"}).status, 404)
	b.Equal(b.do("POST", "/_sim/contacts/16505551234/preferences", object{"marketing": "more"}).err().text("param"), "marketing")
	b.Equal(b.do("POST", "/_sim/contacts/16505551234/identity", object{"bsuid": "x"}).err().text("param"), "bsuid")
	b.Equal(b.do("POST", "/_sim/contacts/16505551234/identity", object{"phone_number": "x"}).err().text("param"), "phone_number")
	b.Equal(b.do("POST", "/_sim/signup", object{"phone_number": "x"}).err().text("param"), "phone_number")
	b.Equal(b.do("POST", "/_sim/tokens", object{"state": "x"}).err().text("param"), "state")
	b.Equal(b.do("GET", "/_sim/nothing", nil).status, 404)
}

func TestTheControlSurfaceIsShutToStrangers(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Hosts = []string{"sim.example"} })
	b.Equal(b.do("GET", "/_sim/settings", nil, "Host", "evil.example").status, http.StatusForbidden)
	b.Equal(b.do("GET", "/_sim/settings", nil, "Host", "sim.example:80").status, 200)
	b.Equal(b.do("GET", "/_sim/settings", nil, "Host", "localhost:1").status, 200)
	b.Equal(b.do("POST", "/_sim/reset", nil, "Origin", "http://evil.example").status, http.StatusForbidden)
	b.Equal(b.do("POST", "/_sim/reset", nil, "Sec-Fetch-Site", "cross-site").status, http.StatusForbidden)
	b.Equal(b.do("POST", "/_sim/inbound", `{"from":"16505551234","text":"x"}`, "Content-Type", "text/plain").status, http.StatusUnsupportedMediaType)
	r := b.do("POST", "/_sim/inbound", `{`)
	b.Equal(r.status, 400)
	b.True(r.err().text("message") != "")
	b.Equal(b.do("POST", "/_sim/inbound", `null`).status, 400)
}

func TestOtherListenAddressesNeedAToken(t *testing.T) {
	b := newBench(t, func(o *Options) { o.ControlToken = "sesame" })
	b.Equal(b.do("GET", "/_sim/settings", nil).status, http.StatusUnauthorized)
	b.Equal(b.do("GET", "/_sim/settings", nil, "Authorization", "Bearer sesame").status, 200)
	for _, listen := range []string{"0.0.0.0:8081", ":8081", "192.168.1.5:80", "example.com:80"} {
		_, err := New(Options{Listen: listen})
		b.True(err != nil) // listen
	}
	for _, listen := range []string{"", "127.0.0.1:8081", "[::1]:80", "localhost:80"} {
		s, err := New(Options{Listen: listen})
		b.NoErr(err)
		b.NoErr(s.Close())
	}
}

func TestOnlyTheSendsThatAreNamedAreForgotten(t *testing.T) {
	b := newBench(t)
	id := b.sim("POST", "/inbound", object{"from": "16505551234", "text": "x"}).text("id")
	b.sentID(b.text("+16505551234"))
	b.sentID(b.text("+16505550000"))
	b.sentID(b.send(object{"to": "16505550000", "type": "location", "location": object{"latitude": 1, "longitude": 2}, "biz_opaque_callback_data": "msg_2"}))
	for _, tt := range []struct {
		query string
		left  int
	}{
		{"?to=nobody", 3}, {"?phone_number_id=1", 3}, {"?biz_opaque_callback_data=msg_2", 2}, {"?to=%2B16505551234&type=location", 2},
		{"?to=%2B16505551234", 1}, {"", 0},
	} {
		b.sim("DELETE", "/messages"+tt.query, nil)
		b.Equal(len(b.sim("GET", "/messages", nil).list("data")), tt.left) // query
	}
	b.Equal(b.send(object{"status": "read", "message_id": id}).status, 200) // what users wrote is still there
	b.sentID(b.text("+16505550000"))
	b.Equal(len(b.sim("GET", "/messages?to=nobody", nil).list("data")), 0)
}

func TestARefusedPatchChangesNothing(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/reset", nil)
	before := b.sim("GET", "/settings", nil)
	for _, body := range []object{{"sent_ms": -1}, {"delivered_ms": 1, "template_verdict": "MAYBE"}, {"sent_ms": 7, "delivered_ms": "soon"}} {
		b.Equal(b.do("PATCH", "/_sim/settings", body).status, 400)
		b.Equal(string(b.sim("GET", "/settings", nil).raw), string(before.raw))
	}
}

func TestAPayloadIsPostedAsItCame(t *testing.T) {
	b := newBench(t)
	b.Equal(b.do("POST", "/_sim/callbacks", `{"z":1.50,"object":"x", "a":12345678901234567890,"a":"é"}`).status, 200)
	b.Equal(string(b.app.nextPost().body), `{"z":1.50,"object":"x", "a":12345678901234567890,"a":"\u00e9"}`)
}

// A path may hold a token by mistake: the log names the route.
func TestTheLogShowsNoPath(t *testing.T) {
	is := is.New(t)
	var log bytes.Buffer
	s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
	mux := http.NewServeMux()
	mux.Handle("POST /_sim/people/{id}/read", s.handleControl(func(*Server, *controlCall) (any, error) { return nil, io.ErrUnexpectedEOF }))
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/_sim/people/EAAsecret/read", nil))
	is.True(strings.Contains(log.String(), "/_sim/people/{id}/read"))
	is.True(!strings.Contains(log.String(), "EAAsecret"))

	log.Reset()
	c := &call{s: s, w: httptest.NewRecorder(), r: httptest.NewRequest("GET", "/v23.0/EAAsecret/x", nil)}
	c.split(c.r.URL.EscapedPath())
	c.fail(io.ErrUnexpectedEOF)
	is.True(strings.Contains(log.String(), "unexpected EOF") && !strings.Contains(log.String(), "EAAsecret"))
}
