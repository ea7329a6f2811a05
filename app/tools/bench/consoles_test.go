package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"confab/app/tools/rig"
	"confab/storage"
)

func TestAConsoleReadsItsListAgainWhenItIsTold(t *testing.T) {
	asked := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console/api/stream", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "event: ready\ndata: {}\n\n", "event: changed\ndata: {\"kind\":\"label\",\"ids\":[]}\n\n",
			"event: changed\ndata: {\"kind\":\"conversation\",\"ids\":[]}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /console/api/v1/106/conversations", func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Cookie")
		fmt.Fprint(w, "{}")
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	defer web.CloseClientConnections()

	s := &server{Server: &rig.Server{Address: strings.TrimPrefix(web.URL, "http://")}, number: "106"}
	closeConsoles := s.openConsoles([]string{"session=1"}, 1)
	if got := <-asked; got != "session=1" {
		t.Errorf("the list was read by %q", got)
	}
	closeConsoles()
}

func TestNoWaitingJobRunsSoon(t *testing.T) {
	kinds, now := make(map[string]int), storage.Now()
	for n := range 300 {
		j := waitingJob(7, n, now)
		kinds[j.Kind]++
		if j.DueAt.Sub(now) < time.Hour {
			t.Errorf("job %d is due in %s", n, j.DueAt.Sub(now))
		}
	}
	if len(kinds) != 3 || kinds["send"] != 100 || kinds["send.later"] != 100 || kinds[storage.KindDeliver] != 100 {
		t.Error(kinds)
	}
}
