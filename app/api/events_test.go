package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/matryer/is"

	"confab/jobs/event"
)

// eventSchema is the schema that openapi.json has for an event.
func eventSchema(t *testing.T, kind string) *openapi3.Schema {
	t.Helper()
	item := described().doc.Webhooks[kind]
	if item == nil {
		t.Fatalf("openapi.json has no webhook %s", kind)
	}
	return item.Post.RequestBody.Value.Content["application/json"].Schema.Value
}

// eventType finds an event's type by its payload; "" for anything else.
func eventType(payload any) string {
	envelope, _ := payload.(map[string]any)
	if kind, _ := envelope["type"].(string); event.IsType(kind) {
		return kind
	}
	if envelope["object"] != "chat_business_account" {
		return ""
	}
	text, _ := json.Marshal(envelope)
	if strings.Contains(string(text), `"statuses":[`) {
		return event.TypeMessageStatus
	}
	return event.TypeMessageReceived
}

// goldenEvents are all payloads that the tests of other packages hold events to.
func goldenEvents(t *testing.T) map[string]any {
	t.Helper()
	payloads := make(map[string]any)
	for _, dir := range []string{"../../jobs/event", "../callback", "../../jobs", "../pages"} {
		files, err := filepath.Glob(filepath.Join(dir, "testdata", "golden", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var payload any
			if err := json.Unmarshal(text, &payload); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if eventType(payload) != "" {
				payloads[file] = payload
			}
		}
	}
	return payloads
}

func TestEveryEventIsAsDescribed(t *testing.T) {
	seen := make(map[string]bool)
	for file, payload := range goldenEvents(t) {
		kind := eventType(payload)
		seen[kind] = true
		if err := eventSchema(t, kind).VisitJSON(payload); err != nil {
			t.Errorf("%s is no %s as openapi.json has it: %v", file, kind, err)
		}
	}
	for _, kind := range event.Types() {
		if !seen[kind] {
			t.Errorf("no golden file shows a %s", kind)
		}
	}
}

func TestTheDescriptionShowsEveryEvent(t *testing.T) {
	is := is.New(t)
	golden := goldenEvents(t)
	var shown []string
	for kind, item := range described().doc.Webhooks {
		shown = append(shown, kind)
		post := item.Post
		is.True(post.Security != nil && len(*post.Security) == 0) // a receiver knows no API key
		is.Equal(len(post.Parameters), 11)                        // the headers
		for _, parameter := range post.Parameters {
			is.Equal(parameter.Value.In, "header")
			is.True(parameter.Value.Required)
		}
		example := post.RequestBody.Value.Content["application/json"].Examples["sample"].Value.Value
		is.NoErr(eventSchema(t, kind).VisitJSON(example))
		file := "../../jobs/event/testdata/golden/sample_" + strings.ReplaceAll(kind, ".", "_") + ".json"
		if !reflect.DeepEqual(example, golden[file]) {
			t.Errorf("the example of %s in openapi.json is not what a test event carries: see %s", kind, file)
		}
	}
	want := event.Types()
	slices.Sort(want)
	slices.Sort(shown)
	is.Equal(shown, want)
	var named []string
	for _, name := range described().doc.Components.Schemas["EventType"].Value.Enum {
		named = append(named, name.(string))
	}
	is.Equal(named, event.Types())
}

func TestTheDescriptionOfEventsCatchesDrift(t *testing.T) {
	is := is.New(t)
	var payload map[string]any
	text, err := os.ReadFile("../../jobs/event/testdata/golden/contact_created.json")
	is.NoErr(err)
	is.NoErr(json.Unmarshal(text, &payload))
	payload["livemode"] = true
	is.True(eventSchema(t, event.TypeContactCreated).VisitJSON(payload) != nil) // exactly four fields
	delete(payload, "livemode")
	delete(payload["data"].(map[string]any)["contact"].(map[string]any), "email")
	is.True(eventSchema(t, event.TypeContactCreated).VisitJSON(payload) != nil)
}
