package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"confab/app/tools/rig"
)

// receiver is an endpoint for webhooks in a process of its own.
type receiver struct{ *rig.Service }

// startReceiver runs this program once more, as an endpoint.
func (b *bench) startReceiver() (*receiver, error) {
	s, err := b.self.StartService("receive")
	if err != nil {
		return nil, err
	}
	return &receiver{s}, nil
}

// tally is what a receiver has counted.
type tally struct {
	Count   int             `json:"count"`
	Hanging int             `json:"hanging"` // deliveries that were left without an answer
	Waits   []time.Duration `json:"waits"`
}

// await waits until n deliveries have come since the last call, and returns how long
// each took. The next call counts from zero.
func (r *receiver) await(n int) (t tally, err error) {
	res, err := http.Get(r.URL + "/await?n=" + strconv.Itoa(n))
	if err != nil {
		return t, err
	}
	defer res.Body.Close()

	if err := json.NewDecoder(res.Body).Decode(&t); err != nil {
		return t, err
	}
	if t.Count != n {
		return t, fmt.Errorf("%d deliveries came, not %d", t.Count, n)
	}
	return t, nil
}

// timestampMark stands in the text of a message before the time at which it was written,
// so that the receiver can tell how long its event took.
const timestampMark = "caused="

// timestampedText returns a text that contains the current time.
func timestampedText() string {
	return timestampMark + strconv.FormatInt(time.Now().UnixNano(), 10) + "."
}

// endpoint counts deliveries.
type endpoint struct {
	mu    sync.Mutex
	more  *sync.Cond
	tally tally
}

// receive serves /hook, which accepts everything, and /hang, which never answers.
func receive(args []string) error {
	flags := flag.NewFlagSet("receive", flag.ContinueOnError)
	listen := flags.String("listen", "", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return (&http.Server{Addr: *listen, Handler: newEndpoint()}).ListenAndServe()
}

// newEndpoint makes the handler of an endpoint, with /await to read what it has counted.
func newEndpoint() http.Handler {
	e := &endpoint{}
	e.more = sync.NewCond(&e.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /hook", e.hook)
	mux.HandleFunc("POST /hang", e.hang)
	mux.HandleFunc("GET /await", e.await)
	return mux
}

func (e *endpoint) hang(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)

	e.mu.Lock()
	e.tally.Hanging++
	e.mu.Unlock()

	<-r.Context().Done()
}

func (e *endpoint) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	e.tally.Count++

	if _, rest, ok := bytes.Cut(body, []byte(timestampMark)); ok {
		stamp, _, _ := bytes.Cut(rest, []byte("."))
		if at, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			e.tally.Waits = append(e.tally.Waits, time.Since(time.Unix(0, at)))
		}
	}

	e.more.Broadcast()
}

// deliveryTimeout is how long deliveries may take before they count as lost.
const deliveryTimeout = 2 * time.Minute

func (e *endpoint) await(w http.ResponseWriter, r *http.Request) {
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
	e.tally = tally{}
}
