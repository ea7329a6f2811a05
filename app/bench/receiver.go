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

	"confab/app/rig"
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

// tally is what a receiver tells of what it got.
type tally struct {
	Count   int             `json:"count"`
	Hanging int             `json:"hanging"` // were left without an answer
	Waits   []time.Duration `json:"waits"`
}

// await waits until so many deliveries have come since the last call, takes them
// off the count, and returns how long each had taken.
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

// mark begins the moment at which an event was caused, in its text.
const mark = "caused="

// marked is a text that tells when it was written.
func marked() string { return mark + strconv.FormatInt(time.Now().UnixNano(), 10) + "." }

// endpoint counts deliveries.
type endpoint struct {
	mu    sync.Mutex
	more  *sync.Cond
	tally tally
}

// receive serves /hook, which takes everything, and /hang, which answers nothing
// for as long as anybody waits.
func receive(args []string) error {
	flags := flag.NewFlagSet("receive", flag.ContinueOnError)
	listen := flags.String("listen", "", "address to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return (&http.Server{Addr: *listen, Handler: newEndpoint()}).ListenAndServe()
}

// newEndpoint serves an endpoint, and tells of what it got.
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
	if _, rest, ok := bytes.Cut(body, []byte(mark)); ok {
		stamp, _, _ := bytes.Cut(rest, []byte("."))
		if at, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			e.tally.Waits = append(e.tally.Waits, time.Since(time.Unix(0, at)))
		}
	}
	e.more.Broadcast()
}

// patience is how long deliveries may take before they count as lost.
const patience = 2 * time.Minute

func (e *endpoint) await(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	late := time.AfterFunc(patience, e.more.Broadcast)
	defer late.Stop()
	began := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.tally.Count < n && time.Since(began) < patience {
		e.more.Wait()
	}
	json.NewEncoder(w).Encode(e.tally)
	e.tally = tally{}
}
