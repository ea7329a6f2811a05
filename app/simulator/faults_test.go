package simulator

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// attempt posts a text with a client that may fail.
func (b *bench) attempt(limit time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.t.Cleanup(cancel)
	body := `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"x"}}`
	req, err := http.NewRequestWithContext(ctx, "POST", b.url+"/"+b.number.PhoneNumberID+"/messages", strings.NewReader(body))
	b.NoErr(err)
	req.Header.Set("Authorization", "Bearer "+testToken)
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}

func TestADroppedConnectionStillAcceptsTheMessage(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/faults", object{"kind": "drop_connection"})
	_, err := b.attempt(patience)
	b.True(errors.Is(err, io.EOF)) // hung up without an answer
	b.Equal(len(b.sim("GET", "/messages", nil).list("data")), 1)
	b.Equal(b.app.next().statusOf(t).text("status"), "sent")
	b.sentID(b.text("16505551234")) // only once
}

func TestATimeoutNeverAnswersAndAcceptsNothing(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/faults", object{"kind": "timeout"})
	_, err := b.attempt(time.Second) // in which it must arrive, or the fault strikes the next one
	b.True(errors.Is(err, context.DeadlineExceeded))
	b.Equal(len(b.sim("GET", "/messages", nil).list("data")), 0)
	b.sentID(b.text("16505551234"))
}

func TestFaultsStrikeWhereAndAsOftenAsTheySay(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/faults", object{"kind": "http_500", "times": 2})
	for _, want := range []int{500, 500, 200} {
		b.Equal(b.text("16505551234").status, want)
	}
	b.sim("POST", "/faults", object{"kind": "rate_limit"})
	b.Equal(b.text("16505551234").err().text("code"), "130429")
	b.sim("POST", "/faults", object{"kind": "rate_limit", "endpoint": "templates"})
	b.sentID(b.text("16505551234"))
	b.Equal(b.graph("GET", "/"+b.number.WABAID+"/message_templates", nil).err().text("code"), "80007")
	b.sim("POST", "/faults", object{"kind": "error_code", "code": 133004, "endpoint": "register"})
	b.Equal(b.graph("POST", "/"+b.number.PhoneNumberID+"/register", object{"messaging_product": "whatsapp", "pin": "123456"}).status, 503)
	b.sim("POST", "/faults", object{"kind": "error_code", "code": 190, "endpoint": "all"})
	b.Equal(b.graph("GET", "/"+b.number.PhoneNumberID, nil).status, 401)

	b.sim("POST", "/faults", object{"kind": "error_code", "code": 131000, "to": "+16505550001", "times": 0})
	b.sentID(b.text("16505551234"))
	b.Equal(b.text("16505550001").err().text("code"), "131000")
	b.Equal(b.text("+16505550001").err().text("code"), "131000") // without end
	b.sim("POST", "/faults", object{"kind": "http_500", "phone_number_id": "1"})
	b.sentID(b.text("16505551234"))
	b.sim("POST", "/faults", object{"kind": "http_500", "probability": 0})
	b.sentID(b.text("16505551234"))
	b.Equal(len(b.sim("GET", "/faults", nil).list("data")), 3)
	id := b.sim("POST", "/faults", object{"kind": "http_500", "probability": 1}).text("id")
	b.Equal(b.text("16505551234").status, 500)
	b.sim("DELETE", "/faults/"+id, nil)
	b.sentID(b.text("16505551234"))
	b.Equal(b.do("DELETE", "/_sim/faults/"+id, nil).status, 404)
	b.sim("DELETE", "/faults", nil)
	b.Equal(len(b.sim("GET", "/faults", nil).list("data")), 0)
}

// A code that is to strike a message waits for one: receipts and signs of typing come to
// the same address, and come when they please.
func TestAReceiptDoesNotUseUpTheCodeOfAMessage(t *testing.T) {
	b := newBench(t)
	asked := b.sim("POST", "/inbound", object{"from": "16505551234", "text": "hello"}).text("id")
	receipt := object{"status": "read", "message_id": asked}
	b.sim("POST", "/faults", object{"kind": "error_code", "code": 131026})
	b.Equal(b.send(receipt).status, 200)
	b.Equal(b.text("16505551234").err().text("code"), "131026")

	b.sim("POST", "/faults", object{"kind": "error_code", "code": 190, "endpoint": "all"})
	b.Equal(b.send(receipt).status, 401) // a fault for all calls is for this one too
}

