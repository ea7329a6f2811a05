package rig

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Counter is a receiver of webhooks in a process of its own. It counts what comes to /hook; what comes
// to /hang gets no answer.
type Counter struct{ *Service }

// StartCounter runs the program once more, as a counter.
func (p Program) StartCounter() *Counter { return &Counter{p.StartService("count")} }

// Tally is what has come.
type Tally struct {
	Count   int             // to /hook
	Waits   []time.Duration // how long they took
	Hanging int             // to /hang
}

// Await waits until n deliveries have come since the last call. The next call counts from zero.
func (c *Counter) Await(n int) (t Tally) {
	c.Call("GET", "/await?n="+strconv.Itoa(n), "", &t)
	Require(t.Count == n, "%d deliveries came, not %d", t.Count, n)
	return t
}

// TimestampMark is in the text of a message, before the time at which it was written,
// so that the counter knows how long its event took.
const TimestampMark = "caused="

// TimestampedText returns a text that contains the current time.
func TimestampedText() string {
	return TimestampMark + strconv.FormatInt(time.Now().UnixNano(), 10) + "."
}

// count is the process. The only argument is its address.
func count(args []string) { Check(http.ListenAndServe(args[0], newCounter())) }

// deliveryTimeout is how long deliveries may take before they count as lost.
const deliveryTimeout = 2 * time.Minute

func newCounter() http.Handler {
	var mu sync.Mutex
	var tally Tally

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /hook", func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the sender is gone
		}
		_, rest, _ := bytes.Cut(body, []byte(TimestampMark))
		stamp, _, _ := bytes.Cut(rest, []byte("."))
		at, err := strconv.ParseInt(string(stamp), 10, 64)

		mu.Lock()
		defer mu.Unlock()
		tally.Count++
		if err == nil {
			tally.Waits = append(tally.Waits, time.Since(time.Unix(0, at)))
		}
	})
	mux.HandleFunc("POST /hang", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		tally.Hanging++
		mu.Unlock()
		<-r.Context().Done()
	})

	mux.HandleFunc("GET /await", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		mu.Lock()
		defer mu.Unlock()
		for began := time.Now(); tally.Count < n && time.Since(began) < deliveryTimeout; mu.Lock() {
			mu.Unlock()
			time.Sleep(time.Millisecond)
		}
		json.NewEncoder(w).Encode(tally)
		tally = Tally{}
	})
	return mux
}
