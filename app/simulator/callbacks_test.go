package simulator

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

func TestCallbackBytesAreASCIIAndSigned(t *testing.T) {
	b := newBench(t)
	_, err := b.s.Inbound(map[string]any{"from": "16505551234", "name": "Zoë 😀", "text": `a/b é "q" \ <&>` + "\n\u2028"})
	b.NoErr(err)
	p := b.app.nextPost()
	secret := []byte(b.s.Credentials().AppSecret)
	b.Equal(p.header.Get("X-Hub-Signature-256"), "sha256="+signature(sha256.New, secret, p.body))
	b.Equal(p.header.Get("X-Hub-Signature"), "sha1="+signature(sha1.New, secret, p.body))
	b.Equal(p.header.Get("Content-Type"), "application/json")
	for _, c := range p.body {
		b.True(c >= 0x20 && c < 0x7f) // printable ASCII only
	}
	for _, want := range []string{`a\/b \u00e9 \"q\" \\ <&>\n\u2028`, `Zo\u00eb \ud83d\ude00`} {
		b.True(strings.Contains(string(p.body), want)) // the provider's spelling
	}
	m := hooksIn(t, p.body)[0].messageOf(t)
	b.Equal(m.child("text").text("body"), `a/b é "q" \ <&>`+"\n\u2028") // and it means the same
}

func TestEscapingKeepsTheMeaning(t *testing.T) {
	is := is.New(t)
	for _, in := range []string{``, `/`, `\/`, `\\/`, "é", "😀", "a\u007fb", `\u00E9`, "\\", `"`} {
		var out string
		is.NoErr(json.Unmarshal(appendASCII(nil, marshal(in)), &out))
		is.Equal(out, in)
	}
}

// memory is a transport that hands requests to a function, so that a test can
// run in virtual time.
type memory func(*http.Request) *http.Response

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) { return m(r), nil }

func answer(status int) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(nil)), Header: http.Header{}}
}

func TestACallbackThatFailsIsRepeatedEverMoreSlowlyForSevenDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var at []time.Duration
		var bodies [][]byte
		began := time.Now()
		client := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
			body, _ := io.ReadAll(r.Body)
			at, bodies = append(at, time.Since(began)), append(bodies, body)
			return answer(http.StatusInternalServerError)
		})}
		s, err := New(Options{WebhookURL: "http://app/webhook", CallbackClient: client})
		is.NoErr(err)
		defer s.Close()
		_, err = s.AddNumber(Number{})
		is.NoErr(err)
		_, err = s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
		is.NoErr(err)
		time.Sleep(8 * 24 * time.Hour)
		synctest.Wait()

		sec := time.Second
		is.Equal(at[:7], []time.Duration{0, 1 * sec, 3 * sec, 7 * sec, 15 * sec, 30 * sec, 60 * sec})
		for i := 2; i < len(at); i++ {
			is.True(at[i]-at[i-1] >= at[i-1]-at[i-2]) // never faster again
			is.Equal(bodies[i], bodies[0])            // the same bytes
		}
		last := at[len(at)-1]
		is.True(last > 6*24*time.Hour && last <= 7*24*time.Hour) // then it stops
		s.mu.Lock()
		defer s.mu.Unlock()
		is.Equal(s.outbox.pending, 0)
		is.Equal(len(s.undelivered()), 0)
	})
}

func TestAReceiverThatRecoversGetsEverythingInBatchesOfAHundred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var mu sync.Mutex
		up := false
		var sizes []int
		ids := map[string]int{}
		client := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			if !up {
				return answer(http.StatusServiceUnavailable)
			}
			body, _ := io.ReadAll(r.Body)
			hooks := hooksIn(t, body)
			sizes = append(sizes, len(hooks))
			for _, h := range hooks {
				ids[h.messageOf(t).text("id")]++
			}
			return answer(http.StatusOK)
		})}
		s, err := New(Options{WebhookURL: "http://app/webhook", CallbackClient: client})
		is.NoErr(err)
		defer s.Close()
		_, err = s.AddNumber(Number{})
		is.NoErr(err)
		for range 250 {
			_, err := s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
			is.NoErr(err)
		}
		time.Sleep(20 * time.Second)
		mu.Lock()
		up = true
		mu.Unlock()
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(len(ids), 250)
		for _, n := range ids {
			is.Equal(n, 1) // each once
		}
		total := 0
		for _, n := range sizes {
			is.True(n <= 100)
			total += n
		}
		is.Equal(total, 250)
		is.True(len(sizes) < 50) // batched
	})
}

