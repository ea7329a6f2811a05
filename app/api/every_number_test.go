package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// boundRoutes are the routes of the organization that a key has that is bound to numbers.
var boundRoutes = []string{
	"/me", "/labels", "/labels/:id", "/quick_replies", "/quick_replies/:id", "/accounts",
	"/webhook_deliveries", "/webhook_deliveries/:id", "/webhook_deliveries/:id/attempts",
	"/events", "/events/stream", "/events/:id",
	"/reports/conversations", "/reports/conversations.csv", "/reports/costs", "/reports/costs.csv",
}

// boundNumber is a number of an organization that has more, with a key that has only that, and a
// little of what there is.
type boundNumber struct {
	storage.Account
	key, number, event, label, reply, delivery string
	team                                       storage.Team
}

// bind gives an owner another number, in a team of its own, with a key that is bound to it.
func (f *fixture) bind(o owner) (b boundNumber) {
	f.t.Helper()
	b.number, b.team = "106540352242999", f.team(o.Tenant, "Second")
	second := o.Tenant
	second.Team = b.team
	b.Account = f.connect(second, b.number)
	b.key = f.keyWith(o.Tenant, storage.Key{Accounts: storage.Accounts{b.ID}})
	b.label = f.labelOf(o.Tenant, b.team.ID, "Second")
	b.reply = f.callAs(o.Secret, "POST", "/quick_replies", `{"shortcut":"second","text":"Hi","team_id":"`+b.team.PublicID+`"}`).text("data.id")
	b.event = f.emit(o.Tenant, "message.sent", b.number)
	b.delivery = f.callAs(o.Secret, "GET", "/webhook_deliveries?event_id="+b.event+":x", "").ids()[0]
	return b
}

// A key that is bound to a number finds nothing of another: not at its path, not by an id,
// and in no list.
func TestNoRouteReachesAnotherNumber(t *testing.T) {
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	f.emit(ours.Tenant, "message.sent", ours.number)
	before := f.contents()
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		is := is.New(t)
		path := ours.path(t, rt, nil)
		if rt.Path == "/events/stream" {
			path += "&after=oldest"
		}

		for _, body := range attempts(ours, rt) {
			got := f.callAs(b.key, rt.Method, path, body)
			switch {
			case strings.HasPrefix(rt.Path, "/:phone_number_id"):
				is.Equal(got.code(), "404 resource_not_found")
				missing := f.callAs(b.key, rt.Method, ours.nowhere(t, f, rt), body)
				is.Equal(plainBody(got), plainBody(missing))
			case rt.Method != "GET" || !slices.Contains(boundRoutes, rt.Path):
				is.Equal(got.code(), "403 permission_denied")
			case len(places(&rt)) > 0:
				is.Equal(got.code(), "404 resource_not_found")
				missing := f.callAs(b.key, rt.Method, ours.nowhere(t, f, rt), body)
				is.Equal(plainBody(got), plainBody(missing))
			default:
				is.Equal(got.status, 200)
				for _, id := range append(ours.ids(), ours.user, ours.Team.PublicID) {
					if strings.Contains(got.body, `"`+id) {
						t.Errorf("%s shows %s: %s", path, id, got.body)
					}
				}
			}
		}
	})
	storagetest.Exec(t, f.dir, `DELETE FROM audit WHERE action = 'report.exported'`) // of its own numbers
	is.New(t).Equal(f.contents(), before)
}

// ids are all that an owner has, but for its endpoint: deliveries say where they go.
func (o owner) ids() (all []string) {
	for place, id := range o.has {
		if place != "webhook_subscriptions" {
			all = append(all, id)
		}
	}
	return all
}

