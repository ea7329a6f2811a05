package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"confab/app/tools/rig"
)

func TestReadAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		status int
		fails  bool
	}{
		"with a body":         {"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", 200, false},
		"without one":         {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, false},
		"cut in its body":     {"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}", 200, true},
		"cut in its headers":  {"HTTP/1.1 200 OK\r\nContent-", 0, true},
		"no HTTP at all":      {"hello\r\n\r\n", 0, true},
		"a length of letters": {"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			status, err := readAnswer(bufio.NewReader(strings.NewReader(tt.text)))
			if status != tt.status || (err != nil) != tt.fails {
				t.Errorf("%d, %v; want %d, fails: %t", status, err, tt.status, tt.fails)
			}
		})
	}
}

func TestALoadCountsWhatWasAnswered(t *testing.T) {
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.Write([]byte("{}"))
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	request := func() []byte { return []byte("GET / HTTP/1.1\r\nHost: " + address + "\r\n\r\n") }
	r := load{address: address, connections: 4, length: 5 * time.Millisecond, request: request}.run(t.Context())
	if n := int64(len(r.waits)); n < 4 || n != seen.Load() || r.perSecond <= 0 {
		t.Errorf("%d answers, %d requests, %f/s", n, seen.Load(), r.perSecond)
	}
	fails := func(ctx context.Context, l load) bool { return rig.Catch(func() { l.run(ctx) }) != nil }
	if !fails(t.Context(), load{address: address, connections: 1, status: 201, request: request}) {
		t.Error("a wrong status was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if !fails(ctx, load{address: address, connections: 1, length: time.Hour, request: request}) {
		t.Error("an interrupted measurement counts")
	}
}
