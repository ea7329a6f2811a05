package rig

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"confab/jobs/webhook"
)

// How an endpoint answers.
const (
	ModeTake   = "take"   // 200, as without a mode
	ModeRandom = "random" // 500 one time out of five
	ModeFail   = "fail"
	ModeHang   = "hang"
)

// Receiver is a set of endpoints for webhooks in a process of its own. It only counts what
// comes to /hook, and what comes to /hang gets no answer; an endpoint with a name checks and
// records each delivery.
type Receiver struct{ *Service }

// StartReceiver runs the program once more, as a receiver.
func (p Program) StartReceiver() *Receiver { return &Receiver{p.StartService("receive")} }

// Tally is what came to /hook and /hang.
type Tally struct {
	Count   int
	Hanging int // deliveries that were left without an answer
	Waits   []time.Duration
}

// Await waits until n deliveries have come since the last call, and returns how long each
// took. The next call counts from zero.
func (r *Receiver) Await(n int) (t Tally) {
	r.Call("GET", "/await?n="+strconv.Itoa(n), "", &t)
	if t.Count != n {
		Check(fmt.Errorf("%d deliveries came, not %d", t.Count, n))
	}
	return t
}

// Receipt is one delivery to an endpoint with a name, and how often it was attempted.
type Receipt struct {
	Endpoint string
	Delivery string
	Event    string // webhook-id
	EventID  string // X-Svc-Event-Id
	Type     string
	Taken    int // answered with 2xx
	Seen     int
}

// Findings are what the endpoints with a name have recorded.
type Findings struct {
	Receipts []*Receipt
	Numbers  map[string][]string // business numbers in the payloads, by endpoint
	Faults   map[string]int      // errors in deliveries, and how often each occurred
	Statuses map[string][]string // that native webhooks told, by the tags of messages
}

// Findings returns everything that was recorded.
func (r *Receiver) Findings() (f Findings) {
	r.Call("GET", "/findings", "", &f)
	return f
}

// Endpoint returns the URL of an endpoint with a name.
func (r *Receiver) Endpoint(name string) string { return r.URL + "/hook/" + name }

// Picture returns the URL of a PNG.
func (r *Receiver) Picture() string { return r.URL + "/picture.png" }

// SetMode sets how an endpoint answers.
func (r *Receiver) SetMode(name, mode string) { r.Call("PUT", "/mode/"+name+"/"+mode, "", nil) }

// AddSecret adds a signing secret that an endpoint accepts.
func (r *Receiver) AddSecret(name, secret string) { r.Call("PUT", "/secret/"+name, secret, nil) }

// TimestampMark is in the text of a message, before the time at which it was written,
// so that the receiver knows how long its event took.
const TimestampMark = "caused="

// TimestampedText returns a text that contains the current time.
func TimestampedText() string {
	return TimestampMark + strconv.FormatInt(time.Now().UnixNano(), 10) + "."
}

// Picture is a PNG of one pixel.
var Picture, _ = base64.StdEncoding.DecodeString(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

// receive serves endpoints at an address, the only argument, until the process is killed.
func receive(args []string) { Check(http.ListenAndServe(args[0], newReceiver())) }

// endpoints are those of one receiver.
type endpoints struct {
	mu    sync.Mutex
	more  *sync.Cond // when the tally has grown
	tally Tally

	modes    map[string]string
	secrets  map[string][]string
	receipts map[string]*Receipt
	digests  map[string][sha256.Size]byte // of the payload of each event
	found    Findings                     // without the receipts
}

// newReceiver makes the handler of a receiver.
func newReceiver() http.Handler {
	e := &endpoints{
		modes:    map[string]string{},
		secrets:  map[string][]string{},
		receipts: map[string]*Receipt{},
		digests:  map[string][sha256.Size]byte{},
		found:    Findings{Numbers: map[string][]string{}, Faults: map[string]int{}, Statuses: map[string][]string{}},
	}
	e.more = sync.NewCond(&e.mu)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /hook", e.count)
	mux.HandleFunc("POST /hang", e.hang)
	mux.HandleFunc("GET /await", e.await)
	mux.HandleFunc("GET /hook/{endpoint}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.FormValue("hub.challenge")) })
	mux.HandleFunc("POST /hook/{endpoint}", e.receive)
	mux.HandleFunc("PUT /mode/{endpoint}/{mode}", e.setMode)
	mux.HandleFunc("PUT /secret/{endpoint}", e.addSecret)
	mux.HandleFunc("GET /findings", e.serveFindings)
	mux.HandleFunc("GET /picture.png", func(w http.ResponseWriter, _ *http.Request) { w.Write(Picture) })
	return mux
}

// count counts a delivery, and how long ago its cause was.
func (e *endpoints) count(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender is gone
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.Count++

	if _, rest, ok := bytes.Cut(body, []byte(TimestampMark)); ok {
		stamp, _, _ := bytes.Cut(rest, []byte("."))
		if at, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			e.tally.Waits = append(e.tally.Waits, time.Since(time.Unix(0, at)))
		}
	}

	e.more.Broadcast()
}

func (e *endpoints) hang(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)

	e.mu.Lock()
	e.tally.Hanging++
	e.mu.Unlock()

	<-r.Context().Done()
}