func TestAKeyOfANumberSeesWhatIsOfIt(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	f.emit(ours.Tenant, "message.sent", ours.number)
	f.emit(ours.Tenant, "customer.created", "")

	get := func(path string) answer { return f.callAs(b.key, "GET", path, "") }
	is.Equal(get("/labels").ids(), []string{b.label})
	is.Equal(get("/labels/"+b.label).status, 200)
	is.Equal(get("/quick_replies").ids(), []string{b.reply})
	is.Equal(get("/quick_replies/"+b.reply).status, 200)
	is.Equal(get("/accounts").ids(), []string{b.PublicID})
	is.Equal(get("/accounts?limit=1&status=all").ids(), []string{b.PublicID})
	is.Equal(get("/accounts?customer_id="+ours.has["customers"]).ids(), nil)
	is.Equal(get("/events").ids(), []string{b.event})
	is.Equal(get("/events/"+b.event).status, 200)
	is.Equal(get("/events?phone_number_id="+b.number).ids(), []string{b.event})
	is.Equal(get("/events?phone_number_id="+ours.number).ids(), nil) // as an unknown one
	is.Equal(get("/"+b.number+"/conversations").status, 200)

	for _, query := range []string{
		"", "?status=pending", "?subscription_id=" + ours.has["webhook_subscriptions"],
		"?status=pending&subscription_id=" + ours.has["webhook_subscriptions"], "?event_type=message.sent", "?event_id=" + b.event + ":x",
	} {
		is.Equal(get("/webhook_deliveries"+query).ids(), []string{b.delivery})
	}
	is.Equal(get("/webhook_deliveries/"+b.delivery).status, 200)
	is.Equal(get("/webhook_deliveries/"+b.delivery+"/attempts").status, 200)

	me := get("/me")
	is.Equal(me.get("data.api_key.phone_number_ids"), []any{b.number})
	is.Equal(me.get("data.teams"), []any{map[string]any{"id": b.team.PublicID, "object": "team", "name": "Second"}})
	is.Equal(me.get("data.users"), []any{})
}

// A cursor of another key is of no use, so that it does not say where something is that the
// key cannot see.
func TestACursorIsOfTheNumbersOfItsKey(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	f.emit(ours.Tenant, "message.sent", b.number)

	cursor := f.callAs(ours.Secret, "GET", "/events?limit=1", "").text("next_cursor")
	is.Equal(f.callAs(b.key, "GET", "/events?limit=1&cursor="+cursor, "").code(), "400 invalid_cursor cursor")
	own := f.callAs(b.key, "GET", "/events?limit=1", "").text("next_cursor")
	is.Equal(f.callAs(b.key, "GET", "/events?limit=1&cursor="+own, "").ids(), []string{b.event})
	same := f.keyWith(ours.Tenant, storage.Key{Accounts: storage.Accounts{b.ID}})
	is.Equal(f.callAs(same, "GET", "/events?limit=1&cursor="+own, "").ids(), []string{b.event})
	is.Equal(f.callAs(ours.Secret, "GET", "/events?limit=1&cursor="+own, "").code(), "400 invalid_cursor cursor")

	cursor = f.callAs(ours.Secret, "GET", "/labels?limit=1", "").text("next_cursor")
	is.Equal(f.callAs(ours.Secret, "GET", "/labels?limit=1&cursor="+cursor, "").status, 200)
	is.Equal(f.callAs(b.key, "GET", "/labels?limit=1&cursor="+cursor, "").code(), "400 invalid_cursor cursor")
}

func TestAStreamOfANumberTellsOfNoOther(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	foreign := f.emit(ours.Tenant, "message.sent", ours.number)
	second := f.emit(ours.Tenant, "message.status", b.number)

	ids := func(path string, header ...string) (ids []string) {
		for _, one := range f.openAs(b.key, path, header...).rest() {
			id, _, _ := strings.Cut(strings.TrimPrefix(one.data, `{"id":"`), `"`)
			ids = append(ids, id)
		}
		return ids
	}
	is.Equal(ids("/events/stream?wait=0&after=oldest"), []string{b.event, second})
	is.Equal(ids("/events/stream?wait=0&after="+b.event), []string{second})
	is.Equal(ids("/events/stream?wait=0&after=oldest&phone_number_id="+ours.number), nil)

	// An event of another number is as good as none.
	unknown := f.db.NewID(storage.PrefixEvent)
	at := "/events/stream?wait=0&after="
	is.Equal(f.callAs(b.key, "GET", at+foreign, "").code(), "400 invalid_cursor after")
	is.Equal(plainBody(f.callAs(b.key, "GET", at+foreign, "")), plainBody(f.callAs(b.key, "GET", at+unknown, "")))
	gap := f.openAs(b.key, "/events/stream?wait=0", "Last-Event-ID: "+foreign).rest()
	is.Equal(gap, f.openAs(b.key, "/events/stream?wait=0", "Last-Event-ID: "+unknown).rest())
	is.Equal(len(gap), 3)
	oldest := f.callAs(b.key, "GET", "/events/"+b.event, "").text("data.created_at")
	is.Equal(gap[0].data, `{"reason":"restored","oldest":"`+oldest+`"}`) // of its own number

	// A position that another key got leads to the events of its own number.
	all := f.openAs(ours.Secret, at+"oldest").rest()
	is.Equal(ids(at+all[0].id), []string{b.event, second})
}

