package rest

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// limited gives the tenant's plan a bucket.
func limited(perSecond float64, burst int) func(*Options) {
	return func(o *Options) {
		o.Plans["self_hosted"] = Plan{API: true, Customers: true, RatePerSecond: perSecond, Burst: burst}
	}
}

func TestTheBucketCountsDownAndFillsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, limited(0.5, 3))
		check := func(path, code string, remaining int, full time.Duration) {
			t.Helper()
			got := f.call("GET", path, "")
			is.Equal(got.code(), code)
			is.Equal(got.header.Get("X-RateLimit-Limit"), "3")
			is.Equal(got.header.Get("X-RateLimit-Remaining"), strconv.Itoa(remaining))
			reset := time.Now().Add(full + time.Second - 1).Unix() // whole seconds, rounded up
			is.Equal(got.header.Get("X-RateLimit-Reset"), strconv.FormatInt(reset, 10))
		}
		check("/labels", "200", 2, 2*time.Second)
		check("/nowhere", "404 resource_not_found", 2, 2*time.Second) // shown, not consumed
		check("/labels", "200", 1, 4*time.Second)
		check("/labels/lbl_x", "404 resource_not_found", 0, 6*time.Second) // after the limit: consumed
		got := f.call("GET", "/me", "")
		is.Equal(got.code(), "429 rate_limit_exceeded")
		is.Equal(got.get("error.type"), "rate_limit_error")
		is.Equal(got.header.Get("Retry-After"), "2")
		is.Equal(got.header.Get("X-RateLimit-Remaining"), "0")
		check("/nowhere", "404 resource_not_found", 0, 6*time.Second) // an empty bucket hides no 404

		time.Sleep(1500 * time.Millisecond)
		is.Equal(f.call("GET", "/me", "").header.Get("Retry-After"), "1") // half a second, rounded up
		time.Sleep(500 * time.Millisecond)
		check("/me", "200", 0, 6*time.Second)
		time.Sleep(time.Hour)
		check("/me", "200", 2, 2*time.Second) // no more than the bucket holds
	})
}

func TestAPlanWithoutALimitShowsNone(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	got := f.call("GET", "/me", "")
	is.Equal(got.status, 200)
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} {
		is.Equal(got.header.Values(name), nil)
	}
}

func TestEachOrganizationHasItsOwnBucket(t *testing.T) {
	is := is.New(t)
	f := serve(t, limited(0.001, 1))
	other := storagetest.Seed(t, f.db, "Other")
	is.Equal(f.call("GET", "/me", "").status, 200)
	is.Equal(f.call("GET", "/me", "").status, 429)
	is.Equal(f.callAs(other.Secret, "GET", "/me", "").status, 200)
	is.Equal(f.callAs("", "GET", "/health", "").header.Get("X-RateLimit-Limit"), "") // public: no bucket
}

func TestAChangedPlanChangesTheBucket(t *testing.T) {
	is := is.New(t)
	f := serve(t, limited(0.001, 5), func(o *Options) {
		o.Plans["small"] = Plan{API: true, RatePerSecond: 0.001, Burst: 2}
		o.Plans["free"] = Plan{API: true}
	})
	is.Equal(f.call("GET", "/me", "").header.Get("X-RateLimit-Remaining"), "4")
	f.update(func(o *storage.Organization) { o.Plan = "small" })
	got := f.call("GET", "/me", "")
	is.Equal(got.header.Get("X-RateLimit-Limit"), "2")
	is.Equal(got.header.Get("X-RateLimit-Remaining"), "1")
	f.update(func(o *storage.Organization) { o.Plan = "free" })
	is.Equal(f.call("GET", "/me", "").header.Get("X-RateLimit-Limit"), "")
	f.update(func(o *storage.Organization) { o.Plan = "a plan that the settings lost" })
	is.Equal(f.call("GET", "/me", "").header.Get("X-RateLimit-Limit"), "5") // the default plan's
}
