package simulator

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"
)

// patience is how long a test waits for something that should come at once.
const patience = time.Minute

// hook is one update of a callback, as a receiver saw it.
type hook struct {
	account string
	field   string
	time    any
	value   object
}

// post is one request that a receiver saw.
type post struct {
	header http.Header
	body   []byte
}

// receiver plays the app's webhook.
type receiver struct {
	t      *testing.T
	url    string
	status atomic.Int64
	token  atomic.Value
	posts  chan post
	hooks  chan hook
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, posts: make(chan post, 10_000), hooks: make(chan hook, 100_000)}
	r.status.Store(http.StatusOK)
	r.token.Store("")
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/webhook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet {
		if token := r.token.Load().(string); token != "" && req.FormValue("hub.verify_token") != token {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		io.WriteString(w, req.FormValue("hub.challenge"))
		return
	}
	body, _ := io.ReadAll(req.Body)
	r.posts <- post{req.Header.Clone(), body}
	status := int(r.status.Load())
	w.WriteHeader(status)
	if status == http.StatusOK {
		for _, h := range hooksIn(r.t, body) {
			r.hooks <- h
		}
	}
}

// hooksIn takes a payload apart.
func hooksIn(t *testing.T, body []byte) []hook {
	t.Helper()
	var payload struct {
		Object string
		Entry  []struct {
			ID      string
			Time    any
			Changes []struct {
				Field string
				Value map[string]any
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&payload); err != nil {
		t.Errorf("callback is no JSON: %v\n%s", err, body)
		return nil
	}
	var all []hook
	for _, entry := range payload.Entry {
		for _, change := range entry.Changes {
			all = append(all, hook{entry.ID, change.Field, entry.Time, change.Value})
		}
	}
	return all
}

// next waits for the next update that was delivered.
func (r *receiver) next() hook {
	r.t.Helper()
	select {
	case h := <-r.hooks:
		return h
	case <-time.After(patience):
		r.t.Fatal("no callback came")
		return hook{}
	}
}

// nextPost waits for the next request, delivered or not.
func (r *receiver) nextPost() post {
	r.t.Helper()
	select {
	case p := <-r.posts:
		return p
	case <-time.After(patience):
		r.t.Fatal("no callback was tried")
		return post{}
	}
}

// status returns the one status that an update carries.
func (h hook) statusOf(t *testing.T) object {
	t.Helper()
	list := h.value.list("statuses")
	if len(list) != 1 {
		t.Fatalf("not one status: %v", h.value)
	}
	return asObject(list[0])
}

// message returns the one message that an update carries.
func (h hook) messageOf(t *testing.T) object {
	t.Helper()
	list := h.value.list("messages")
	if len(list) != 1 {
		t.Fatalf("not one message: %v", h.value)
	}
	return asObject(list[0])
}

// bench is a simulator, served, with one number and a receiver.
type bench struct {
	*is.I
	t      *testing.T
	s      *Server
	url    string
	app    *receiver
	number Number
}

const testToken = "EAAtest"

// set up a simulator whose callbacks come at once and whose limits are off.
func newBench(t *testing.T, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{I: is.New(t), t: t, app: newReceiver(t)}
	opt := Options{WebhookURL: b.app.url, AccessToken: testToken, AppID: "777000111222333", AppSecret: "shh", VerifyToken: "verify-me"}
	for _, f := range change {
		f(&opt)
	}
	s, err := New(opt)
	b.NoErr(err)
	b.s = s
	t.Cleanup(func() { s.Close() })
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	b.url = server.URL
	b.number, err = s.AddNumber(Number{DisplayPhoneNumber: "+1 555 000 9999", VerifiedName: "Acme"})
	b.NoErr(err)
	b.settings(func(set *Settings) {
		zero := int64(0)
		set.SentMS, set.DeliveredMS, set.ReadMS = &zero, nil, nil
		set.ServiceWindow, set.PairLimit, set.MessagesPerSecond = false, false, 0
	})
	return b
}

func (b *bench) settings(change func(*Settings)) {
	b.t.Helper()
	set := b.s.Settings()
	change(&set)
	b.NoErr(b.s.SetSettings(set))
}

// reply is an answer, decoded.
type reply struct {
	status int
	header http.Header
	raw    []byte
	object
}

// err returns the error in the envelope.
func (r reply) err() object { return r.child("error") }

// do makes a request; a body that is not a string is sent as JSON.
func (b *bench) do(method, path string, body any, header ...string) reply {
	b.t.Helper()
	var reader io.Reader
	kind := "application/json"
	switch v := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(v)
	case []byte:
		reader, kind = bytes.NewReader(v), "application/octet-stream"
	default:
		raw, err := json.Marshal(v)
		b.NoErr(err)
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, b.url+path, reader)
	b.NoErr(err)
	if reader != nil {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	b.NoErr(err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	b.NoErr(err)
	out := reply{status: res.StatusCode, header: res.Header, raw: raw}
	var m map[string]any
	if decodeJSON(raw, &m) == nil {
		out.object = m
	}
	return out
}

// graph makes an authorized request to the provider.
func (b *bench) graph(method, path string, body any) reply {
	b.t.Helper()
	return b.do(method, "/v23.0"+path, body, "Authorization", "Bearer "+testToken)
}

// sim makes a request to the control surface that must succeed.
func (b *bench) sim(method, path string, body any) reply {
	b.t.Helper()
	r := b.do(method, "/_sim"+path, body)
	if r.status != http.StatusOK {
		b.t.Fatalf("%s %s: %d %s", method, path, r.status, r.raw)
	}
	return r
}

// text sends a text and returns the answer.
func (b *bench) text(to string) reply {
	b.t.Helper()
	return b.send(object{"to": to, "type": "text", "text": object{"body": "hello"}})
}

// send sends a message with the parts that all have.
func (b *bench) send(message object) reply {
	b.t.Helper()
	message["messaging_product"] = "whatsapp"
	return b.graph("POST", "/"+b.number.PhoneNumberID+"/messages", message)
}

// sentID is the id of an accepted message.
func (b *bench) sentID(r reply) string {
	b.t.Helper()
	if r.status != http.StatusOK {
		b.t.Fatalf("not accepted: %d %s", r.status, r.raw)
	}
	return asObject(r.list("messages")[0]).text("id")
}

// bodyTemplate is a template with one variable.
func bodyTemplate(name, category string) Template {
	return Template{Name: name, Language: "en_US", Category: category, Components: []map[string]any{
		{"type": "BODY", "text": "Hello {{1}}, welcome.", "example": map[string]any{"body_text": [][]string{{"Ann"}}}},
	}}
}
