package simulator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// still is a simulator in virtual time, called without a network.
type still struct {
	*is.I
	t     *testing.T
	s     *Server
	n     Number
	hooks chan hook
}

func newStill(t *testing.T, stateFile string) *still {
	b := &still{I: is.New(t), t: t, hooks: make(chan hook, 1000)}
	client := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
		body, _ := io.ReadAll(r.Body)
		for _, h := range hooksIn(t, body) {
			b.hooks <- h
		}
		return answer(http.StatusOK)
	})}
	var err error
	b.s, err = New(Options{WebhookURL: "http://app/", CallbackClient: client, AccessToken: testToken, StateFile: stateFile})
	b.NoErr(err)
	if all := b.s.Numbers(); len(all) > 0 {
		b.n = all[0]
		return b
	}
	b.n, err = b.s.AddNumber(Number{})
	b.NoErr(err)
	return b
}

// post posts to an edge of the number and returns the status and the error.
func (b *still) post(edge, body string) (int, object) {
	r := httptest.NewRequest("POST", "/"+b.n.PhoneNumberID+"/"+edge, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+testToken)
	w := httptest.NewRecorder()
	b.s.ServeHTTP(w, r)
	var m map[string]any
	b.NoErr(decodeJSON(w.Body.Bytes(), &m))
	return w.Code, asObject(m["error"])
}

// send posts a text and returns the status and the error code.
func (b *still) send(to string) (int, string) {
	status, err := b.post("messages", `{"messaging_product":"whatsapp","to":"`+to+`","text":{"body":"x"}}`)
	return status, err.text("code")
}

// fate sends a text and returns the last status that comes of it.
func (b *still) fate(to string) string {
	b.t.Helper()
	status, code := b.send(to)
	b.Equal(status, 200)
	b.Equal(code, "")
	time.Sleep(time.Second)
	synctest.Wait()
	last := ""
	for len(b.hooks) > 0 {
		h := <-b.hooks
		if h.field == "messages" && h.value.has("statuses") {
			st := h.statusOf(b.t)
			last = st.text("status")
			if last == "failed" {
				last = asObject(st.list("errors")[0]).text("code")
			}
		}
	}
	return last
}

func TestTheServiceWindowIsOpenFor24Hours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		b.Equal(b.fate("16505551234"), "131047") // never wrote
		_, err := b.s.Inbound(map[string]any{"from": "+16505551234", "text": "hi"})
		b.NoErr(err)
		b.True(b.s.ServiceWindowOpen(b.n.PhoneNumberID, "+16505551234"))
		b.Equal(b.fate("16505551234"), "delivered")
		b.Equal(b.fate("16505559999"), "131047") // the window is each user's own
		time.Sleep(23*time.Hour + 59*time.Minute)
		b.Equal(b.fate("16505551234"), "delivered")
		time.Sleep(time.Minute)
		b.Equal(b.fate("16505551234"), "131047")
		b.True(!b.s.ServiceWindowOpen(b.n.PhoneNumberID, "+16505551234"))
	})
}

func TestThroughputIsLimitedPerNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		accepted := 0
		for i := range 100 {
			status, code := b.send("1650555" + randomDigits(4))
			if status == 200 {
				accepted++
				continue
			}
			b.Equal(status, 400)
			b.Equal(code, "130429")
			b.True(i >= 80)
		}
		b.Equal(accepted, 80)
		time.Sleep(time.Second)
		status, _ := b.send("16505551234")
		b.Equal(status, 200)

		_, err := b.s.AddNumber(Number{PhoneNumberID: b.n.PhoneNumberID, IsOnBizApp: true})
		b.NoErr(err)
		for accepted = 0; status == 200; accepted++ {
			status, _ = b.send("1650555" + randomDigits(4))
		}
		b.Equal(accepted-1, 20) // fewer beside the phone app
	})
}

func TestThePairLimitLendsFortyFive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		for range 45 {
			status, _ := b.send("16505551234")
			b.Equal(status, 200)
		}
		_, code := b.send("16505551234")
		b.Equal(code, "131056")
		status, _ := b.send("16505550000")
		b.Equal(status, 200) // another user
		time.Sleep(6 * time.Second)
		status, _ = b.send("16505551234")
		b.Equal(status, 200)
		_, code = b.send("16505551234")
		b.Equal(code, "131056")
	})
}

