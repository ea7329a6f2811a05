package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"confab/app/tools/rig"
)

func TestReceiverCountsEachDeliveryOnce(t *testing.T) {
	s := httptest.NewServer(newEndpoint())
	defer s.Close()
	r := &receiver{&rig.Service{URL: s.URL}}
	post := func(body string) {
		t.Helper()
		res, err := http.Post(s.URL+"/hook", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	post(`{"text":"` + timestampedText() + `"}`)
	post(`{"text":"says not when"}`)
	got, err := r.await(2)
	if err != nil || got.Count != 2 || len(got.Waits) != 1 || got.Waits[0] < 0 {
		t.Errorf("%+v, %v", got, err)
	}
	post(`{}`)
	post(`{}`)
	if got, err := r.await(1); err == nil {
		t.Errorf("one too many is not noticed: %+v", got)
	}
	if got, err := r.await(0); err != nil || got.Count != 0 {
		t.Errorf("counted before: %+v, %v", got, err)
	}
}
