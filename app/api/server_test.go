package api

import (
	"net/http"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// must makes a request for a function that only looks at it.
func must(method, target string) *http.Request {
	req, err := http.NewRequest(method, target, nil)
	if err != nil {
		panic(err)
	}
	return req
}

func TestWhatAnotherProcessChangedCountsAfterARefresh(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *Options) { o.Plans["no api"] = Plan{} })
	is.Equal(f.call("GET", "/me", "").get("data.organization.status"), "active")
	f.change(f.tenant, func(o *storage.Organization) { o.Name = "Renamed" })
	is.Equal(f.call("GET", "/me", "").get("data.organization.name"), "Renamed")
	f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt = storage.Now() })
	is.Equal(f.call("GET", "/me", "").code(), "403 organization_suspended")
	f.change(f.tenant, func(o *storage.Organization) { o.SuspendedAt, o.Plan = storage.Now(), "no api" })
	is.Equal(f.call("GET", "/me", "").code(), "403 organization_suspended") // before the plan
	f.change(f.tenant, func(o *storage.Organization) { o.Plan = "no api" })
	is.Equal(f.call("GET", "/me", "").code(), "403 feature_not_available")
	f.change(f.tenant, func(*storage.Organization) {})
	is.Equal(f.call("GET", "/me", "").status, 200)
}

func TestARefreshSaysWhenTheLogCannotBeWritten(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.stop()
	is.NoErr(f.api.Flush(t.Context())) // there is nothing to write
	f.callAs("", "GET", "/health", "")
	is.True(f.api.Flush(t.Context()) != nil)
}

func TestARefusedTransactionLeavesNothing(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.mount(route{"POST", "/half", func(r *request) (reply, error) {
		return f.api.update(r, func(tx *storage.Tx) (reply, error) {
			l := storage.Label{OrganizationID: r.org.ID, TeamID: f.tenant.Team.ID, Name: "Half", Color: "gray"}
			if err := tx.InsertLabel(&l); err != nil {
				return reply{}, err
			}
			return created(viewLabel(l)), invalid("name", "is refused after all")
		})
	}, creates, nil})
	is.Equal(f.call("POST", "/half", "{}", "Idempotency-Key: a").code(), "400 invalid_field_value name")
	is.Equal(f.labels(), 0)
	is.Equal(f.call("POST", "/labels", `{"name":"Half"}`, "Idempotency-Key: a").status, 201) // nor is the key taken
}
