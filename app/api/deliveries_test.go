package api

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/event"
	"confab/storage"
	"confab/storage/storagetest"
)

const deliveries = "/webhook_deliveries"

// settle gives a delivery the state that a worker would have given it.
func (f *fixture) settle(id, status string) {
	f.t.Helper()
	storagetest.Exec(f.t, f.dir, `
		UPDATE deliveries
		SET status = ?, attempt_count = 2, last_attempt_at = created_at, response_status = 500, response_body_snippet = 'oops', duration_ms = 12,
			error_code = 'http_error', error_message = 'the endpoint answered 500', next_attempt_at = 0
		WHERE id = ?`, status, id)
	storagetest.Exec(f.t, f.dir, `
		INSERT INTO delivery_hours
		SELECT subscription_id, created_at - created_at % 3600000, status = 'succeeded', status = 'dead', 0
		FROM deliveries
		WHERE id = ? AND status IN ('succeeded', 'dead')
		ON CONFLICT DO UPDATE SET succeeded = succeeded + excluded.succeeded, dead = dead + excluded.dead`, id)
	for attempt := range 2 {
		storagetest.Exec(f.t, f.dir, `
			INSERT OR IGNORE INTO delivery_attempts (delivery_id, attempt, attempted_at, response_status, duration_ms, error_code, error_message, response_body_snippet)
			SELECT id, ?, created_at, 500, 12, 'http_error', 'the endpoint answered 500', 'oops' FROM deliveries WHERE id = ?`, attempt+1, id)
	}
}

func TestATestEventIsASampleInItsRealEnvelope(t *testing.T) {
	f := serveHooks(t)
	star := f.call("POST", hooks, hook).text("data.id")
	some := f.call("POST", hooks, `{"url":"https://shop.test","events":["contact.updated","message.sent"]}`).text("data.id")
	for _, tt := range []struct{ subscription, body, want string }{
		{star, "", event.TypeMessageReceived}, {star, `{}`, event.TypeMessageReceived}, {star, `{"event_type":null}`, event.TypeMessageReceived},
		{some, `{}`, event.TypeContactUpdated}, {some, `{"event_type":"customer.onboarded"}`, event.TypeCustomerOnboarded}, // also what it is not subscribed to
	} {
		is := is.New(t)
		before := storagetest.Effects(t, f.dir)["deliveries"]
		got := f.call("POST", hooks+"/"+tt.subscription+"/test", tt.body)
		is.Equal(got.status, 202)
		is.Equal([]any{got.get("data.event_type"), got.get("data.subscription_id"), got.get("data.status"), got.get("data.replayed_from"), got.get("data.payload")},
			[]any{tt.want, tt.subscription, "pending", nil, nil})
		is.Equal(storagetest.Effects(t, f.dir)["deliveries"], before+1) // for this subscription alone
		whole := f.call("GET", deliveries+"/"+got.text("data.id"), "")
		is.NoErr(eventSchema(t, tt.want).VisitJSON(whole.get("data.payload")))
	}
	is := is.New(t)
	for _, kind := range event.Types() {
		got := f.call("POST", hooks+"/"+star+"/test", `{"event_type":"`+kind+`"}`)
		is.NoErr(eventSchema(t, kind).VisitJSON(f.call("GET", deliveries+"/"+got.text("data.id"), "").get("data.payload")))
	}
	for body, want := range map[string]string{
		`{"event_type":"*"}`: "400 invalid_event_type event_type", `{"event_type":"bogus"}`: "400 invalid_event_type event_type",
		`{"event_type":7}`: "400 invalid_field_value event_type", `{`: "400 invalid_json",
	} {
		is.Equal(f.call("POST", hooks+"/"+star+"/test", body).code(), want)
	}
}

