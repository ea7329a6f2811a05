package api

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

// keyWith makes a key of a tenant with limits.
func (f *fixture) keyWith(tenant storagetest.Tenant, k storage.Key) (secret string) {
	f.t.Helper()
	k.OrganizationID = tenant.Organization.ID
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) (err error) {
		secret, err = tx.InsertKey(&k)
		return err
	})
	return secret
}

// scoped makes a key of a tenant with some scopes.
func (f *fixture) scoped(tenant storagetest.Tenant, scopes ...string) string {
	f.t.Helper()
	return f.keyWith(tenant, storage.Key{Scopes: scopes})
}

// methodsOf are those with which a route can be called.
func methodsOf(rt rest.Route) []string {
	if rt.Method == "GET" {
		return []string{"GET", "HEAD"}
	}
	return []string{rt.Method}
}

// nowhere is a route's path with ids of nothing in it.
func (o owner) nowhere(t testing.TB, f *fixture, rt rest.Route) string {
	unknown := make(map[string]string)
	for _, place := range places(&rt) {
		unknown[place] = unknownID(f, o.has[place])
	}
	return o.path(t, rt, unknown)
}

// Each route has one scope, as openapi.json says.
func TestEveryRouteHasOneScope(t *testing.T) {
	const scopes = rest.Read | rest.Send | rest.Inbox | rest.Campaigns | rest.Webhooks | rest.Platform
	for _, rt := range (&Server{}).Routes() {
		name := rt.Method + " " + rt.Path
		has := bits.OnesCount32(uint32(rt.Needs & (scopes | rest.AnyScope)))
		if rt.Has(rest.Public) != (has == 0) || has > 1 {
			t.Errorf("%s has %d scopes", name, has)
		}
		if reads := rt.Method == "GET" && !rt.Has(rest.Public|rest.AnyScope); reads && rt.Scope() != storage.ScopeRead {
			t.Errorf("%s reads, and has the scope %s", name, rt.Scope())
		}
		if rt.Method == "DELETE" && rt.Scope() == storage.ScopeRead {
			t.Errorf("%s has the scope %s", name, rt.Scope())
		}

		described, ok := describedOperation(rt).Extensions["x-scope"]
		if scope, _ := described.(string); !ok || scope != rt.Scope() {
			t.Errorf("%s needs %q, and openapi.json says %v", name, rt.Scope(), described)
		}
	}
}

// A key does what its scope allows, and nothing else, whatever else is wrong with the
// request.
func TestEveryRouteNeedsItsScope(t *testing.T) {
	f, ours, _ := serveEverything(t)
	with, without := make(map[string]string), make(map[string]string)
	for _, scope := range storage.Scopes() {
		with[scope] = f.scoped(ours.Tenant, scope)
		others := slices.DeleteFunc(storage.Scopes(), func(s string) bool { return s == scope })
		without[scope] = f.scoped(ours.Tenant, others...)
	}

	before := f.contents()
	f.everyRoute(t, func(t *testing.T, f *fixture, rt rest.Route) {
		if rt.Has(rest.AnyScope) {
			for scope, key := range with {
				is.New(t).Equal(f.callAs(key, rt.Method, rt.Path, "").get("data.api_key.scopes"), []any{scope})
			}
			return
		}

		for _, method := range methodsOf(rt) {
			for _, body := range attempts(ours, rt) {
				refused := f.callAs(without[rt.Scope()], method, ours.path(t, rt, nil), body)
				if method == "HEAD" {
					is.New(t).Equal(refused.status, 403)
				} else if refused.code() != "403 permission_denied" || !strings.HasSuffix(refused.text("error.message"), " "+rt.Scope()+".") {
					t.Errorf("%s without %s: %s", method, rt.Scope(), refused.body)
				}
			}

			// That a resource is missing is found out later.
			for scope, key := range with {
				got := f.callAs(key, method, ours.nowhere(t, f, rt), "{")
				if (got.status == 403) != (scope != rt.Scope()) {
					t.Errorf("%s with %s: %d %s", method, scope, got.status, got.body)
				}
			}
		}
		got := f.callAs(ours.Secret, rt.Method, ours.nowhere(t, f, rt), "{")
		is.New(t).True(got.status != 403) // a key without scopes has all
	})
	storagetest.Exec(t, f.dir, `DELETE FROM audit WHERE action = 'report.exported'`) // which needs no resource
	is.New(t).Equal(f.contents(), before)
}

func TestTheScopeIsCheckedBetweenRateAndEntitlement(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *testOptions) { o.Plans["self_hosted"] = rest.Plan{API: true, RatePerSecond: 0.001, Burst: 2} })
	read, platform := f.scoped(f.tenant, storage.ScopeRead), f.scoped(f.tenant, storage.ScopePlatform)
	is.Equal(f.callAs(read, "POST", "/customers", "{").code(), "403 permission_denied")
	is.Equal(f.callAs(platform, "POST", "/customers", "{").code(), "402 feature_not_entitled")
	is.Equal(f.callAs(read, "POST", "/customers", "{").code(), "429 rate_limit_exceeded")
	f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = 1 })
	is.Equal(f.callAs(read, "POST", "/customers", "{").code(), "403 organization_suspended")
}

// The answer to an Idempotency-Key is only for those who could have made the request.
func TestARepeatedRequestNeedsTheScopeAndTheNumber(t *testing.T) {
	is := is.New(t)
	f, a := serveNumber(t)
	other := f.connect(f.tenant, "106540352242999")
	const body, key = `{"messaging_product":"chat","to":"+15551230000","type":"text","text":{"body":"Hi"}}`, "Idempotency-Key: once"
	path := "/" + *a.PhoneNumberID + "/messages"

	first := f.call("POST", path, body, key)
	is.Equal(first.status, 200)
	is.Equal(f.callAs(f.scoped(f.tenant, storage.ScopeSend), "POST", path, body, key).body, first.body)
	is.Equal(f.callAs(f.keyWith(f.tenant, storage.Key{Accounts: storage.Accounts{a.ID}}), "POST", path, body, key).body, first.body)
	is.Equal(f.callAs(f.scoped(f.tenant, storage.ScopeRead), "POST", path, body, key).code(), "403 permission_denied")
	is.Equal(f.callAs(f.keyWith(f.tenant, storage.Key{Accounts: storage.Accounts{other.ID}}), "POST", path, body, key).code(), "404 resource_not_found")
}

func TestMeShowsAKeyWithoutReadNoPeople(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.user(f.tenant, "Ada")
	got := f.callAs(f.keyWith(f.tenant, storage.Key{Scopes: storage.Strings{"inbox", "send"}, Agent: new("helper")}), "GET", "/me", "")
	is.Equal(got.get("data.teams"), []any{})
	is.Equal(got.get("data.users"), []any{})
	is.Equal(got.get("data.api_key.scopes"), []any{"inbox", "send"})
	is.Equal(got.get("data.api_key.phone_number_ids"), nil)
	is.Equal(got.get("data.api_key.agent"), "helper")

	got = f.callAs(f.scoped(f.tenant, storage.ScopeRead), "GET", "/me", "")
	is.Equal(len(got.get("data.teams").([]any)), 1)
	is.Equal(len(got.get("data.users").([]any)), 1)
	is.Equal(f.call("GET", "/me", "").get("data.api_key.scopes"), []any{"*"})
}
