package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage/storageaudit"
	"confab/storage/storagetest"
)

// In the suite the campaigns are small. The full sizes, which take minutes, are asked for:
//
//	go test ./app/e2e -v -run TestABroadcastIsSentOnceWhateverIsKilled -broadcast-people 20000 -broadcast-kills 20
//	go test ./app/e2e -v -run TestADirectSendIsSentInTheMidstOfABroadcast -broadcast-people 100000 -broadcast-rate 80
//	go test ./app/e2e -v -run TestALargeFileOfContactsIsImported -import-lines 1000000
var (
	broadcastPeople = flag.Int("broadcast-people", 0, "how many recipients the broadcasts of the process tests have; 0 for few")
	broadcastKills  = flag.Int("broadcast-kills", 2, "how often the server is killed while it sends a broadcast")
	broadcastRate   = flag.Int("broadcast-rate", 0, "how many messages a second a number sends beside direct sends; 0 for no limit")
)

// campaign is a server in a process of its own, whose number has a template without fields.
type campaign struct {
	*server
	sim *simulated
}

// newCampaign starts one with more settings than those of every test. dir is where its data
// lie, "" for anywhere.
func newCampaign(t *testing.T, dir string, settings ...string) *campaign {
	t.Helper()
	s := &campaign{server: prepareServer(t)}
	if dir != "" {
		s.moveTo(dir)
	}
	s.sim = simulate(t, s.server)
	s.sim.do("PATCH", "/_sim/settings", `{"template_review_ms":0}`, nil)
	s.sim.connect(s.server)
	s.env = append(s.env, "CONFAB_PROVIDER__TIMEOUT=1s", "CONFAB_PROVIDER__RETRY_SCHEDULE=1s,1s,2s,2s,2s,2s,2s,2s", "CONFAB_LOG__LEVEL=error")
	s.env = append(s.env, settings...)
	s.start()
	made := s.mustSend("POST", "/v1/"+s.sim.Number+"/templates",
		`{"name":"news","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"There is news."}]}`)
	if made.status != 201 && made.status != 200 {
		t.Fatal(made.status, made.body)
	}
	return s
}

// number is the phone number of a recipient.
func number(n int) string { return fmt.Sprintf("+1555%07d", n) }