func TestMarketingStopsWhenTheUserSaysSo(t *testing.T) {
	b := newBench(t)
	_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("sale", "marketing"))
	b.NoErr(err)
	_, err = b.s.AddTemplate(b.number.WABAID, bodyTemplate("order", "utility"))
	b.NoErr(err)
	fate := func(name string) string {
		b.sentID(b.send(object{"to": "16505551234", "type": "template", "template": object{"name": name, "language": object{"code": "en_US"},
			"components": []object{{"type": "body", "parameters": []object{{"type": "text", "text": "x"}}}}}}))
		st := b.app.next().statusOf(t)
		if st.text("status") == "failed" {
			return asObject(st.list("errors")[0]).text("code")
		}
		return st.child("pricing").text("category") + " " + st.child("pricing").text("type")
	}
	b.Equal(fate("sale"), "marketing regular")
	b.sim("POST", "/contacts/+16505551234/preferences", object{"marketing": "stop"})
	h := b.app.next()
	b.Equal(h.field, "user_preferences")
	p := asObject(h.value.list("user_preferences")[0])
	b.Equal(p.text("value"), "stop")
	b.Equal(p.text("category"), "marketing_messages")
	b.Equal(p.text("wa_id"), "16505551234")
	b.True(!p.isText("timestamp")) // a number
	b.Equal(fate("sale"), "131050")
	b.Equal(fate("order"), "utility regular")
	b.sim("POST", "/contacts/16505551234/preferences", object{"marketing": "resume"})
	b.app.next()
	b.Equal(fate("sale"), "marketing regular")
	_, err = b.s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
	b.NoErr(err)
	b.app.next()
	b.Equal(fate("order"), "utility regular")
	b.sim("PATCH", "/settings", object{"as_of": "2026-09-30"})
	b.Equal(fate("order"), "utility free_customer_service")
}

// TestServiceMessagesAreFreeUpToAllowance, for each number and month; without a payment
// method those beyond are accepted and never delivered.
func TestServiceMessagesAreFreeUpToAllowance(t *testing.T) {
	b := newBench(t)
	_, err := b.s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
	b.NoErr(err)
	b.app.next()
	send := func() (id, billable string) {
		id = b.sentID(b.send(object{"to": "16505551234", "type": "text", "text": object{"body": "x"}}))
		return id, b.app.next().statusOf(t).child("pricing").text("billable")
	}
	b.sim("PATCH", "/settings", object{"service_allowance": 1, "pair_limit": false, "delivered_ms": nil})
	b.sentID(b.text("+1999000131026")) // fails
	b.Equal(b.app.next().statusOf(t).text("status"), "failed")
	echo := b.sim("POST", "/echo", object{"to": "16505551234", "text": "x"}).text("id")
	b.sim("POST", "/messages/"+echo+"/status", object{"status": "delivered"})
	b.app.next()
	b.app.next()
	fails, _ := send()
	b.sim("POST", "/messages/"+fails+"/status", object{"status": "failed"}) // after it was sent
	b.app.next()
	_, first := send()
	b.Equal(first, "false")
	id, second := send()
	b.Equal(second, "true")
	b.sim("POST", "/messages/"+id+"/status", object{"status": "delivered"})
	b.Equal(b.app.next().statusOf(t).text("status"), "delivered")

	b.sim("PATCH", "/settings", object{"payment_method": false})
	lost, _ := send()
	b.sim("POST", "/messages/"+lost+"/status", object{"status": "delivered"}) // of which nothing is heard
	b.sim("PATCH", "/settings", object{"as_of": "2026-09-30"})
	_, before := send()
	b.Equal(before, "false")
	b.Equal(b.s.Settings().AsOf, "2026-09-30")
}

func TestAllIsFreeFor72HoursAfterAnAd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newStill(t, "")
		defer b.s.Close()
		set := b.s.Settings()
		set.ServiceWindow, set.AsOf = false, "2026-10-01"
		b.NoErr(b.s.SetSettings(set))
		_, err := b.s.AddTemplate(b.n.WABAID, Template{Name: "sale", Language: "en_US", Category: "marketing",
			Components: []map[string]any{{"type": "BODY", "text": "Look."}}})
		b.NoErr(err)
		inbound := func(source string) {
			_, err := b.s.Inbound(map[string]any{"from": "16505551234", "text": "hi", "referral": map[string]any{"source_type": source}})
			b.NoErr(err)
		}
		price := func(content string) string {
			status, _ := b.post("messages", `{"messaging_product":"whatsapp","to":"16505551234",`+content+`}`)
			b.Equal(status, 200)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			for {
				if h := <-b.hooks; h.value.has("statuses") && h.statusOf(t).text("status") == "sent" {
					p, c := h.statusOf(t).child("pricing"), h.statusOf(t).child("conversation")
					return p.text("billable") + " " + p.text("category") + " " + p.text("type") + " " + c.child("origin").text("type")
				}
			}
		}
		text, template := `"text":{"body":"x"}`, `"type":"template","template":{"name":"sale","language":{"code":"en_US"}}`
		inbound("post")
		b.Equal(price(template), "true marketing regular ")
		inbound("ad")
		for range 2 {
			b.Equal(price(text), "false referral_conversion free_entry_point referral_conversion")
		}
		b.Equal(price(template), "false referral_conversion free_entry_point referral_conversion")
		time.Sleep(72 * time.Hour)
		b.Equal(price(template), "true marketing regular ")
		b.Equal(price(text), "false service free_customer_service ")
		b.Equal(b.s.world.Numbers[b.n.PhoneNumberID].Service, int64(1)) // only it used up the allowance
	})
}
