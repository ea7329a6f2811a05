package rest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// fault is something wrong with a request, and how the API answers it.
type fault struct {
	name string
	want string
}

// faults are in the order in which the contract checks them.
var faults = []fault{
	{"no key", "401 missing_api_key"},
	{"unknown path", "404 resource_not_found"},
	{"wrong method", "405 method_not_allowed"},
	{"suspended", "403 organization_suspended"},
	{"no api", "403 feature_not_available"},
	{"empty bucket", "429 rate_limit_exceeded"},
	{"no customers", "402 feature_not_entitled"},
	{"missing resource", "404 resource_not_found"},
	{"large body", "413 request_too_large"},
	{"broken body", "400 invalid_json"},
	{"reused key", "422 idempotency_key_reuse"},
	{"bad field", "400 missing_required_field name"},
	{"no subscription", "402 subscription_inactive"},
}

// faulty is a request with some of the faults.
type faulty map[string]bool

func (has faulty) plan() string {
	return fmt.Sprintf("api=%t rate=%t customers=%t", !has["no api"], has["empty bucket"], !has["no customers"])
}

func (has faulty) body() string {
	body := `{"name":"VIP"}`
	if has["bad field"] {
		body = `{}`
	}
	if has["broken body"] {
		body = `{"name":`
	}
	if has["large body"] {
		body += strings.Repeat(" ", MaxBody)
	}
	return body
}

// send makes the request with a tenant of its own.
func (has faulty) send(f *fixture) answer {
	tenant := storagetest.Seed(f.t, f.db, "Acme")
	org := tenant.Organization
	storagetest.Update(f.t, f.db, func(tx *storage.Tx) error {
		org.Plan = has.plan()
		if has["suspended"] {
			org.SuspendedAt = tx.Now
		}
		if has["no subscription"] {
			org.Subscription = storage.SubscriptionInactive
		}
		if has["reused key"] {
			other := sha256.Sum256([]byte("another request"))
			answer := storage.IdempotentReply{Fingerprint: other[:], Status: 201, RequestID: "req_1", Body: []byte("{}")}
			if err := tx.SaveIdempotentReply(org.ID, "key", answer); err != nil {
				return err
			}
		}
		return tx.UpdateOrganization(&org)
	})
	if bucket := f.api.bucketOf(&Request{Org: org, Plan: f.api.Plans[org.Plan]}); bucket != nil {
		bucket.AllowN(time.Now(), bucket.Burst())
	}
	method, path, key := "POST", "/things/1", tenant.Secret
	if has["missing resource"] {
		path = "/things/missing"
	}
	if has["wrong method"] {
		method = "PUT"
	}
	if has["unknown path"] {
		path = "/nowhere"
	}
	if has["no key"] {
		key = ""
	}
	return f.callAs(key, method, path, has.body(), "Idempotency-Key: key")
}

// serveThings serves POST /things/:id, which can fail in every way.
func serveThings(t *testing.T) *fixture {
	f := serve(t, func(o *Options) {
		for _, has := range []faulty{
			{}, {"no api": true}, {"empty bucket": true}, {"no customers": true}, {"no api": true, "empty bucket": true},
			{"no api": true, "no customers": true}, {"empty bucket": true, "no customers": true},
		} {
			plan := Plan{API: !has["no api"], Customers: !has["no customers"]}
			if has["empty bucket"] {
				plan.RatePerSecond, plan.Burst = 0.001, 1
			}
			o.Plans[has.plan()] = plan
		}
	})
	find := func(_ *storage.Rx, r *Request) error {
		if r.Param("id") == "missing" {
			return NotFound()
		}
		return nil
	}
	f.mount(At("POST", "/things/:id", WithBody(f.createLabel), Creates|Customers, find))
	return f
}

func TestChecksComeInTheContractsOrder(t *testing.T) {
	f := serveThings(t)
	is.New(t).Equal(faulty{}.send(f).code(), "201")
	before := f.labels()
	for i, first := range faults {
		for _, second := range faults[i:] {
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				is := is.New(t)
				got := faulty{first.name: true, second.name: true}.send(f)
				is.Equal(got.code(), first.want)
			})
		}
	}
	is.New(t).Equal(f.labels(), before) // nothing refused left a row
}

func TestAnUnknownLabelIsMissingBeforeItsBodyIsLookedAt(t *testing.T) {
	f := serve(t)
	gone := f.db.NewID(storage.PrefixLabel)
	for _, body := range []string{`{`, `[]`, `{"color":"no"}`, "\xff"} {
		is.New(t).Equal(f.call("PATCH", "/labels/"+gone, body).code(), "404 resource_not_found")
	}
}