func TestADeliveryIsShownWithExactlyWhatItCarries(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks, hook).text("data.id")
	payload := `{"id":"evt_x","type":"message.sent","data":{"text":"<a> & \u0026 ü","n":12345678901234567890}}`
	var d storage.Delivery
	storagetest.Update(t, f.db, func(tx *storage.Tx) (err error) {
		d, err = tx.InsertEventFor(storage.Event{ID: tx.NewID("evt_"), OrganizationID: f.tenant.Organization.ID, Type: "message.sent", Source: "svc", EventID: "msg_1:sent", Payload: []byte(payload)}, id)
		return err
	})
	f.settle(d.ID, "dead")
	got := f.call("GET", deliveries+"/"+d.ID, "")
	is.True(strings.Contains(got.body, `"payload":`+payload)) // byte for byte
	golden(t, "webhook_delivery", got.body)
	list := f.call("GET", deliveries, "")
	golden(t, "webhook_delivery_list", list.body)
	is.True(!strings.Contains(list.body, "payload"))
	attempts := f.call("GET", deliveries+"/"+d.ID+"/attempts", "")
	is.Equal(attempts.status, 200)
	golden(t, "webhook_attempt_list", attempts.body)
	first := f.call("GET", deliveries+"/"+d.ID+"/attempts?limit=1", "")
	is.Equal(first.get("has_more"), true)
	second := f.call("GET", deliveries+"/"+d.ID+"/attempts?limit=1&cursor="+first.text("next_cursor"), "")
	is.Equal(second.get("data").([]any), attempts.get("data").([]any)[1:2])
	is.Equal(f.call("GET", deliveries+"/"+d.ID+"/attempts?limit=0", "").code(), "400 invalid_limit limit")
}

func TestAttemptsOfADeliveryThatWasNotOrOnceTried(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	id := f.call("POST", hooks+"/"+f.call("POST", hooks, hook).text("data.id")+"/test", "").text("data.id")
	got := f.call("GET", deliveries+"/"+id+"/attempts", "")
	is.Equal(got.get("data"), []any{})
	is.Equal([]any{got.get("has_more"), got.get("next_cursor")}, []any{false, nil})
	storagetest.Exec(t, f.dir, `UPDATE deliveries SET status = 'succeeded', attempt_count = 1, last_attempt_at = created_at, response_status = 204, duration_ms = 3 WHERE id = ?`, id)
	one := f.call("GET", deliveries+"/"+id+"/attempts", "").get("data").([]any)
	is.Equal(len(one), 1) // taken from the delivery itself
	is.Equal(one[0].(map[string]any)["response_status"], 204.0)
	is.Equal(one[0].(map[string]any)["attempt"], 1.0)
}

func TestDeliveriesAreFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		subscribe := func() string {
			return f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`).text("data.id")
		}
		a, b := subscribe(), subscribe()
		var made []answer // oldest first
		for i, sub := range []string{a, b, a, b, a} {
			time.Sleep(time.Second)
			kind := event.Types()[2+i%2]
			made = append(made, f.call("POST", hooks+"/"+sub+"/test", `{"event_type":"`+kind+`"}`))
		}
		f.settle(made[1].text("data.id"), "dead")
		f.settle(made[2].text("data.id"), "failed")
		f.settle(made[3].text("data.id"), "succeeded")
		at := func(i int) string { return url.QueryEscape(made[i].text("data.created_at")) }
		for query, want := range map[string][]int{
			"": {4, 3, 2, 1, 0}, "?limit=100": {4, 3, 2, 1, 0},
			"?subscription_id=" + a: {4, 2, 0}, "?subscription_id=" + b: {3, 1}, "?subscription_id=" + f.db.NewID("wbs_"): {},
			"?status=pending": {4, 0}, "?status=dead": {1}, "?status=failed": {2}, "?status=succeeded": {3},
			"?status=dead&subscription_id=" + a: {}, "?status=dead&subscription_id=" + b: {1},
			"?event_type=message.sent": {4, 2, 0}, "?event_type=message.revoked": {3, 1}, "?event_type=message.edited": {},
			"?event_id=" + url.QueryEscape(made[2].text("data.event_id")): {2}, "?event_id=none": {},
			"?event_id=" + url.QueryEscape(made[2].text("data.event_id")) + "&status=dead": {},
			"?created_after=" + at(1): {4, 3, 2}, "?created_before=" + at(1): {0}, "?created_after=" + at(0) + "&created_before=" + at(4): {3, 2, 1},
			"?created_after=" + at(0) + "&created_before=" + at(4) + "&status=failed&event_type=message.sent&subscription_id=" + a: {2},
			"?unknown=x": {4, 3, 2, 1, 0},
		} {
			ids := []string{}
			for _, i := range want {
				ids = append(ids, made[i].text("data.id"))
			}
			got := f.call("GET", deliveries+query, "").ids()
			if len(got)+len(ids) > 0 && !reflect.DeepEqual(got, ids) {
				t.Errorf("%s: got %v, want %v", query, got, ids)
			}
		}
		for query, want := range map[string]string{
			"?subscription_id=x": "400 invalid_field_value subscription_id", "?subscription_id=": "400 invalid_field_value subscription_id",
			"?status=bogus": "400 invalid_field_value status", "?status=": "400 invalid_field_value status",
			"?event_type=bogus": "400 invalid_event_type event_type", "?event_type=": "400 invalid_event_type event_type", "?event_type=*": "400 invalid_event_type event_type",
			"?event_id=": "400 invalid_field_value event_id", "?created_after=yesterday": "400 invalid_field_value created_after",
			"?created_before=2026-01-01": "400 invalid_field_value created_before", "?limit=0": "400 invalid_limit limit", "?cursor=x": "400 invalid_cursor cursor",
		} {
			is.Equal(f.call("GET", deliveries+query, "").code(), want)
		}
		page := f.call("GET", deliveries+"?status=pending&limit=1", "")
		is.Equal(page.ids(), []string{made[4].text("data.id")})
		is.Equal(page.get("has_more"), true)
		is.Equal(f.call("GET", deliveries+"?status=pending&limit=1&cursor="+page.text("next_cursor"), "").ids(), []string{made[0].text("data.id")})
		is.Equal(f.call("GET", deliveries+"?status=dead&cursor="+page.text("next_cursor"), "").code(), "400 invalid_cursor cursor") // of another filter
	})
}

func TestAReplayIsANewDeliveryOfTheSameEvent(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	sub := f.call("POST", hooks, hook).text("data.id")
	first := f.call("POST", hooks+"/"+sub+"/test", "").text("data.id")
	before := f.call("GET", deliveries+"/"+first, "")
	for _, status := range []string{"pending", "succeeded", "failed", "dead"} { // any may be, and again
		f.settle(first, status)
		got := f.call("POST", deliveries+"/"+first+"/replay", "")
		is.Equal(got.status, 202)
		is.Equal([]any{got.get("data.status"), got.get("data.replayed_from"), got.get("data.event_id"), got.get("data.attempt_count"), got.get("data.error_code")},
			[]any{"pending", first, before.get("data.event_id"), 0.0, nil})
		is.True(got.text("data.id") != first)
		again := f.call("GET", deliveries+"/"+got.text("data.id"), "")
		is.Equal(again.get("data.payload"), before.get("data.payload"))
	}
	is.Equal(storagetest.Effects(t, f.dir)["events"], 1)
	chain := f.call("POST", deliveries+"/"+f.call("GET", deliveries, "").ids()[0]+"/replay", "{}") // a replay may be replayed
	is.Equal(chain.status, 202)
	is.Equal(f.call("POST", deliveries+"/"+first+"/replay", "{").code(), "400 invalid_json")
	one := f.call("POST", deliveries+"/"+first+"/replay", "", "Idempotency-Key: r")
	is.Equal(f.call("POST", deliveries+"/"+first+"/replay", "", "Idempotency-Key: r").body, one.body)
	f.disable(sub)
	is.Equal(f.call("POST", deliveries+"/"+first+"/replay", "").code(), "409 webhook_subscription_disabled")
	is.Equal(f.call("POST", deliveries+"/"+first, "").code(), "405 method_not_allowed")
}

func TestBulkReplayTakesWhatWasNotReplayedYet(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	sub := f.call("POST", hooks, hook).text("data.id")
	var ids []string
	for i, kind := range []string{"message.sent", "message.edited", "message.sent", "message.sent"} {
		ids = append(ids, f.call("POST", hooks+"/"+sub+"/test", `{"event_type":"`+kind+`"}`).text("data.id"))
		f.settle(ids[i], []string{"dead", "dead", "dead", "failed"}[i])
	}
	bulk := func(fields string) answer {
		return f.call("POST", deliveries+"/bulk_replay", `{"subscription_id":"`+sub+`"`+fields+`}`)
	}
	counts := func(a answer) string { return fmt.Sprint(a.status, a.get("data.enqueued"), a.get("data.capped")) }
	is.Equal(counts(bulk(`,"dry_run":true`)), "202 3 false")
	is.Equal(counts(bulk(`,"dry_run":true,"status":"failed"`)), "202 1 false")
	is.Equal(counts(bulk(`,"dry_run":true,"event_type":"message.edited"`)), "202 1 false")
	is.Equal(counts(bulk(`,"dry_run":true,"created_before":"2001-01-01T00:00:00Z"`)), "202 0 false")
	is.Equal(counts(bulk(`,"dry_run":true,"created_after":"2001-01-01T00:00:00+02:00","created_before":"2101-01-01T00:00:00Z"`)), "202 3 false")
	is.Equal(storagetest.Effects(t, f.dir)["deliveries"], 4) // a dry run does nothing
	replays := `SELECT action FROM audit WHERE action = 'deliveries.replayed'`
	is.Equal(len(storagetest.Select[string](t, f.dir, replays)), 0) // and is not said to have done it
	f.call("POST", deliveries+"/"+ids[0]+"/replay", "")
	is.Equal(counts(bulk("")), "202 2 false") // not the one that was replayed by hand
	is.Equal(len(storagetest.Select[string](t, f.dir, replays)), 1)
	is.Equal(counts(bulk(`,"dry_run":false,"status":null`)), "202 0 false")
	list := f.call("GET", deliveries+"?status=pending", "").get("data").([]any)
	is.Equal(list[1].(map[string]any)["replayed_from"], ids[1]) // oldest first
	is.Equal(list[0].(map[string]any)["replayed_from"], ids[2])

	for fields, want := range map[string]string{
		`,"status":"succeeded"`: "400 invalid_field_value status", `,"status":""`: "400 invalid_field_value status",
		`,"event_type":"bogus"`: "400 invalid_event_type event_type", `,"event_type":""`: "400 invalid_event_type event_type",
		`,"created_after":"soon"`: "400 invalid_field_value created_after", `,"created_before":"2026-01-01"`: "400 invalid_field_value created_before",
		`,"created_before":7`: "400 invalid_field_value created_before", `,"dry_run":"yes"`: "400 invalid_field_value dry_run",
	} {
		is.Equal(bulk(fields).code(), want)
	}
	is.Equal(f.call("POST", deliveries+"/bulk_replay", `{}`).code(), "400 missing_required_field subscription_id")
	is.Equal(f.call("POST", deliveries+"/bulk_replay", `{"subscription_id":"wbs_1"}`).code(), "404 resource_not_found")
	is.Equal(f.call("POST", deliveries+"/bulk_replay", `{"subscription_id":7}`).code(), "400 invalid_field_value subscription_id")
}

func TestStatsTellHowDeliveriesWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, withNames(t))
		sub := f.call("POST", hooks, `{"url":"https://93.184.216.34/","events":["*"]}`).text("data.id")
		path := hooks + "/" + sub + "/stats"
		golden(t, "webhook_subscription_stats_empty", f.call("GET", path, "").body)
		f.call("POST", hooks+"/"+sub+"/test", "") // too old to count below
		time.Sleep(25 * time.Hour)
		for i, status := range []string{"succeeded", "succeeded", "failed", "dead", "pending"} {
			id := f.call("POST", hooks+"/"+sub+"/test", "").text("data.id")
			if status != "pending" {
				f.settle(id, status)
			}
			storagetest.Exec(t, f.dir, `UPDATE deliveries SET duration_ms = ? WHERE id = ? AND duration_ms IS NOT NULL`, 100*(i+1), id)
		}
		time.Sleep(7 * time.Second) // into a minute
		day := f.call("GET", path, "")
		golden(t, "webhook_subscription_stats", day.body)
		is.Equal(day.text("data.since"), time.Now().Add(-24*time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"))
		all := f.call("GET", path+"?since=1999-01-01T00:00:00Z", "")
		is.Equal([]any{all.get("data.total"), all.get("data.since")}, []any{6.0, "1999-01-01T00:00:00.000Z"})
		is.Equal(f.call("GET", path+"?since=2101-01-01T00:00:00Z", "").get("data.total"), 0.0)
		is.Equal(f.call("GET", path+"?since=yesterday", "").code(), "400 invalid_field_value since")
		f.disable(sub)
		is.Equal(f.call("GET", path, "").get("data.dead"), 3.0) // works while disabled; what was outstanding is dead
	})
}

func TestDeletingASubscriptionDeletesItsDeliveries(t *testing.T) {
	is := is.New(t)
	f := serveHooks(t)
	sub := f.call("POST", hooks, hook).text("data.id")
	id := f.call("POST", hooks+"/"+sub+"/test", "").text("data.id")
	f.settle(id, "dead")
	is.Equal(f.call("DELETE", hooks+"/"+sub, "").status, 200)
	is.Equal(f.call("GET", deliveries+"/"+id, "").code(), "404 resource_not_found")
	is.Equal(f.call("POST", deliveries+"/"+id+"/replay", "").code(), "404 resource_not_found")
	is.Equal(len(f.call("GET", deliveries, "").ids()), 0)
	left := storagetest.Effects(t, f.dir)
	is.Equal(left["deliveries"]+left["jobs"], 0)
	is.Equal(len(storagetest.Select[string](t, f.dir, `SELECT id FROM signing_secrets UNION ALL SELECT delivery_id FROM delivery_attempts`)), 0)
}