func TestOnlySubscribedAccountsAreToldOf(t *testing.T) {
	b := newBench(t)
	r := b.graph("DELETE", "/"+b.number.WABAID+"/subscribed_apps", nil)
	b.Equal(string(r.raw), `{"success":true}`)
	b.Equal(string(b.graph("GET", "/"+b.number.WABAID+"/subscribed_apps", nil).raw), `{"data":[]}`)
	b.sentID(b.text("16505551234"))
	b.Equal(b.graph("POST", "/"+b.number.WABAID+"/subscribed_apps", nil).status, 200)
	app := asObject(b.graph("GET", "/"+b.number.WABAID+"/subscribed_apps", nil).list("data")[0])
	b.Equal(app.child("whatsapp_business_api_data").text("id"), b.s.Credentials().AppID)
	id := b.sentID(b.text("16505551234"))
	b.Equal(b.app.next().statusOf(t).text("id"), id) // the first one was never posted
}

func TestOverridesGoNumberBeforeAccountBeforeApp(t *testing.T) {
	b := newBench(t)
	account, number := newReceiver(t), newReceiver(t)
	account.token.Store("wabasecret")
	r := b.graph("POST", "/"+b.number.WABAID+"/subscribed_apps", object{"override_callback_uri": account.url, "verify_token": "wrong"})
	b.Equal(r.err().text("code"), "2200") // the handshake failed
	r = b.graph("POST", "/"+b.number.WABAID+"/subscribed_apps", object{"override_callback_uri": account.url})
	b.Equal(r.err().text("code"), "100")
	r = b.graph("POST", "/"+b.number.WABAID+"/subscribed_apps", object{"override_callback_uri": account.url, "verify_token": "wabasecret"})
	b.Equal(r.status, 200)
	shown := asObject(b.graph("GET", "/"+b.number.WABAID+"/subscribed_apps", nil).list("data")[0])
	b.Equal(shown.text("override_callback_uri"), account.url)

	b.sentID(b.text("16505551234"))
	b.Equal(account.next().statusOf(t).text("status"), "sent")

	r = b.graph("POST", "/"+b.number.PhoneNumberID, object{"webhook_configuration": object{"override_callback_uri": number.url, "verify_token": "x"}})
	b.Equal(r.status, 200)
	b.sentID(b.text("16505551234"))
	b.Equal(number.next().statusOf(t).text("status"), "sent")
	hooks := b.graph("GET", "/"+b.number.PhoneNumberID+"?fields=webhook_configuration", nil).child("webhook_configuration")
	b.Equal(hooks.text("phone_number"), number.url)
	b.Equal(hooks.text("application"), b.app.url)

	// Updates about the account itself still go to the app.
	id, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	b.sim("POST", "/templates/"+id+"/review", object{"status": "PAUSED"})
	h := b.app.next()
	b.Equal(h.field, "message_template_status_update")
	b.True(h.time != nil)
}