func TestAPanicIsA500LoggedOnceWithoutTheKey(t *testing.T) {
	f := serve(t)
	inTransaction := func(r *Request) (Reply, error) {
		return f.api.Update(r, func(*storage.Tx) (Reply, error) { panic("boom in a transaction") })
	}
	f.mount(
		At("GET", "/panic", func(*Request) (Reply, error) { panic("boom") }, 0, nil),
		At("POST", "/panic", inTransaction, Creates, nil),
		At("PATCH", "/panic", nil, 0, func(*storage.Rx, *Request) error { panic("boom in find") }),
		At("DELETE", "/panic", func(*Request) (Reply, error) { return OK(func() {}), nil }, 0, nil), // cannot be rendered
	)
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE", "HEAD"} {
		t.Run(method, func(t *testing.T) {
			is := is.New(t)
			got := f.call(method, "/panic?token="+f.tenant.Secret, "")
			is.Equal(got.status, 500)
			if method != "HEAD" {
				is.Equal(got.code(), "500 internal_error")
				is.Equal(got.get("error.type"), "api_error")
				is.True(!strings.Contains(got.body, "boom")) // the reason is ours
			}
			lines := f.log.lines(got.header.Get("X-Request-Id"))
			is.Equal(len(lines), 1)
			is.True(strings.Contains(lines[0], "level=ERROR"))
			is.True(strings.Contains(lines[0], "boom") || method == "DELETE")
			is.True(strings.Contains(lines[0], "pipeline_test.go") || method == "DELETE") // the stack
			is.True(strings.Contains(lines[0], "path=/v1/panic "))
		})
	}
	is := is.New(t)
	is.Equal(len(f.log.lines(f.tenant.Secret)), 0)
	is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`).status, 201) // the server goes on
}

func TestStorageThatIsGoneIsA503(t *testing.T) {
	f := serve(t)
	id := f.call("POST", "/labels", `{"name":"VIP"}`).text("data.id")
	f.stop()
	for _, tt := range []struct{ method, path, body string }{
		{"GET", "/health", ""}, {"GET", "/me", ""}, {"GET", "/labels", ""}, {"GET", "/labels/" + id, ""},
		{"POST", "/labels", `{"name":"x"}`}, {"PATCH", "/labels/" + id, `{"name":"x"}`}, {"DELETE", "/labels/" + id, ""},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			is := is.New(t)
			got := f.call(tt.method, tt.path, tt.body)
			is.Equal(got.code(), "503 service_unavailable")
			is.Equal(got.get("error.type"), "api_error")
			is.Equal(got.header.Get("Retry-After"), "1")
		})
	}
	is.New(t).Equal(f.call("GET", "/document", "").status, 200) // needs no database
}

func TestAWriteThatFindsNoPlaceForASecondIsA503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		is.Equal(f.call("GET", "/me", "").status, 200)
		release, block := make(chan struct{}), func(*storage.Tx) error { return nil }
		go f.db.Update(context.Background(), func(*storage.Tx) error {
			<-release
			return nil
		})
		synctest.Wait()
		for range 1024 { // the writer's queue
			go f.db.Update(context.Background(), block)
		}
		synctest.Wait()
		began := time.Now()
		got := f.call("POST", "/labels", `{"name":"VIP"}`)
		is.Equal(got.code(), "503 service_unavailable")
		is.Equal(got.header.Get("Retry-After"), "1")
		is.Equal(time.Since(began), time.Second)
		is.Equal(f.call("GET", "/labels", "").status, 200) // reads go on
		close(release)
		synctest.Wait()
		is.Equal(f.call("POST", "/labels", `{"name":"VIP"}`).status, 201) // it heals
	})
}

func TestAClientThatLeftIsLoggedAs499(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(ctx, "POST", "/v1/labels", strings.NewReader(`{"name":"VIP"}`))
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	f.ServeHTTP(rec, req)
	is.Equal(f.labels(), 0)
	lines := f.log.lines(rec.Header().Get("X-Request-Id"))
	is.Equal(len(lines), 1)
	is.True(strings.Contains(lines[0], "status=499"))
	is.True(strings.Contains(lines[0], "level=INFO")) // not a fault of ours
}

func TestObserversSeeTemplatesNotPaths(t *testing.T) {
	is := is.New(t)
	var seen []string
	f := serve(t, func(o *Options) {
		o.OnRequest = func(o Observation) {
			is.True(o.Took > 0)
			seen = append(seen, fmt.Sprintf("%s %s %d", o.Method, o.Route, o.Status))
		}
	})
	f.call("GET", "/labels/lbl_secret", "")
	f.call("GET", "/nowhere/lbl_secret", "")
	f.callAs("", "GET", "/health", "")
	is.Equal(seen, []string{"GET /v1/labels/:id 404", "GET  404", "GET /v1/health 200"})
	is.Equal(http.StatusText(StatusClientGone), "") // no real status has this number
}
