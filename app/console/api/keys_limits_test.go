package api

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAKeyOfTheConsoleHasTheLimitsThatItsBodySays(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	admin := f.signedIn(f.tenant, storage.RoleAdmin)
	storagetest.Connect(t, f.db, f.tenant, "106540352242922")
	storagetest.Connect(t, f.db, storagetest.Seed(t, f.db, "Other"), "206540352242922")

	for body, want := range map[string][2]any{
		`{}`: {[]any{"*"}, nil},
		`{"scopes":null,"phone_number_ids":null}`: {[]any{"*"}, nil},
		`{"scopes":["*"]}`:                        {[]any{"*"}, nil},
		`{"scopes":["send","read","send"]}`:       {[]any{"read", "send"}, nil},
		`{"scopes":["read"],"phone_number_ids":["106540352242922","106540352242922"]}`:   {[]any{"read"}, []any{"106540352242922"}},
		`{"scopes":["campaigns","inbox","platform","read","send","webhooks"],"agent":1}`: {[]any{"campaigns", "inbox", "platform", "read", "send", "webhooks"}, nil},
	} {
		made := f.visit(admin, "POST", "/keys", body)
		is.Equal(made.status, 201)
		is.Equal(made.get("data.scopes"), want[0])
		is.Equal(made.get("data.phone_number_ids"), want[1])
		is.Equal(made.get("data.agent"), nil)
	}

	before := len(f.visit(admin, "GET", "/keys", "").get("data").([]any))
	for body, want := range map[string]string{
		`{"scopes":[]}`:                   "400 invalid_field_value scopes",
		`{"scopes":["read","write"]}`:     "400 invalid_field_value scopes[1]",
		`{"scopes":["read","*"]}`:         "400 invalid_field_value scopes[1]",
		`{"scopes":[""]}`:                 "400 invalid_field_value scopes[0]",
		`{"scopes":"read"}`:               "400 invalid_field_value scopes",
		`{"phone_number_ids":[]}`:         "400 invalid_field_value phone_number_ids",
		`{"phone_number_ids":["labels"]}`: "400 invalid_field_value phone_number_ids[0]",
		`{"phone_number_ids":["106540352242922","206540352242922"]}`:                                "400 invalid_field_value phone_number_ids[1]", // of others
		`{"phone_number_ids":["106540352242922","999999999"]}`:                                      "400 invalid_field_value phone_number_ids[1]",
		`{"phone_number_ids":[` + strings.Repeat(`"106540352242922",`, 100) + `"106540352242922"]}`: "400 invalid_field_value phone_number_ids",
	} {
		is.Equal(f.visit(admin, "POST", "/keys", body).code(), want)
	}
	is.Equal(len(f.visit(admin, "GET", "/keys", "").get("data").([]any)), before)
}

// An answer may show a secret once: to the person who asked, and not to a colleague who uses the
// same Idempotency-Key.
func TestAnAnswerIsRepeatedOnlyToThePersonWhoGotIt(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	ada, bo := f.signedIn(f.tenant, storage.RoleAdmin), f.signedIn(f.tenant, storage.RoleAdmin)
	const key = "Idempotency-Key: once"
	first := f.visit(ada, "POST", "/keys", `{"label":"x"}`, key)
	is.Equal(first.status, 201)
	is.Equal(f.visit(ada, "POST", "/keys", `{"label":"x"}`, key).body, first.body)
	is.Equal(f.visit(bo, "POST", "/keys", `{"label":"x"}`, key).code(), "422 idempotency_key_reuse")
}
