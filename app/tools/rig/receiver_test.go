package rig

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestReceiverCountsEachDeliveryOnce(t *testing.T) {
	s := httptest.NewServer(NewReceiver())
	defer s.Close()
	r := &Receiver{&Service{URL: s.URL}}
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
	got, err := r.Await(2)
	if err != nil || got.Count != 2 || len(got.Waits) != 1 || got.Waits[0] < 0 {
		t.Errorf("%+v, %v", got, err)
	}
	post(`{}`)
	post(`{}`)
	if got, err := r.Await(1); err == nil {
		t.Errorf("one too many is not noticed: %+v", got)
	}
	if got, err := r.Await(0); err != nil || got.Count != 0 {
		t.Errorf("counted before: %+v, %v", got, err)
	}
}
