package callback

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"confab/storage"
	"confab/storage/storagetest"
)

// webhooks are the schemas of events by their names, as openapi.json has them:
// closed, so that nothing is sent that the file does not have. What the provider
// said is open there, because its unknown keys are passed on.
var webhooks = sync.OnceValue(func() map[string]*openapi3.Schema {
	text, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		panic(err)
	}
	var raw struct {
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Schema struct {
							Ref string `json:"$ref"`
						}
					}
				} `json:"requestBody"`
			}
		}
	}
	var whole map[string]any
	if err := errors.Join(json.Unmarshal(text, &raw), json.Unmarshal(text, &whole)); err != nil {
		panic(err)
	}
	closeObjects(whole["components"].(map[string]any)["schemas"])
	closed, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(closed)
	if err != nil {
		panic(err)
	}
	found := make(map[string]*openapi3.Schema)
	for name, hook := range raw.Webhooks {
		ref := hook.Post.RequestBody.Content["application/json"].Schema.Ref
		found[name] = doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")].Value
	}
	return found
})

// described fails the test for an event that is not as openapi.json says.
func described(t testing.TB, e storage.Event) {
	t.Helper()
	schema := webhooks()[e.Type]
	if schema == nil {
		t.Fatalf("openapi.json has no webhook %s", e.Type)
	}
	var payload any
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		t.Fatal(err)
	}
	if err := schema.VisitJSON(payload, openapi3.MultiErrors(), openapi3.EnableFormatValidation()); err != nil {
		t.Errorf("%s is not as openapi.json says: %v\n%s", e.Type, err, e.Payload)
	}
}

// What differs from run to run.
var (
	anyID    = regexp.MustCompile(`\b([a-z]+_)[0-9A-HJKMNP-TV-Z]{26}\b`)
	anyTime  = regexp.MustCompile(`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`)
	anyToken = regexp.MustCompile(`/media/[A-Za-z0-9_-]{32}`)
)

// goldenEvent holds an event against testdata/golden and against openapi.json.
func goldenEvent(t testing.TB, name string, e storage.Event) {
	t.Helper()
	described(t, e)
	steady := anyID.ReplaceAll(e.Payload, []byte("${1}01JQ0Z8M4T9V2X3W5Y6A7B8C9D"))
	steady = anyTime.ReplaceAll(steady, []byte("2026-01-02T03:04:05.678Z"))
	steady = anyToken.ReplaceAll(steady, []byte("/media/token"))
	storagetest.Golden(t, name, steady, *update)
}

// closeObjects forbids properties that a schema does not list, in it and in every
// schema inside of it, unless it sets additionalProperties itself. So a field that is
// sent but not described fails the test.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"]; ok && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			closeObjects(part)
		}
	case []any:
		for _, part := range s {
			closeObjects(part)
		}
	}
}
