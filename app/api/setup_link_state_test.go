package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestAnInactiveSetupLinkIsToldBeforeItsBodyIsLookedAt(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	link := f.newCustomer("Bakery") + "/setup_links"
	path := link + "/" + f.call("POST", link, "").text("data.id")
	bodies := map[string]string{
		`{}`: "400 missing_required_field success_redirect_url", `{"success_redirect_url":"ftp://x"}`: "400 invalid_field_value success_redirect_url", `{`: "400 invalid_json",
	}
	for body, want := range bodies {
		is.Equal(f.call("PATCH", path, body).code(), want)
	}
	is.Equal(f.call("DELETE", path, "").status, 200)
	for body := range bodies {
		is.Equal(f.call("PATCH", path, body).code(), "409 setup_link_inactive")
	}
	is.Equal(f.call("PATCH", link+"/csl_x", `{`).code(), "404 resource_not_found")
}
