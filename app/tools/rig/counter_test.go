package rig

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestACounterCountsEachDeliveryOnce(t *testing.T) {
	s := httptest.NewServer(newCounter())
	defer s.Close()
	r := &Counter{&Service{URL: s.URL}}
	post := func(body string) {
		t.Helper()
		res, err := http.Post(s.URL+"/hook", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	post(`{"text":"` + TimestampedText() + `"}`)
	post(`{"text":"says not when"}`)
	got := r.Await(2)
	if got.Count != 2 || len(got.Waits) != 1 || got.Waits[0] < 0 {
		t.Errorf("%+v", got)
	}
	post(`{}`)
	post(`{}`)
	if Catch(func() { r.Await(1) }) == nil {
		t.Error("one too many is not noticed")
	}
	if got := r.Await(0); got.Count != 0 {
		t.Errorf("counted before: %+v", got)
	}
}
