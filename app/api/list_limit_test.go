package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestALimitIsOfDigits(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	for limit, want := range map[string]string{"7": "200", "007": "200", "100": "200"} {
		is.Equal(f.call("GET", "/labels?limit="+limit, "").code(), want)
	}
	for _, limit := range []string{"%2B7", "+7", "-7", "7.0", "1e1", "0x7", "7_0", "", "0", "101", "%D9%A7", "7%20", "99999999999999999999"} {
		is.Equal(f.call("GET", "/labels?limit="+limit, "").code(), "400 invalid_limit limit")
	}
}

func TestAListOfWhatIsNotThereIsMissingBeforeItsLimitIsWrong(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	const id = "01JQ0Z8M4T9V2X3W5Y6A7B8C9D"
	for _, list := range []string{
		conversations + "/cnv_" + id + "/notes", broadcasts + "/bcs_" + id + "/recipients", broadcasts + "/bcs_" + id + "/recipients.csv",
		"/rules/rul_" + id + "/firings", deliveries + "/wbd_" + id + "/attempts", "/customers/cus_" + id + "/setup_links",
	} {
		is.Equal(f.call("GET", list+"?limit=0&status=x", "").code(), "404 resource_not_found") // list
	}
}
