package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"time"

	"confab/jobs/webhook"
)

// receiverCommand is the first argument that makes this program a receiver.
const receiverCommand = "receive"

// How an endpoint behaves.
const (
	modeTake   = "take"   // answers 200
	modeRandom = "random" // fails one time out of five
	modeFail   = "fail"
	modeHang   = "hang"
)

// receipt is one delivery, and how often it was attempted.
type receipt struct {
	Endpoint string `json:"endpoint"`
	Delivery string `json:"delivery"`
	Event    string `json:"event"`    // webhook-id
	EventID  string `json:"event_id"` // X-Svc-Event-Id
	Type     string `json:"type"`
	Taken    int    `json:"taken"` // answered with 2xx
	Seen     int    `json:"seen"`
}

// findings are what a receiver has recorded.
type findings struct {
	Receipts []*receipt          `json:"receipts"`
	Numbers  map[string][]string `json:"numbers"` // business numbers named in the payloads, by endpoint
	Faults   map[string]int      `json:"faults"`  // errors in deliveries, and how often each occurred
}

// receiver is a set of endpoints.
type receiver struct {
	mu       sync.Mutex
	modes    map[string]string
	secrets  map[string][]string
	receipts map[string]*receipt
	digests  map[string]string // hash of the payload of each event
	numbers  map[string]map[string]bool
	faults   map[string]int
}

// receive serves endpoints until the process is killed.
func receive(args []string) error {
	flags := flag.NewFlagSet(receiverCommand, flag.ContinueOnError)
	listen := flags.String("listen", "", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}

	r := &receiver{
		modes:    map[string]string{},
		secrets:  map[string][]string{},
		receipts: map[string]*receipt{},
		digests:  map[string]string{},
		numbers:  map[string]map[string]bool{},
		faults:   map[string]int{},
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /hook/{endpoint}", r.receiveDelivery)
	mux.HandleFunc("PUT /mode/{endpoint}/{mode}", r.setMode)
	mux.HandleFunc("PUT /secret/{endpoint}", r.addSecret)
	mux.HandleFunc("GET /findings", r.serveFindings)
	mux.HandleFunc("GET /picture.png", func(w http.ResponseWriter, _ *http.Request) { w.Write(picture) })

	return (&http.Server{Addr: *listen, Handler: mux}).ListenAndServe()
}

func (r *receiver) setMode(_ http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.modes[req.PathValue("endpoint")] = req.PathValue("mode")
}

func (r *receiver) addSecret(_ http.ResponseWriter, req *http.Request) {
	secret, _ := io.ReadAll(req.Body)

	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint := req.PathValue("endpoint")
	r.secrets[endpoint] = append(r.secrets[endpoint], string(secret))
}

// hangFor is longer than the server waits for an answer.
const hangFor = 5 * time.Second

// receiveDelivery receives one delivery and answers as the mode of the endpoint says.
func (r *receiver) receiveDelivery(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender is gone
	}

	switch r.record(req, body) {
	case modeFail:
		w.WriteHeader(http.StatusInternalServerError)
	case modeHang:
		select {
		case <-req.Context().Done():
		case <-time.After(hangFor):
		}
		w.WriteHeader(http.StatusGatewayTimeout)
	}
}

var numberPattern = regexp.MustCompile(`"phone_number_id":"([0-9]+)"`)

// record records a delivery, checks it and returns how to answer it.
func (r *receiver) record(req *http.Request, body []byte) (mode string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	endpoint := req.PathValue("endpoint")

	mode = r.modes[endpoint]
	if mode == modeRandom {
		mode = modeTake
		if rand.IntN(5) == 0 {
			mode = modeFail
		}
	}

	if webhook.Verify(req.Header.Get("X-Svc-Signature"), body, time.Now(), r.secrets[endpoint]...) != nil {
		r.faults["signature that does not verify"]++
	}

	h := req.Header
	one := r.receipts[h.Get("X-Svc-Delivery-Id")]
	if one == nil {
		one = &receipt{
			Endpoint: endpoint,
			Delivery: h.Get("X-Svc-Delivery-Id"),
			Event:    h.Get("webhook-id"),
			EventID:  h.Get("X-Svc-Event-Id"),
			Type:     h.Get("X-Svc-Event"),
		}
		r.receipts[one.Delivery] = one
	}

	one.Seen++
	if mode == "" || mode == modeTake {
		one.Taken++
	}

	if one.Endpoint != endpoint || one.Event != h.Get("webhook-id") {
		r.faults["delivery id used for two things"]++
	}

	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	if known := r.digests[one.Event]; known != "" && known != digest {
		r.faults["event with different bytes"]++
	}
	r.digests[one.Event] = digest

	for _, match := range numberPattern.FindAllSubmatch(body, -1) {
		if r.numbers[endpoint] == nil {
			r.numbers[endpoint] = map[string]bool{}
		}
		r.numbers[endpoint][string(match[1])] = true
	}
	return mode
}

// serveFindings answers with everything that was recorded.
func (r *receiver) serveFindings(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := findings{Numbers: map[string][]string{}, Faults: r.faults}

	for _, one := range r.receipts {
		f.Receipts = append(f.Receipts, one)
	}
	for endpoint, numbers := range r.numbers {
		for number := range numbers {
			f.Numbers[endpoint] = append(f.Numbers[endpoint], number)
		}
	}

	if err := json.NewEncoder(w).Encode(f); err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