func TestSenselessFaultsAreRefused(t *testing.T) {
	b := newBench(t)
	for param, body := range map[string]object{
		"kind": {}, "endpoint": {"kind": "timeout", "endpoint": "x"}, "code": {"kind": "error_code", "code": 5},
		"times": {"kind": "timeout", "times": -1}, "probability": {"kind": "timeout", "probability": 2},
		"async": {"kind": "timeout", "async": true},
	} {
		r := b.do("POST", "/_sim/faults", body)
		b.Equal(r.status, 400)
		b.Equal(r.err().text("param"), param)
	}
	b.Equal(b.do("POST", "/_sim/faults", object{"kind": "error_code"}).err().text("message"), "code is required.")
	b.sim("POST", "/faults", object{"kind": "error_code", "code": 0}) // which is a code, too
	b.Equal(asObject(b.sim("GET", "/faults", nil).list("data")[0]).text("code"), "0")
}

func TestAFaultConcernsAUserByID(t *testing.T) {
	b := newBench(t)
	b.sim("POST", "/faults", object{"kind": "http_500", "to": "US.123abc"})
	b.Equal(b.text("+1230000").status, 200)
	b.Equal(b.send(object{"recipient": "US.123abc", "text": object{"body": "x"}}).status, 500)
}

func TestAFaultConcernsWhatBelongsToANumber(t *testing.T) {
	b := newBench(t)
	other, err := b.s.AddNumber(Number{})
	b.NoErr(err)
	media := b.upload("/"+b.number.PhoneNumberID+"/media", "image/png", png, "messaging_product", "whatsapp").text("id")
	template, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	for endpoint, path := range map[string]string{
		"media": "/" + media, "templates": "/" + b.number.WABAID + "/message_templates", "all": "/" + template,
	} {
		b.sim("POST", "/faults", object{"kind": "http_500", "endpoint": endpoint, "phone_number_id": other.PhoneNumberID})
		b.Equal(b.graph("GET", path, nil).status, 200) // endpoint
		b.sim("POST", "/faults", object{"kind": "http_500", "endpoint": endpoint, "phone_number_id": b.number.PhoneNumberID})
		b.Equal(b.graph("GET", path, nil).status, 500) // endpoint
	}
}

// outcomeOfFault puts one fault in place, sends a message into it and says how
// the call ended. It calls the handler itself: over a connection a panic by
// mistake would look like one that hangs up on purpose.
func (b *bench) outcomeOfFault(f *fault) (outcome any) {
	b.s.mu.Lock()
	b.s.world.Faults = []*fault{f}
	b.s.mu.Unlock()

	ctx, cancel := context.WithTimeout(b.t.Context(), 50*time.Millisecond)
	defer cancel()
	body := `{"messaging_product":"whatsapp","to":"16505551234","text":{"body":"x"}}`
	r := httptest.NewRequestWithContext(ctx, "POST", "/"+b.number.PhoneNumberID+"/messages", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)

	defer func() {
		if p := recover(); p != nil {
			outcome = p
		}
	}()
	w := httptest.NewRecorder()
	b.s.ServeHTTP(w, r)
	return w.Code
}

func TestEveryKindOfFaultIsPlayed(t *testing.T) {
	want := map[string]any{
		"http_500": 500, "timeout": http.ErrAbortHandler, "drop_connection": http.ErrAbortHandler,
		"rate_limit": 400, "error_code": 503,
	}
	is.New(t).Equal(len(want), len(FaultKinds())) // each kind with what it should do
	for _, kind := range faultKindNames() {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t)
			f := &fault{Kind: kind, Endpoint: "messages"}
			if kind == "error_code" {
				code := 133004
				f.Code = &code
			}
			b.Equal(b.outcomeOfFault(f), want[kind])
		})
	}
}

func TestAFaultOfAnUnknownKindIsAnError(t *testing.T) {
	b := newBench(t)
	b.Equal(b.outcomeOfFault(&fault{Kind: "earthquake", Endpoint: "messages"}), 500)
}
