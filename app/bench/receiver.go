package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// receiver is an endpoint for webhooks in a process of its own.
type receiver struct {
	cmd *exec.Cmd
	URL string
}

// startReceiver runs this program once more, as an endpoint.
func startReceiver() (*receiver, error) {
	r := &receiver{cmd: exec.Command(os.Args[0], "-receive")}
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	r.URL = "http://" + string(bytes.TrimSpace([]byte(address)))
	return r, err
}

func (r *receiver) stop() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

// tally is what a receiver tells of what it got.
type tally struct {
	Count int             `json:"count"`
	Waits []time.Duration `json:"waits"`
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
	count int
	waits []time.Duration
}

// receive serves /hook, which takes everything, and /hang, which answers nothing.
func receive() error {
	e := &endpoint{}
	e.more = sync.NewCond(&e.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hook", e.hook)
	mux.HandleFunc("POST /hang", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /await", e.await)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return http.Serve(listener, mux)
}

func (e *endpoint) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count++
	if _, rest, ok := bytes.Cut(body, []byte(mark)); ok {
		stamp, _, _ := bytes.Cut(rest, []byte("."))
		if at, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			e.waits = append(e.waits, time.Since(time.Unix(0, at)))
		}
	}
	e.more.Broadcast()
}

func (e *endpoint) await(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	late := time.AfterFunc(time.Minute, e.more.Broadcast)
	defer late.Stop()
	began := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.count < n && time.Since(began) < time.Minute {
		e.more.Wait()
	}
	json.NewEncoder(w).Encode(tally{e.count, e.waits})
	e.count, e.waits = 0, nil
}
