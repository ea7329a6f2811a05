package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"

	"confab/app/tools/rig"
	"confab/jobs/webhook"
)

// How an endpoint answers.
const (
	modeTake   = ""       // 200
	modeRandom = "random" // 500 one time out of five
	modeFail   = "fail"
	modeHang   = "hang"
)

// receiver has the endpoints of webhooks. It checks and records each delivery.
type receiver struct {
	url string

	mu       sync.Mutex // guards what follows, by endpoint
	modes    map[string]string
	secrets  map[string][]string
	receipts map[string]map[string]*receipt // by delivery
	numbers  map[string]map[string]bool     // business numbers in the payloads

	uses     map[string]string            // endpoint and event of each delivery
	digests  map[string][sha256.Size]byte // of the payload of each event
	faults   map[string]int               // errors in deliveries, and how often each occurred
	statuses map[string][]string          // that native webhooks told, by the tags of messages
}

type receipt struct {
	event   string // webhook-id
	eventID string // X-Svc-Event-Id
	kind    string
	isTaken bool // answered with 2xx
}

var picture, _ = base64.StdEncoding.DecodeString(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

func startReceiver() *receiver {
	r := &receiver{
		modes:    map[string]string{},
		secrets:  map[string][]string{},
		receipts: map[string]map[string]*receipt{},
		numbers:  map[string]map[string]bool{},
		uses:     map[string]string{},
		digests:  map[string][sha256.Size]byte{},
		faults:   map[string]int{},
		statuses: map[string][]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hook/{endpoint}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.FormValue("hub.challenge")) })
	mux.HandleFunc("POST /hook/{endpoint}", r.receive)
	mux.HandleFunc("GET /picture.png", func(w http.ResponseWriter, _ *http.Request) { w.Write(picture) })

	listener := rig.Must(net.Listen("tcp", "127.0.0.1:0"))
	r.url = "http://" + listener.Addr().String()
	go http.Serve(listener, mux)
	return r
}

func (r *receiver) endpoint(name string) string { return r.url + "/hook/" + name }

func (r *receiver) picture() string { return r.url + "/picture.png" }

func (r *receiver) setMode(name, mode string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.modes[name] = mode
}

// addEndpoint adds an endpoint, which accepts deliveries signed by a secret.
func (r *receiver) addEndpoint(name, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[name] = append(r.secrets[name], secret)
	r.receipts[name], r.numbers[name] = map[string]*receipt{}, map[string]bool{}
}

// receive takes one delivery and answers as the mode of the endpoint says.
func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender is gone
	}

	switch r.record(req.PathValue("endpoint"), req.Header, body) {
	case modeFail:
		w.WriteHeader(http.StatusInternalServerError)
	case modeHang:
		<-req.Context().Done()
	}
}

// numberPattern finds the business numbers that a payload or an answer names.
var numberPattern = regexp.MustCompile(`"phone_number_id":"([0-9]+)"`)

// record records a delivery, checks it and returns how to answer it.
func (r *receiver) record(endpoint string, h http.Header, body []byte) (mode string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	mode = r.modes[endpoint]
	if mode == modeRandom {
		mode = modeTake
		if rand.IntN(5) == 0 {
			mode = modeFail
		}
	}

	if webhook.Verify(h.Get("X-Svc-Signature"), body, time.Now(), r.secrets[endpoint]...) != nil {
		r.faults["signature that does not verify"]++
	}

	delivery := h.Get("X-Svc-Delivery-Id")
	one := r.receipts[endpoint][delivery]
	if one == nil {
		one = &receipt{event: h.Get("webhook-id"), eventID: h.Get("X-Svc-Event-Id"), kind: h.Get("X-Svc-Event")}
		r.receipts[endpoint][delivery] = one
	}
	use := endpoint + " " + h.Get("webhook-id")
	if cmp.Or(r.uses[delivery], use) != use {
		r.faults["delivery id used for two things"]++
	}
	r.uses[delivery] = use
	if mode == modeTake {
		one.isTaken = true
		r.recordStatuses(endpoint, h.Get("X-Hub-Signature-256"), body)
	}

	digest := sha256.Sum256(body)
	if known, ok := r.digests[one.event]; ok && known != digest {
		r.faults["event with different bytes"]++
	}
	r.digests[one.event] = digest
	for _, match := range numberPattern.FindAllSubmatch(body, -1) {
		r.numbers[endpoint][string(match[1])] = true
	}
	return mode
}

// recordStatuses records the statuses in a native webhook, which has the provider's signature, by
// the tags of the messages.
func (r *receiver) recordStatuses(endpoint, signature string, body []byte) {
	if signature == "" {
		return
	}
	if signature != webhook.SignNative(body, r.secrets[endpoint][0]) {
		r.faults["provider's signature that does not verify"]++
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
		r.faults["native webhook that cannot be read"]++
	}
	for _, entry := range envelope.Entry {
		for _, change := range entry.Changes {
			for _, s := range change.Value.Statuses {
				r.statuses[s.Tag] = append(r.statuses[s.Tag], s.Status)
			}
		}
	}
}
