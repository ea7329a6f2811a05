package e2e

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	consoleapi "confab/app/console/api"
	"confab/storage"
	"confab/storage/storagetest"
)

// trace reads a message's trace in the console.
func (b *browser) trace(id string) (t consoleapi.TraceView) {
	b.s.t.Helper()
	got := b.open("GET", "/console/api/trace/"+id, nil)
	var envelope struct{ Data consoleapi.TraceView }
	err := json.Unmarshal([]byte(got.body), &envelope)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasSuffix(wrong.Field, "latency_ms") {
		err = nil // it is only written; all else was read
	}
	if err != nil || got.status != 200 {
		b.s.t.Fatalf("%d %s", got.status, got.body)
	}
	return envelope.Data
}

// kinds are the kinds of a trace's entries, in their order.
func kindsOf(t consoleapi.TraceView) (kinds []string) {
	for _, e := range t.Entries {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func TestATraceIsComplete(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable, retrying)
	number := s.connect()
	hook := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Attempt") == "1" {
			http.Error(w, "not now", http.StatusServiceUnavailable)
		}
	})
	s.subscribe(hook.URL, `"message.sent"`)
	s.fault(`{"kind":"http_500","times":1}`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hello"}`)
	s.await(number, id, isStatus("read"))
	is.True(until(func() bool { return len(s.deliveries("status=succeeded")) == 1 }))

	b := s.browser()
	_, link := s.invitePerson("ada@example.com", storage.RoleAdmin)
	b.open("POST", link, map[string][]string{"name": {"Ada"}, "password": {goodPassword}})
	trace := b.trace(id)
	kinds := kindsOf(trace)
	is.Equal(kinds[:5], []string{"call", "stored", "try", "accepted", "event"})
	for kind, n := range map[string]int{"callback": 3, "event": 4, "attempt": 2, "try": 1} {
		is.Equal(len(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k != kind })), n)
	}
	is.True(trace.Complete)
	is.Equal(trace.LeftOut, 0)

	// The call, the answers and the gaps are those that were.
	is.Equal(trace.Entries[0].Call.RequestID, *trace.RequestID)
	is.Equal(*trace.Entries[0].Call.MadeID, id)
	is.Equal(trace.Entries[0].GapMS, nil)
	try := trace.Entries[2]
	is.True(try.Failed && *try.Try.HTTPStatus == 500 && strings.Contains(*try.Body, `"code":2`))
	is.Equal(trace.Entries[3].Try.Try, 2)
	is.Equal([]string{trace.Entries[3].Status.From, trace.Entries[3].Status.To}, []string{"pending", "sent"})
	for i, e := range trace.Entries[1:] {
		is.True(*e.GapMS >= 0)
		is.Equal(*e.GapMS, int64(e.At-trace.Entries[i].At))
	}
	attempt := trace.Entries[slices.Index(kinds, "attempt")] // when, is up to the endpoint
	is.Equal([]any{*attempt.Delivery.ResponseStatus, attempt.Delivery.Attempt, attempt.Delivery.IsLast}, []any{503, 1, false})
	is.Equal(*attempt.Body, "not now\n")

	// An event leads to the same; the person's own message begins with the person.
	var events struct{ Data []map[string]any }
	s.list("/v1/events?type=message.status&limit=1", &events)
	is.Equal(b.trace(events.Data[0]["id"].(string)).ID, id)
	heard := b.trace(s.heard(number, `"type":"text","text":{"body":"hi"}`)["id"].(string))
	is.Equal(kindsOf(heard), []string{"person", "stored", "event"})

	// A message of the console names the person, and one that fails says why.
	failed := s.call("POST", s.app.URL()+"/v1/"+number+"/messages", `{"messaging_product":"chat","to":"+1999000131026","type":"text","text":{"body":"x"}}`)["id"].(string)
	s.await(number, failed, isStatus("failed"))
	last := b.trace(failed)
	is.True(until(func() bool { last = b.trace(failed); return slices.Contains(kindsOf(last), "callback") }))
	at := slices.Index(kindsOf(last), "callback")
	is.Equal(last.Entries[at].Status.Error.Code, "131026")
	is.True(last.Entries[at].Failed)
}

func TestATraceIsBounded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t, reachable)
	number := s.connect()
	hook := newReceiver(t, nil)
	s.subscribe(hook.URL, `"message.sent"`)
	id := s.send(number, "+15550001111", `"type":"text","text":{"body":"hello"}`)
	s.await(number, id, isStatus("read"))
	is.True(until(func() bool { return len(s.deliveries("status=succeeded")) == 1 }))
	dir := s.app.Config.DataDir
	storagetest.Exec(t, dir, `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, attempt_count, last_attempt_at, replayed_from, created_at)
		SELECT 'wbd_' || printf('%026d', i), organization_id, subscription_id, event, event_type, event_id, 'succeeded', 1, created_at + i, id, created_at + i
		FROM deliveries, n WHERE replayed_from IS NULL`)
	storagetest.Exec(t, dir, `UPDATE events SET payload = CAST('{"large":"' || hex(zeroblob(150000)) || '"}' AS BLOB)`)

	b := s.browser()
	_, link := s.invitePerson("ada@example.com", storage.RoleAdmin)
	b.open("POST", link, map[string][]string{"name": {"Ada"}, "password": {goodPassword}})
	trace := b.trace(id)
	is.Equal(trace.LeftOut, 801)
	shown, left := 0, 0
	for _, e := range trace.Entries {
		if e.Body != nil {
			shown += len(*e.Body)
		}
		if e.BodyLeftOut {
			left++
		}
	}
	is.True(shown < 512<<10 && left == 3)
}
