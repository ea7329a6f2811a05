package api

import (
	"testing"

	"github.com/matryer/is"
)

func TestWithToTheRecipientIsNotLookedAt(t *testing.T) {
	is := is.New(t)
	f, _ := serveNumber(t)
	f = f.unchecked() // no client should send these
	for _, recipient := range []string{`"nonsense"`, `""`, `5`, `{"a":[]}`, `null`, `"US.13491208655302741918"`} {
		got := f.call("POST", messages, `{"messaging_product":"chat","to":"+15550001111","recipient":`+recipient+`,"type":"text","text":{"body":"hi"}}`)
		is.Equal(got.status, 200)
		is.Equal(got.get("data.to"), "+15550001111")
	}
	for recipient, want := range map[string]string{
		`"nonsense"`: "400 invalid_field_value recipient", `5`: "400 invalid_field_value recipient",
		`""`: "400 invalid_field_value recipient", `null`: "400 missing_required_field to",
	} {
		is.Equal(f.call("POST", messages, `{"messaging_product":"chat","recipient":`+recipient+`,"type":"text","text":{"body":"hi"}}`).code(), want)
	}
}