// Streams that wait at the same place share what they read, but only if they may see the
// same.
func TestStreamsOfOtherNumbersShareNothing(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	narrow, wide := f.openAs(b.key, "/events/stream"), f.openAs(ours.Secret, "/events/stream")
	narrow.next()
	wide.next()
	for range 5 {
		f.emit(ours.Tenant, "message.sent", ours.number)
		own := f.emit(ours.Tenant, "message.status", b.number)
		is.Equal(wide.event().event, "message.sent")
		wide.event()
		is.True(strings.HasPrefix(narrow.event().data, `{"id":"`+own+`"`))
	}
}

// A number that was removed and connected again is another one.
func TestAKeyDoesNotFollowItsNumberToAnotherAccount(t *testing.T) {
	is := is.New(t)
	f, ours, _ := serveEverything(t)
	b := f.bind(ours)
	is.Equal(f.callAs(b.key, "GET", "/"+b.number+"/contacts", "").status, 200)
	storagetest.Update(t, f.db, func(tx *storage.Tx) error {
		if err := tx.RemoveAccount(b.ID, "removed"); err != nil {
			return err
		}
		_, err := tx.PurgeEvents(b.ID, 1000)
		return err
	})

	check := func() {
		t.Helper()
		is.Equal(f.callAs(b.key, "GET", "/"+b.number+"/contacts", "").code(), "404 resource_not_found")
		is.Equal(f.callAs(b.key, "POST", "/"+b.number+"/messages", "{").code(), "404 resource_not_found")
		is.Equal(f.callAs(b.key, "GET", "/customers", "").code(), "403 permission_denied")
		is.Equal(f.callAs(b.key, "GET", "/me", "").get("data.api_key.phone_number_ids"), []any{})
		is.Equal(f.callAs(b.key, "GET", "/me", "").get("data.teams"), []any{})
		for _, list := range []string{"/labels", "/quick_replies", "/accounts", "/events", "/webhook_deliveries"} {
			is.Equal(f.callAs(b.key, "GET", list, "").get("data"), []any{})
		}
	}
	check()

	second := ours.Tenant
	second.Team = b.team
	f.connect(second, b.number)
	f.emit(ours.Tenant, "message.sent", b.number)
	check()
	is.Equal(f.callAs(ours.Secret, "GET", "/"+b.number+"/contacts", "").status, 200)
}

// What others ask for with an Idempotency-Key does not show: neither that it was used, nor what
// came of it. On the key's own number it means what it always does.
func TestAnIdempotencyKeyOfAnotherNumberIsFree(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	other := f.connect(f.tenant, "106540352242999")
	bound := f.keyWith(f.tenant, storage.Key{Accounts: storage.Accounts{a.ID}})
	second := f.keyWith(f.tenant, storage.Key{Accounts: storage.Accounts{other.ID}})
	path, elsewhere := "/"+*a.PhoneNumberID+"/contacts", "/"+*other.PhoneNumberID+"/contacts"
	const body, another, key = `{"phone_number":"+15551230000"}`, `{"phone_number":"+15551230001"}`, "Idempotency-Key: order-1"

	is.Equal(f.call("POST", elsewhere, body, key).status, 201)
	first := f.callAs(bound, "POST", path, body, key)
	is.Equal(first.status, 201)
	is.Equal(f.callAs(bound, "POST", path, body, key).body, first.body)
	is.Equal(f.callAs(bound, "POST", path, another, key).code(), "422 idempotency_key_reuse")
	is.Equal(f.callAs(second, "POST", elsewhere, another, key).code(), "422 idempotency_key_reuse") // its own
	is.Equal(f.call("POST", path, body, key).code(), "422 idempotency_key_reuse")                   // who sees all

	const label = "Idempotency-Key: order-2" // of the organization
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`, label).status, 201)
	is.Equal(f.callAs(bound, "POST", path, another, label).status, 201)
}
