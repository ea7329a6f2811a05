package jobs_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/callback"
	"confab/jobs"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// world is a database with one connected number, jobs that run on it, and a
// provider that answers as the test wants. Its clock is virtual.
type world struct {
	t        *testing.T
	is       *is.I
	dir      string
	db       *storage.DB
	tenant   storagetest.Tenant
	account  storage.Account
	provider *played
	options  jobs.Options
	began    time.Time
	periodic []string      // the kinds that run by themselves
	workers  int           // that kinds share; 0 for 256
	poll     time.Duration // 0 for an hour
	stop     func()        // ends the runner
	handlers *jobs.Workers // what the runner runs

	postponed atomic.Int64 // runs of sends that were put off
	feeds     atomic.Int64 // runs of broadcasts

	said, firings, answered int // messages of people, and what rules did, of which tests know
}

// count counts runs by how they ended.
func (w *world) count(kind, outcome string, _ time.Duration) {
	if kind == "send" && outcome == "postponed" {
		w.postponed.Add(1)
	}
	if kind == "broadcast.run" {
		w.feeds.Add(1)
	}
}

const ladderJitter = 0.1

var ladder = []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute}

// bubble runs a test in a world whose runner has not started.
func bubble(t *testing.T, test func(w *world)) {
	t.Helper()
	bubbleWith(t, func(*storage.Options) {}, test)
}

// bubbleWith is bubble with a change to how the database is opened. Worlds are apart from
// each other, and run side by side.
func bubbleWith(t *testing.T, change func(*storage.Options), test func(w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, is: is.New(t), dir: t.TempDir(), provider: &played{}, began: time.Now()}
		where := storagetest.Options(t, w.dir)
		change(&where)
		db, err := storage.Open(where)
		w.is.NoErr(err)
		t.Cleanup(func() { w.is.NoErr(db.Close()) })
		w.db = db
		w.tenant = storagetest.Seed(t, w.db, "Acme")
		w.account = storagetest.Connect(t, w.db, w.tenant, "100200300")
		w.provider.answer = func(int, call) (*http.Response, error) { return accepted("wamid.1"), nil }
		w.options = jobs.Options{DB: w.db, Files: storagetest.Files(t, w.dir), Publisher: messaging.Publisher{PublicURL: "https://confab.test"}, Log: slog.New(slog.DiscardHandler), SendRetries: ladder, ReconcileWindow: 30 * time.Second}
		test(w)
	})
}

// kinds are all that the workers do, but of what runs by itself only these. A test that lasts
// for weeks of virtual time would else spend its time on jobs that it is not about.
func kinds(w *jobs.Workers, periodic ...string) []queue.Kind {
	return slices.DeleteFunc(w.Kinds(), func(k queue.Kind) bool { return k.Every > 0 && !slices.Contains(periodic, k.Name) })
}

// start runs the jobs until the test ends or w.stop is called.
func (w *world) start() {
	w.t.Helper()
	client, err := provider.New(provider.Options{BaseURL: "https://provider.test", Version: "v23.0", Transport: w.provider})
	w.is.NoErr(err)
	w.options.Provider = client
	w.handlers = jobs.New(w.options)
	runner := queue.New(queue.Options{DB: w.db, Kinds: kinds(w.handlers, w.periodic...), Workers: cmp.Or(w.workers, 256), Poll: cmp.Or(w.poll, time.Hour), Grace: time.Second, Log: w.options.Log, OnRun: w.count})
	w.handlers.Calls.Recovered = runner.Recovered()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	t := w.t
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	w.t.Cleanup(w.stop)
	synctest.Wait()
}

// queue accepts a message as the API does, and returns its id.
func (w *world) queue(to, kind, content string, change ...func(*storage.Message)) string {
	w.t.Helper()
	var m storage.Message
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		contact, err := tx.ContactByPhone(w.account.ID, to)
		if err != nil {
			contact = storage.Contact{AccountID: w.account.ID, PhoneNumber: &to}
			if err := tx.InsertContact(&contact); err != nil {
				return err
			}
		}
		conversation, err := tx.EnsureConversation(w.account.ID, contact.ID)
		if err != nil {
			return err
		}
		m = storage.Message{
			AccountID: w.account.ID, ConversationID: conversation.ID, ContactID: contact.ID, Direction: storage.Outbound,
			Type: kind, Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(content), PhoneNumber: &to,
			ContactPhone: contact.PhoneNumber,
		}
		for _, c := range change {
			c(&m)
		}
		if err := tx.InsertMessage(&m); err != nil {
			return err
		}
		return jobs.EnqueueSend(tx, storage.Key{}, m, json.RawMessage(content))
	})
	return m.ID
}

// text queues a text message.
func (w *world) text() string { return w.queue("+15550001111", "text", `{"body":"hi"}`) }

func (w *world) message(id string) (m storage.Message) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { m, err = rx.Message(w.account.ID, id); return err })
	return m
}

func (w *world) sender() (s storage.Sender) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { s, err = rx.Sender(w.account.ID); return err })
	return s
}

// events lists the events, as "type event-id".
func (w *world) events() (told []string) {
	w.t.Helper()
	for _, e := range w.stored() {
		told = append(told, e.Type+" "+e.EventID)
	}
	return told
}

