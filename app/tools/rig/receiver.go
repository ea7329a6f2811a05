package rig

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
)

// ReceiveCommand is the first argument with which a program calls Receive.
const ReceiveCommand = "receive"

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
func (p Program) StartReceiver() (*Receiver, error) {
	s, err := p.StartService(ReceiveCommand)
	if err != nil {
		return nil, err
	}
	return &Receiver{s}, nil
}

// Tally is what came to /hook and /hang.
type Tally struct {
	Count   int             `json:"count"`
	Hanging int             `json:"hanging"` // deliveries that were left without an answer
	Waits   []time.Duration `json:"waits"`
}

// Await waits until n deliveries have come since the last call, and returns how long each
// took. The next call counts from zero.
func (r *Receiver) Await(n int) (t Tally, err error) {
	if err := r.Call("GET", "/await?n="+strconv.Itoa(n), "", &t); err != nil {
		return t, err
	}
	if t.Count != n {
		return t, fmt.Errorf("%d deliveries came, not %d", t.Count, n)
	}
	return t, nil
}

// Receipt is one delivery to an endpoint with a name, and how often it was attempted.
type Receipt struct {
	Endpoint string `json:"endpoint"`
	Delivery string `json:"delivery"`
	Event    string `json:"event"`    // webhook-id
	EventID  string `json:"event_id"` // X-Svc-Event-Id
	Type     string `json:"type"`
	Taken    int    `json:"taken"` // answered with 2xx
	Seen     int    `json:"seen"`
}

// Findings are what the endpoints with a name have recorded.
type Findings struct {
	Receipts []*Receipt          `json:"receipts"`
	Numbers  map[string][]string `json:"numbers"`  // business numbers in the payloads, by endpoint
	Faults   map[string]int      `json:"faults"`   // errors in deliveries, and how often each occurred
	Statuses map[string][]string `json:"statuses"` // that native webhooks told, by the tags of messages
}

// Findings returns everything that was recorded.
func (r *Receiver) Findings() (f Findings, err error) {
	return f, r.Call("GET", "/findings", "", &f)
}

// Endpoint returns the URL of an endpoint with a name.
func (r *Receiver) Endpoint(name string) string { return r.URL + "/hook/" + name }

// Picture returns the URL of a PNG.
func (r *Receiver) Picture() string { return r.URL + "/picture.png" }

// SetMode sets how an endpoint answers.
func (r *Receiver) SetMode(name, mode string) error {
	return r.Call("PUT", "/mode/"+name+"/"+mode, "", nil)
}

// AddSecret adds a signing secret that an endpoint accepts.
func (r *Receiver) AddSecret(name, secret string) error {
	return r.Call("PUT", "/secret/"+name, secret, nil)
}

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
