package api

import (
	"flag"
	"regexp"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
	"confab/storage"
	"confab/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What differs from run to run, and what golden files have in its place.
var (
	anyID   = regexp.MustCompile(`(\b[a-z]+_|")[0-9A-HJKMNP-TV-Z]{26}\b`)
	anyTime = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`)
	anyLast = regexp.MustCompile(`"last4":"[^"]{4}"`)
)

// golden compares a body with testdata/golden/NAME.json.
func golden(t *testing.T, name, body string) {
	t.Helper()
	body = anyID.ReplaceAllString(body, "${1}01JQ0Z8M4T9V2X3W5Y6A7B8C9D")
	body = anyTime.ReplaceAllString(body, "2026-01-02T03:04:05.678Z")
	body = anyLast.ReplaceAllString(body, `"last4":"x9Zq"`)
	storagetest.Golden(t, name, []byte(body), *update)
}

func TestHealthNeedsNoKey(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	for _, key := range []string{"", f.tenant.Secret, "garbage"} {
		got := f.callAs(key, "GET", "/health", "")
		is.Equal(got.status, 200)
		golden(t, "health", got.body)
		is.Equal(got.get("data.version"), "test")
	}
}

func TestTheDescriptionIsServedAsItIs(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	got := f.callAs("", "GET", "/openapi.json", "")
	is.Equal(got.status, 200)
	is.Equal(got.header.Get("Content-Type"), "application/json")
	is.Equal(got.body, string(openAPIDocument))
	is.Equal(got.get("info.version"), "1.0.0")
}

func TestMeTellsWhoIsCalling(t *testing.T) {
	is := is.New(t)
	f := serve(t, limited(1000, 2000))
	email, label := "ada@example.com", "CRM"
	var secret string
	storagetest.Update(t, f.db, func(tx *storage.Tx) (err error) {
		org := f.tenant.Organization.ID
		if err := tx.InsertTeam(&storage.Team{OrganizationID: org, Name: "Second"}); err != nil {
			return err
		}
		for _, u := range []storage.User{{Name: "Ada", Email: &email}, {Name: "Bob"}} {
			u.OrganizationID, u.TeamID = org, f.tenant.Team.ID
			if err := tx.InsertUser(&u); err != nil {
				return err
			}
		}
		secret, err = tx.InsertKey(&storage.Key{OrganizationID: org, Label: &label, ExpiresAt: tx.Now.Add(1 << 40)})
		return err
	})
	storagetest.Seed(t, f.db, "Other") // of which nothing may show
	got := f.callAs(secret, "GET", "/me", "")
	is.Equal(got.status, 200)
	golden(t, "me", got.body)
	is.Equal(got.get("data.api_key.last4"), secret[len(secret)-4:])
	is.Equal(got.get("data.organization.id"), f.tenant.Organization.PublicID)
	plain := f.call("GET", "/me", "")
	is.Equal(plain.get("data.api_key.label"), nil)
	is.Equal(plain.get("data.api_key.expires_at"), nil)
	is.True(plain.get("data.api_key.id") != got.get("data.api_key.id"))
}

func TestMeShowsTheBucket(t *testing.T) {
	is := is.New(t)
	f := serve(t, limited(2.5, 7))
	got := f.call("GET", "/me", "")
	is.Equal(got.get("data.rate_limits.per_second"), 2.5)
	is.Equal(got.get("data.rate_limits.burst"), 7.0)
}

// limited gives the tenant's plan a bucket.
func limited(perSecond float64, burst int) func(*testOptions) {
	return func(o *testOptions) {
		o.Plans["self_hosted"] = rest.Plan{API: true, Customers: true, RatePerSecond: perSecond, Burst: burst}
	}
}