func (w *world) stored() (all []storage.Event) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { all, err = rx.Events(w.tenant.Organization.ID, 1000); return err })
	return all
}

// jobs counts the send jobs that are left.
func (w *world) jobs() int {
	w.t.Helper()
	var all []storage.Job
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		all, err = rx.Jobs(storage.JobFilter{Kind: "send", Limit: 1000})
		return err
	})
	return len(all)
}

// failure is what the last event says of why a message failed.
func (w *world) failure() (id string, code int) {
	w.t.Helper()
	all := w.stored()
	var e struct {
		Entry []struct {
			Changes []struct {
				Value struct {
					Statuses []struct {
						ID, Status string
						Errors     []struct{ Code int }
					}
				}
			}
		}
	}
	w.is.NoErr(json.Unmarshal(all[len(all)-1].Payload, &e))
	status := e.Entry[0].Changes[0].Value.Statuses[0]
	w.is.Equal(status.Status, "failed")
	return status.ID, status.Errors[0].Code
}

// report posts a status callback, signed, for the world's number.
func (w *world) report(wamid, status, tag string) {
	w.t.Helper()
	w.callback("messages", fmt.Sprintf(`"statuses":[{"id":%q,"status":%q,"timestamp":"%d","recipient_id":"15550001111","biz_opaque_callback_data":%q}]`,
		wamid, status, time.Now().Unix(), tag))
}

// callback posts the items of a field, signed, for the world's number.
func (w *world) callback(field, items string) {
	w.t.Helper()
	body := `{"object":"whatsapp_business_account","entry":[{"id":"waba-100200300","changes":[{"field":"` + field + `","value":{
		"messaging_product":"whatsapp","metadata":{"display_phone_number":"1555100200300","phone_number_id":"100200300"},` + items + `}}]}]}`
	server := callback.New(callback.Options{DB: w.db, AppSecret: "s", VerifyToken: "v", Publisher: w.options.Publisher, Log: w.options.Log,
		WriteError: func(_ http.ResponseWriter, _ *http.Request, err error) { w.t.Error(err) }})
	mac := hmac.New(sha256.New, []byte("s"))
	mac.Write([]byte(body))
	r := httptest.NewRequest("POST", "/provider/webhook", bytes.NewReader([]byte(body)))
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	w.is.Equal(answer.Code, 200)
}

// call is a request to the provider.
type call struct {
	at   time.Time
	path string
	auth string
	body string
	done <-chan struct{} // the caller has stopped waiting
}

// tag is the message's id that the call carries.
func (c call) tag() string {
	var b struct {
		Tag string `json:"biz_opaque_callback_data"`
	}
	if json.Unmarshal([]byte(c.body), &b) != nil {
		return ""
	}
	return b.Tag
}

// played is a provider in memory. The answer gets the number of the call,
// from 1.
type played struct {
	answer func(n int, c call) (*http.Response, error)
	play   func(*http.Request) *http.Response // answers instead, if set
	pace   time.Duration                      // how long each piece of an upload takes; 0 for no time

	mu  sync.Mutex
	had []call
}

// RoundTrip implements http.RoundTripper.
func (p *played) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		in := io.Reader(r.Body)
		if p.pace > 0 && strings.HasSuffix(r.URL.Path, "/media") {
			in = &slowReader{r.Context(), in, p.pace}
		}
		var err error
		if body, err = io.ReadAll(in); err != nil {
			return nil, err
		}
	}
	c := call{time.Now(), r.URL.Path, r.Header.Get("Authorization"), string(body), r.Context().Done()}
	p.mu.Lock()
	p.had = append(p.had, c)
	n := len(p.had)
	p.mu.Unlock()
	if p.play != nil {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		return p.play(again), nil
	}
	return p.answer(n, c)
}

// slowReader reads a few bytes after each pause, until its context ends.
type slowReader struct {
	ctx   context.Context
	from  io.Reader
	pause time.Duration
}

// Read implements io.Reader.
func (s *slowReader) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.pause):
		return s.from.Read(p[:min(len(p), 16)])
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// calls lists the requests so far.
func (p *played) calls() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.had...)
}

// pauses are the times between the calls.
func (p *played) pauses() (all []time.Duration) {
	calls := p.calls()
	for i := 1; i < len(calls); i++ {
		all = append(all, calls[i].at.Sub(calls[i-1].at))
	}
	return all
}

func answered(status int, body string, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body))}
	for i := 0; i+1 < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

func accepted(wamid string) *http.Response {
	return answered(200, `{"messaging_product":"whatsapp","contacts":[{"input":"+15550001111","wa_id":"15550001111"}],"messages":[{"id":"`+wamid+`"}]}`)
}

// refusing is a provider's refusal with a code.
func refusing(status, code int, header ...string) *http.Response {
	return answered(status, fmt.Sprintf(`{"error":{"message":"(#%d) No","type":"OAuthException","code":%d,"error_data":{"messaging_product":"whatsapp","details":"Because of %d."},"fbtrace_id":"A"}}`, code, code, code), header...)
}

// hang never answers.
func hang(c call) (*http.Response, error) {
	<-c.done
	return nil, context.DeadlineExceeded
}

// deleteMessage removes a message whose job is waiting.
func deleteMessage(w *world, id string) {
	w.t.Helper()
	storagetest.Exec(w.t, w.dir, `DELETE FROM messages WHERE id = ?`, id)
}
