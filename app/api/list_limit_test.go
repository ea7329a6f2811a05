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