// upload posts a form with a file, and more fields as name and value.
func (s *campaign) upload(path, field, file string, fields ...string) reply {
	s.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			s.t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile(field, "people.csv")
	if err == nil {
		_, err = io.WriteString(part, file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.mustSend("POST", "/v1/"+s.sim.Number+path, body.String(), "Content-Type: "+form.FormDataContentType())
}

// broadcast begins a broadcast to numbers that come in a file, and returns its id.
func (s *campaign) broadcast(people int) string {
	s.t.Helper()
	var file strings.Builder
	file.WriteString("to\n")
	for n := range people {
		file.WriteString(number(n) + "\n")
	}
	made := s.upload("/broadcasts", "recipients", file.String(), "broadcast", `{"name":"News","template":{"name":"news","language":"en"}}`)
	if made.status != 201 {
		s.t.Fatal(made.status, made.body)
	}
	return made.body["data"].(map[string]any)["id"].(string)
}

// progress is the state of a broadcast.
type progress struct {
	Status       string         `json:"status"`
	PausedReason string         `json:"paused_reason"`
	Counts       map[string]int `json:"counts"`
}

// get reads what the API has under a path of the number.
func (s *campaign) get(path string, into any) {
	s.t.Helper()
	got := s.mustSend("GET", "/v1/"+s.sim.Number+path, "")
	text, err := json.Marshal(got.body["data"])
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || got.status != 200 {
		s.t.Fatal(got.status, got.body, err)
	}
}

func (s *campaign) progress(broadcast string) (p progress) {
	s.t.Helper()
	s.get("/broadcasts/"+broadcast, &p)
	return p
}

// complete waits until a broadcast has ended. It resumes one that was paused because of the
// template, as a person would.
func (s *campaign) complete(broadcast string, patience time.Duration) (p progress, resumed int) {
	s.t.Helper()
	ended := within(patience, func() bool {
		p = s.progress(broadcast)
		if p.Status == "paused" && s.mustSend("POST", "/v1/"+s.sim.Number+"/broadcasts/"+broadcast+"/resume", "").status == 200 {
			resumed++
		}
		return p.Status == "completed"
	})
	if !ended {
		s.t.Fatalf("the broadcast is %v: %s", p, s.output)
	}
	return p, resumed
}

// auditBroadcast compares the recipients of a broadcast with what the provider took, and the
// server, which it stops, with itself. Those that were sent to got one message, those that failed
// one at most.
func (s *campaign) auditBroadcast(broadcast string, people int) {
	s.t.Helper()
	is := is.New(s.t)
	copies := s.sim.copies()
	counts, seen, atProvider := make(map[string]int), make(map[string]bool), 0
	for path := "/v1/" + s.sim.Number + "/broadcasts/" + broadcast + "/recipients?limit=100"; path != ""; {
		page := s.mustSend("GET", path, "")
		for _, item := range page.body["data"].([]any) {
			r := item.(map[string]any)
			seen[r["to"].(string)] = true
			counts[r["status"].(string)]++
			id, _ := r["message_id"].(string)
			atProvider += copies[id]
			if n := copies[id]; n > 1 || n == 0 && r["status"] != "failed" {
				s.t.Errorf("the message of %s, which is %s, reached the provider %d times", r["to"], r["status"], n)
			}
		}
		path = ""
		if next, ok := page.body["next_cursor"].(string); ok {
			path = "/v1/" + s.sim.Number + "/broadcasts/" + broadcast + "/recipients?limit=100&cursor=" + next
		}
	}
	is.Equal(len(seen), people)       // no one was forgotten
	is.Equal(atProvider, len(copies)) // and no one else got one

	reported := s.progress(broadcast).Counts
	is.Equal(reported["total"], people)
	for _, status := range []string{"waiting", "sent", "delivered", "read", "failed", "skipped"} {
		is.Equal(reported[status], counts[status]) // the counts match the recipients
	}
	// A send that waited for a callback which has come looks once more, and ends.
	is.True(until(func() bool {
		return len(storagetest.Select[int](s.t, s.dir, `SELECT id FROM jobs WHERE kind = 'broadcast.send'`)) == 0
	}))
	is.NoErr(s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.ended
	found, err := storageaudit.Find(s.dir)
	is.NoErr(err)
	for _, one := range found {
		s.t.Error(one.Rule, one.Where)
	}
}

// TestABroadcastIsSentOnceWhateverIsKilled kills a server at random moments while it sends a
// broadcast, and the provider fails in every way meanwhile.
func TestABroadcastIsSentOnceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	people, kills := *broadcastPeople, *broadcastKills
	if people == 0 {
		people = 300
	}
	rate := max(60, people/(2*max(1, kills)))
	s := newCampaign(t, "", fmt.Sprint("CONFAB_PROVIDER__MESSAGES_PER_SECOND=", rate), "CONFAB_PROVIDER__RECONCILE_WINDOW=8s")
	for _, fault := range []string{
		`{"kind":"http_500","probability":0.02}`, `{"kind":"drop_connection","probability":0.02}`, `{"kind":"rate_limit","probability":0.02}`,
		`{"kind":"timeout","probability":0.005}`, `{"kind":"error_code","code":131026,"probability":0.01}`,
		`{"kind":"error_code","code":131026,"async":true,"probability":0.01}`, `{"kind":"error_code","code":131016,"probability":0.01}`,
		`{"kind":"error_code","code":132015,"times":2}`,
	} {
		s.sim.do("POST", "/_sim/faults", fault, nil)
	}

	broadcast, began := s.broadcast(people), time.Now()
	random := rand.New(rand.NewPCG(1, uint64(people)))
	for range kills {
		time.Sleep(time.Duration(100+random.IntN(1500)) * time.Millisecond) // any moment will do
		s.kill()
		s.start()
	}
	p, resumed := s.complete(broadcast, 2*time.Minute+time.Duration(people)*5*time.Millisecond)
	s.sim.do("DELETE", "/_sim/faults", "", nil)
	t.Logf("%d people, %d kills, %d pauses: %v in %s; the provider took %d", people, kills, resumed, p.Counts,
		time.Since(began).Round(time.Second), len(s.sim.copies()))
	s.auditBroadcast(broadcast, people)
}

// arrivals is a way to the provider that knows when each message came by, by whom it is to.
type arrivals struct {
	mu  sync.Mutex
	all map[string]time.Time
}

// watchSends puts arrivals between a server that is started anew and its provider.
func (s *campaign) watchSends() *arrivals {
	s.t.Helper()
	provider, err := url.Parse("http://" + s.sim.address)
	if err != nil {
		s.t.Fatal(err)
	}
	a := &arrivals{all: make(map[string]time.Time)}
	forward := httputil.NewSingleHostReverseProxy(provider)
	forward.Transport = &http.Transport{MaxIdleConnsPerHost: 256}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		body, err := io.ReadAll(r.Body)
		var message struct{ To string }
		if err == nil && strings.HasSuffix(r.URL.Path, "/messages") && json.Unmarshal(body, &message) == nil {
			a.mu.Lock()
			a.all["+"+strings.TrimPrefix(message.To, "+")] = now
			a.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	s.t.Cleanup(between.Close)
	s.kill()
	s.env = append(s.env, "CONFAB_PROVIDER__BASE_URL="+between.URL)
	s.start()
	return a
}

func (a *arrivals) of(to string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[to]
}

// TestADirectSendIsSentInTheMidstOfABroadcast sends messages by themselves while a broadcast
// runs. How long they take is printed, and judged only where the full size was asked for.
func TestADirectSendIsSentInTheMidstOfABroadcast(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	people, sends := *broadcastPeople, 100
	if people == 0 {
		people, sends = 2000, 5
	}
	s := newCampaign(t, "", fmt.Sprint("CONFAB_PROVIDER__MESSAGES_PER_SECOND=", *broadcastRate))
	at := s.watchSends()
	broadcast := s.broadcast(people)
	is.True(within(patience, func() bool { return s.progress(broadcast).Counts["sent"] > 0 }))
	var took []time.Duration
	for n := range sends {
		to := number(9_000_000 + n)
		began := time.Now()
		insistOnMessage(t, s.server, s.sim.Number, to, to)
		is.True(until(func() bool { return !at.of(to).IsZero() }))
		took = append(took, at.of(to).Sub(began))
	}
	p := s.progress(broadcast)
	is.True(p.Counts["waiting"] > 0) // it was in the midst
	slices.Sort(took)
	t.Logf("direct sends beside a broadcast of %d at %d/s (0: no limit): p50 %s, the longest of %d %s; %d sent meanwhile",
		people, *broadcastRate, took[len(took)/2].Round(time.Millisecond), len(took), took[len(took)-1].Round(time.Millisecond), p.Counts["sent"])
	if *broadcastPeople > 0 {
		is.True(took[len(took)-1] <= 500*time.Millisecond)
	}
}