func TestTheAppSubscribesWithAHandshake(t *testing.T) {
	b := newBench(t)
	other := newReceiver(t)
	other.token.Store("tok")
	path := "/" + b.s.Credentials().AppID + "/subscriptions"
	body := object{"object": "whatsapp_business_account", "callback_url": other.url, "verify_token": "tok", "fields": "messages"}
	b.Equal(b.graph("POST", path, body).err().text("code"), "15") // a user's token will not do
	appToken := "Bearer " + b.s.Credentials().AppID + "|" + b.s.Credentials().AppSecret
	bad := object{"object": "whatsapp_business_account", "callback_url": other.url, "verify_token": "no", "fields": "messages"}
	b.Equal(b.do("POST", path, bad, "Authorization", appToken).err().text("code"), "2200")
	b.Equal(b.do("POST", path, body, "Authorization", appToken).status, 200)
	for _, fields := range []any{[]string{"messages"}, `["messages"]`, "messages"} {
		body["fields"] = fields
		b.Equal(b.do("POST", path, body, "Authorization", appToken).status, 200)
		shown := asObject(b.do("GET", path, nil, "Authorization", appToken).list("data")[0])
		b.Equal(len(shown.list("fields")), 1) // and not all of them
	}
	body["fields"] = []string{"gossip"}
	b.Equal(b.do("POST", path, body, "Authorization", appToken).err().text("code"), "100")
	list := b.do("GET", path, nil, "Authorization", appToken)
	b.Equal(asObject(list.list("data")[0]).text("callback_url"), other.url)
	b.NoErr(b.s.VerifyWebhook(context.Background()))
	b.sentID(b.text("16505551234"))
	b.Equal(other.next().statusOf(t).text("status"), "sent")

	_, err := b.s.AddTemplate(b.number.WABAID, bodyTemplate("hello", "utility"))
	b.NoErr(err)
	b.sim("POST", "/templates/hello/review", object{"status": "PAUSED"})
	b.sim("POST", "/signup", object{"name": "Shop"})
	b.sentID(b.text("16505551234"))
	b.Equal(other.next().field, "messages") // templates and accounts were not subscribed to
}

func TestActivityIsOneLineEach(t *testing.T) {
	b := newBench(t)
	lines := make(chan string, 10)
	cancel := b.s.Subscribe(func(a Activity) { lines <- a.Arrow + " " + a.Who + " " + a.What })
	b.sentID(b.text("16505551234"))
	b.Equal(<-lines, "→ +16505551234 text")
	b.Equal(<-lines, "⇢ callback messages: 200")
	b.app.next()
	cancel()
	b.sentID(b.text("16505551234"))
	b.app.next()
	b.Equal(len(lines), 0)
}

func bodyOfBytes(b []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(b)) }

func TestCallbacksFollowTheAppWhenItMoves(t *testing.T) {
	b := newBench(t, saved(t))
	b.app.status.Store(http.StatusServiceUnavailable)
	id, err := b.s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
	b.NoErr(err)
	b.app.nextPost() // refused
	elsewhere := newReceiver(t)
	b.s.opt.WebhookURL = elsewhere.url
	b.NoErr(b.s.Close())
	s, err := New(b.s.opt) // as after a restart on another port
	b.NoErr(err)
	defer s.Close()
	b.Equal(elsewhere.next().messageOf(t).text("id"), id)
}

func TestAResetForgetsCallbacksInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		posts := 0
		client := &http.Client{Transport: memory(func(r *http.Request) *http.Response {
			posts++
			time.Sleep(time.Second)
			return answer(http.StatusInternalServerError)
		})}
		s, err := New(Options{WebhookURL: "http://app/webhook", CallbackClient: client})
		is.NoErr(err)
		defer s.Close()
		_, err = s.AddNumber(Number{})
		is.NoErr(err)
		for range 2 {
			_, err = s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
			is.NoErr(err)
			synctest.Wait()
		}
		_, err = s.controlReset(nil)
		is.NoErr(err)
		time.Sleep(time.Hour)
		synctest.Wait()
		is.Equal(posts, 1)
		_, err = s.Inbound(map[string]any{"from": "16505551234", "text": "hi"})
		is.NoErr(err)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		is.Equal(posts, 2) // later ones go out
		s.mu.Lock()
		defer s.mu.Unlock()
		is.Equal(s.outbox.pending, 1)
	})
}
