package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestTheNameOfALabelIsTrimmedAndNotBlank(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	made := f.call("POST", "/labels", `{"name":" \t VIP two\u00a0"}`)
	is.Equal(made.status, 201)
	is.Equal(made.get("data.name"), "VIP two")
	is.Equal(f.call("POST", "/labels", `{"name":"VIP two "}`).code(), "400 invalid_field_value name") // it is used
	is.Equal(f.unchecked().call("POST", "/labels", `{"name":"`+strings.Repeat("x", 50)+`  "}`).status, 201)

	path := "/labels/" + made.text("data.id")
	is.Equal(f.call("PATCH", path, `{"name":"\n Gold "}`).get("data.name"), "Gold")
	for _, blank := range []string{``, ` `, `\t\n`, `\u00a0\u2003`, `\u3000`} {
		is.Equal(f.call("POST", "/labels", `{"name":"`+blank+`"}`).code(), "400 invalid_field_value name")
		is.Equal(f.call("PATCH", path, `{"name":"`+blank+`"}`).code(), "400 invalid_field_value name")
	}
	is.Equal(f.call("GET", path, "").get("data.name"), "Gold")
}
