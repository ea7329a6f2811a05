package api

import (
	"net/http"
	"testing"

	"github.com/matryer/is"

	"confab/app/api/rest"
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
	f := serve(t, func(o *testOptions) { o.Plans["no api"] = rest.Plan{} })
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
	f.mount(rest.Route{Method: "POST", Path: "/half", Handle: func(r *rest.Request) (rest.Reply, error) {
		return f.api.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
			l := storage.Label{OrganizationID: r.Org.ID, TeamID: f.tenant.Team.ID, Name: "Half", Color: "gray"}
			if err := tx.InsertLabel(&l); err != nil {
				return rest.Reply{}, err
			}
			return rest.Created(viewLabel(l)), rest.Invalid("name", "is refused after all")
		})
	}, Needs: rest.Creates})
	is.Equal(f.call("POST", "/half", "{}", "Idempotency-Key: a").code(), "400 invalid_field_value name")
	is.Equal(f.labels(), 0)
	is.Equal(f.call("POST", "/labels", `{"name":"Half"}`, "Idempotency-Key: a").status, 201) // nor is the key taken
}
