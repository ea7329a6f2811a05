package rest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestTheSameRequestIsAnsweredAgainNotDoneAgain(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	first := f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
	again := f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
	is.Equal(first.status, 201)
	is.Equal(first.header.Get("Idempotent-Replayed"), "")
	is.Equal(again.status, 201)
	is.Equal(again.body, first.body)
	is.Equal(again.header.Get("X-Request-Id"), first.header.Get("X-Request-Id"))
	is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	is.Equal(again.header.Get("Content-Type"), "application/json")
	is.Equal(f.labels(), 1)

	f.restart()
	after := f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
	is.Equal(after.body, first.body)
	is.Equal(after.header.Get("Idempotent-Replayed"), "true")
	is.Equal(f.labels(), 1)
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`).code(), "400 invalid_field_value name") // without the key it is another one
}

func TestAnotherRequestMayNotUseTheKey(t *testing.T) {
	f := serve(t)
	f.mount(At("POST", "/others", WithBody(f.createLabel), Creates, nil))
	is.New(t).Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").status, 201)
	for name, target := range map[string][2]string{
		"another body": {"/labels", `{"name":"Other"}`}, "another path": {"/others", `{"name":"VIP"}`}, "another query": {"/labels?a=1", `{"name":"VIP"}`},
		"other spaces": {"/labels", `{"name": "VIP"}`}, "a space behind it": {"/labels", `{"name":"VIP"} `}, "no body": {"/labels", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := f.call("POST", target[0], target[1], "Idempotency-Key: a")
			is.Equal(got.code(), "422 idempotency_key_reuse")
			is.Equal(got.get("error.type"), "invalid_request_error")
			is.Equal(f.labels(), 1)
		})
	}
}

func TestAKeyIsTheOrganizationsOwn(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	other := storagetest.Seed(t, f.db, "Other")
	mine := f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
	theirs := f.callAs(other.Secret, "POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
	is.Equal(theirs.status, 201)
	is.Equal(theirs.header.Get("Idempotent-Replayed"), "")
	is.True(theirs.get("data.id") != mine.get("data.id"))
	is.Equal(theirs.get("data.team_id"), other.Team.PublicID)
	is.Equal(f.callAs(other.Secret, "POST", "/labels", `{"name":"Other"}`, "Idempotency-Key: b").status, 201)
	is.Equal(f.call("POST", "/labels", `{"name":"Mine"}`, "Idempotency-Key: b").status, 201)
}

func TestARefusalIsNotRemembered(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	is.Equal(f.call("POST", "/labels", `{"name":""}`, "Idempotency-Key: a").code(), "400 invalid_field_value name")
	is.Equal(f.call("POST", "/labels", `{`, "Idempotency-Key: a").code(), "400 invalid_json")
	f.update(func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").code(), "402 subscription_inactive")
	f.update(func(o *storage.Organization) { o.Subscription = storage.SubscriptionActive })
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").status, 201) // corrected, or permitted later

	f.update(func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").status, 201) // what was done stays answered
}

func TestOnlySuccessIsRemembered(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.mount(Route{Method: "POST", Path: "/moved", Handle: func(*Request) (Reply, error) {
		return Reply{Status: http.StatusSeeOther, Data: "elsewhere"}, nil
	}})
	for range 2 {
		got := f.call("POST", "/moved", `{}`, "Idempotency-Key: a")
		is.Equal(got.status, 303)
		is.Equal(got.header.Get("Idempotent-Replayed"), "")
	}
}

func TestAKeyHasPrintableCharacters(t *testing.T) {
	f := serve(t)
	all := ""
	for c := byte(0x20); c <= 0x7e; c++ {
		all += string(c)
	}
	tests := []struct {
		name, key string
		good      bool
	}{
		{"one character", "k", true}, {"255 characters", strings.Repeat("k", 255), true}, {"all of them", strings.TrimSpace(all), true},
		{"empty", "", false}, {"only a space", " ", false}, {"256 characters", strings.Repeat("k", 256), false}, {"a tab", "a\tb", false},
		{"an umlaut", "schlüssel", false}, {"an invalid byte", "a\xffb", false},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			got := f.call("POST", "/labels", fmt.Sprintf(`{"name":"%d"}`, i), "Idempotency-Key: "+tt.key)
			if tt.good {
				is.Equal(got.status, 201)
			} else {
				is.Equal(got.code(), "400 invalid_field_value Idempotency-Key")
			}
		})
	}
	is := is.New(t)
	is.Equal(f.labels(), 3)
	got := f.call("POST", "/labels", `{"name":"x"}`, "Idempotency-Key: a", "Idempotency-Key: b")
	is.Equal(got.code(), "400 invalid_field_value Idempotency-Key") // which of them would it be?
}

func TestOnlyAPostHasAnIdempotencyKey(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	path := "/labels/" + f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").text("data.id")
	is.Equal(f.call("PATCH", path, `{"name":"Very"}`, "Idempotency-Key: a").get("data.name"), "Very")
	is.Equal(f.call("PATCH", path, `{"name":"Most"}`, "Idempotency-Key: ").get("data.name"), "Most")
	is.Equal(f.call("GET", path, "", "Idempotency-Key: a").get("data.name"), "Most")
	is.Equal(f.call("DELETE", path, "", "Idempotency-Key: a").status, 200)
	is.Equal(f.call("DELETE", path, "", "Idempotency-Key: a").status, 404) // done again, not replayed
}

func TestSimultaneousTwinsMakeOneLabel(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	const twins = 24
	answers := make(chan answer, twins)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for range twins {
		all.Go(func() {
			<-begin
			answers <- f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
		})
	}
	close(begin)
	all.Wait()
	close(answers)
	ids, originals := make(map[any]bool), 0
	for got := range answers {
		switch {
		case got.status == 201:
			ids[got.get("data.id")] = true
			if got.header.Get("Idempotent-Replayed") == "" {
				originals++
			}
		default:
			is.Equal(got.code(), "409 idempotency_in_progress")
			is.Equal(got.get("error.type"), "conflict")
		}
	}
	is.Equal(f.labels(), 1)
	is.Equal(len(ids), 1)
	is.Equal(originals, 1)
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").header.Get("Idempotent-Replayed"), "true")
}

func TestAKeyInFlightIsBusy(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	entered, blocked := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	t.Cleanup(release) // or a failure would wait for ever
	f.mount(Route{Method: "POST", Path: "/slow", Handle: func(r *Request) (Reply, error) {
		entered <- struct{}{}
		<-blocked
		return Reply{}, NotFound()
	}})
	done := make(chan answer)
	go func() { done <- f.call("POST", "/slow", `{"a":1}`, "Idempotency-Key: a") }()
	<-entered
	is.Equal(f.call("POST", "/slow", `{"a":1}`, "Idempotency-Key: a").code(), "409 idempotency_in_progress")
	is.Equal(f.call("POST", "/slow", `{"a":2}`, "Idempotency-Key: a").code(), "422 idempotency_key_reuse")
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: b").status, 201) // other keys are free
	other := storagetest.Seed(t, f.db, "Other")
	is.Equal(f.callAs(other.Secret, "POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").status, 201)
	release()
	is.Equal((<-done).code(), "404 resource_not_found")
	f.api.inFlight.Range(func(key, _ any) bool {
		t.Error(key, "is in flight, though it landed and was refused")
		return true
	})
	is.Equal(f.call("POST", "/labels", `{"name":"New"}`, "Idempotency-Key: a").status, 201) // and the key is free again
}

func TestAKeyIsForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		first := f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a")
		time.Sleep(24*time.Hour - time.Millisecond)
		is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, "Idempotency-Key: a").body, first.body)
		time.Sleep(time.Millisecond)
		is.Equal(f.call("POST", "/labels", `{"name":"Other"}`, "Idempotency-Key: a").status, 201)
		is.Equal(f.call("POST", "/labels", `{"name":"Other"}`, "Idempotency-Key: a").header.Get("Idempotent-Replayed"), "true")
	})
}

func TestAnAnswerThatShowsASecretIsSealedAtRest(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	secret := func(r *Request) (Reply, error) {
		return f.api.Update(r, func(*storage.Tx) (Reply, error) {
			rep := Created(map[string]string{"secret": "whsec_not_for_the_disk"})
			rep.Secret = true
			return rep, nil
		})
	}
	plain := func(*Request) (Reply, error) { // writes nothing itself
		return Reply{Status: http.StatusAccepted, Data: "readable_on_the_disk"}, nil
	}
	f.mount(At("POST", "/secrets", secret, Creates, nil), At("POST", "/plain", plain, 0, nil))
	for path, text := range map[string]string{"/secrets": "whsec_not_for_the_disk", "/plain": "readable_on_the_disk"} {
		first := f.call("POST", path, `{}`, "Idempotency-Key: "+path)
		again := f.call("POST", path, `{}`, "Idempotency-Key: "+path)
		is.True(strings.Contains(first.body, text))
		is.Equal(again.body, first.body)
		is.Equal(again.status, first.status)
		is.Equal(again.header.Get("Idempotent-Replayed"), "true")
	}
	f.stop()
	onDisk := readDir(t, f.dir)
	is.True(!bytes.Contains(onDisk, []byte("whsec_not_for_the_disk")))
	is.True(bytes.Contains(onDisk, []byte("readable_on_the_disk"))) // so the search looks in the right place
}