// deliveryTimeout is how long deliveries may take before they count as lost.
const deliveryTimeout = 2 * time.Minute

func (e *endpoints) await(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))

	late := time.AfterFunc(deliveryTimeout, e.more.Broadcast)
	defer late.Stop()
	began := time.Now()

	e.mu.Lock()
	defer e.mu.Unlock()
	for e.tally.Count < n && time.Since(began) < deliveryTimeout {
		e.more.Wait()
	}

	json.NewEncoder(w).Encode(e.tally)
	e.tally = Tally{}
}

func (e *endpoints) setMode(_ http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.modes[r.PathValue("endpoint")] = r.PathValue("mode")
}

func (e *endpoints) addSecret(_ http.ResponseWriter, r *http.Request) {
	secret, _ := io.ReadAll(r.Body)

	e.mu.Lock()
	defer e.mu.Unlock()
	endpoint := r.PathValue("endpoint")
	e.secrets[endpoint] = append(e.secrets[endpoint], string(secret))
}

// hangFor is longer than the server waits for an answer.
const hangFor = 5 * time.Second

// receive takes one delivery and answers as the mode of the endpoint says.
func (e *endpoints) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender is gone
	}

	switch e.record(r, body) {
	case ModeFail:
		w.WriteHeader(http.StatusInternalServerError)
	case ModeHang:
		select {
		case <-r.Context().Done():
		case <-time.After(hangFor):
		}
		w.WriteHeader(http.StatusGatewayTimeout)
	}
}

// NumberPattern finds the business numbers that a payload or an answer names.
var NumberPattern = regexp.MustCompile(`"phone_number_id":"([0-9]+)"`)

// record records a delivery, checks it and returns how to answer it.
func (e *endpoints) record(r *http.Request, body []byte) (mode string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	endpoint, h := r.PathValue("endpoint"), r.Header

	mode = e.modes[endpoint]
	if mode == ModeRandom {
		mode = ModeTake
		if rand.IntN(5) == 0 {
			mode = ModeFail
		}
	}

	if webhook.Verify(h.Get("X-Svc-Signature"), body, time.Now(), e.secrets[endpoint]...) != nil {
		e.found.Faults["signature that does not verify"]++
	}

	one := e.receipts[h.Get("X-Svc-Delivery-Id")]
	if one == nil {
		one = &Receipt{
			Endpoint: endpoint,
			Delivery: h.Get("X-Svc-Delivery-Id"),
			Event:    h.Get("webhook-id"),
			EventID:  h.Get("X-Svc-Event-Id"),
			Type:     h.Get("X-Svc-Event"),
		}
		e.receipts[one.Delivery] = one
	}

	one.Seen++
	if mode == "" || mode == ModeTake {
		one.Taken++
		e.recordStatuses(endpoint, h.Get("X-Hub-Signature-256"), body)
	}

	if one.Endpoint != endpoint || one.Event != h.Get("webhook-id") {
		e.found.Faults["delivery id used for two things"]++
	}

	digest := sha256.Sum256(body)
	if known, ok := e.digests[one.Event]; ok && known != digest {
		e.found.Faults["event with different bytes"]++
	}
	e.digests[one.Event] = digest

	for _, match := range NumberPattern.FindAllSubmatch(body, -1) {
		if number := string(match[1]); !slices.Contains(e.found.Numbers[endpoint], number) {
			e.found.Numbers[endpoint] = append(e.found.Numbers[endpoint], number)
		}
	}
	return mode
}

// recordStatuses records the statuses in a native webhook, which has the provider's signature, by
// the tags of the messages.
func (e *endpoints) recordStatuses(endpoint, signature string, body []byte) {
	if signature == "" {
		return
	}
	if signature != ProviderSignature(e.secrets[endpoint][0], body) {
		e.found.Faults["provider's signature that does not verify"]++
	}

	var envelope struct {
		Entry []struct {
			Changes []struct {
				Value struct {
					Statuses []struct {
						Status string
						Tag    string `json:"biz_opaque_callback_data"`
					}
				}
			}
		}
	}
	if json.Unmarshal(body, &envelope) != nil {
		e.found.Faults["native webhook that cannot be read"]++
	}
	for _, entry := range envelope.Entry {
		for _, change := range entry.Changes {
			for _, s := range change.Value.Statuses {
				e.found.Statuses[s.Tag] = append(e.found.Statuses[s.Tag], s.Status)
			}
		}
	}
}

// ProviderSignature is how the provider signs a callback: the value of X-Hub-Signature-256.
func ProviderSignature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// serveFindings answers with everything that was recorded.
func (e *endpoints) serveFindings(w http.ResponseWriter, _ *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.found
	all.Receipts = slices.Collect(maps.Values(e.receipts))
	json.NewEncoder(w).Encode(all)
}
