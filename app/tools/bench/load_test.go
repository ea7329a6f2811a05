package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"confab/app/tools/rig"
)

func TestALoadCountsWhatWasAnswered(t *testing.T) {
	var seen, status atomic.Int64
	status.Store(200)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.WriteHeader(int(status.Load()))
		w.Write([]byte("{}"))
	}))
	defer s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	request := func() []byte { return []byte("GET / HTTP/1.1\r\nHost: " + address + "\r\n\r\n") }
	r := load{address: address, connections: 4, length: 5 * time.Millisecond, request: request}.run()
	if n := int64(len(r.waits)); n < 4 || n != seen.Load() || r.perSecond <= 0 {
		t.Errorf("%d answers, %d requests, %f/s", n, seen.Load(), r.perSecond)
	}
	status.Store(404)
	if rig.Catch(func() { load{address: address, connections: 1, request: request}.run() }) == nil {
		t.Error("a wrong status was taken")
	}
}
