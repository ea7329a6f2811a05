package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/matryer/is"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs/rules"
)

func TestTheRouteTableAndTheDescriptionAgree(t *testing.T) {
	is := is.New(t)
	doc := described().doc
	inDoc := make(map[string]*openapi3.Operation)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			inDoc[method+" "+path] = operation
		}
	}
	for _, rt := range (&Server{}).Routes() {
		name := rt.Method + " " + braces(rt.Path)
		operation := inDoc[name]
		delete(inDoc, name)
		if operation == nil {
			t.Errorf("%s is not in openapi.json", name)
			continue
		}
		for _, missing := range lacks(rt, operation) {
			t.Errorf("%s: openapi.json lacks %s", name, missing)
		}
		is.Equal(operation.Security != nil, rt.Has(rest.Public)) // only a public operation overrides the bearer
		is.True(!rt.Has(rest.Public) || rt.Method == "GET")      // an Idempotency-Key needs an organization
		is.True(rt.Has(rest.Public) == (operation.Security != nil && len(*operation.Security) == 0))
	}
	is.Equal(len(inDoc), 0) // operations without a route
	is.Equal(doc.Security, openapi3.SecurityRequirements{{"bearer": []string{}}})
}

// lacks names what every operation of a route's kind must have and this has not.
func lacks(rt rest.Route, operation *openapi3.Operation) (missing []string) {
	want := []string{"500"}
	if !rt.Has(rest.Public) {
		want = append(want, "401", "403", "429", "503")
	}
	if strings.Contains(rt.Path, ":") {
		want = append(want, "404")
	}
	if rt.Method == "POST" {
		want = append(want, "400", "409", "413", "422")
	}
	switch {
	case rt.Has(rest.Creates):
		want = append(want, "201", "402")
	case strings.HasSuffix(rt.Path, "replay") || strings.HasSuffix(rt.Path, "/test") || rt.Has(rest.Sheets):
		want = append(want, "202")
	case rt.Path == "/:phone_number_id/messages/:id/media":
		want = append(want, "302")
	default:
		want = append(want, "200")
	}
	for _, status := range want {
		if operation.Responses.Value(status) == nil {
			missing = append(missing, "a "+status)
		}
	}
	if rt.Method == "POST" && operation.Parameters.GetByInAndName("header", "Idempotency-Key") == nil {
		missing = append(missing, "the Idempotency-Key")
	}
	if operation.OperationID == "" || operation.Summary == "" || operation.Description == "" || len(operation.Tags) != 1 {
		missing = append(missing, "an operationId, a summary, a description or its one tag")
	}
	return append(missing, lacksExamples(operation)...)
}

func lacksExamples(operation *openapi3.Operation) (missing []string) {
	if body := operation.RequestBody; body != nil {
		if content := body.Value.Content["application/json"]; content != nil && len(content.Examples) == 0 {
			missing = append(missing, "an example of the body")
		}
	}
	for status, response := range operation.Responses.Map() {
		if content := response.Value.Content["application/json"]; content != nil && len(content.Examples) == 0 {
			missing = append(missing, "an example of "+status)
		}
	}
	return missing
}

// braces writes a path as OpenAPI does.
func braces(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

func TestTheDescriptionNamesEveryErrorCode(t *testing.T) {
	is := is.New(t)
	doc := described().doc
	var named, sent []string
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		named = append(named, code.(string))
	}
	for name, code := range rest.Codes {
		if code != rest.InvalidSignature && code != rest.SessionRequired && code != rest.SecondFactorRequired { // never under /v1
			sent = append(sent, name)
		}
	}
	slices.Sort(named)
	slices.Sort(sent)
	is.Equal(named, sent)

	shown := make(map[string]bool)
	for name, response := range doc.Components.Responses {
		for code, example := range response.Value.Content["application/json"].Examples {
			body := example.Value.Value.(map[string]any)["error"].(map[string]any)
			is.Equal(body["code"], code)
			is.Equal(fmt.Sprint(rest.CodeNamed(code).Status), statusOf[name]) // the code is under its status
			is.Equal(body["type"], string(rest.CodeNamed(code).ErrorType))
			shown[code] = true
		}
	}
	is.Equal(slices.Sorted(maps.Keys(shown)), sent) // each has an example
}

func TestEveryFieldOfAnAnswerIsAlwaysThere(t *testing.T) {
	optional := []string{"Error.error.param", "Message.media", "Message.error", "Message.played_at",
		"Conversation.contact.bsuid", "Conversation.contact.parent_bsuid", "HolderRef.id"}
	for _, name := range []string{"media_url", "media_status", "image", "document", "video", "audio", "sticker"} {
		optional = append(optional, "EventMessageSent.data.message."+name)
	}
	for _, day := range rules.Days() {
		optional = append(optional, "Hours.weekly."+day)
	}
	for _, condition := range []string{"phone_number_ids", "text", "hours", "first_contact", "label_id", "assigned", "holder", "idle_minutes"} {
		optional = append(optional, "RuleConditions."+condition)
	}
	for _, action := range []string{"reply", "reply.text", "reply.quick_reply_id", "reply.template", "add_label", "remove_label", "assign", "resolve", "note", "hand_over"} {
		optional = append(optional, "RuleAction."+action)
	}
	for _, content := range append(slices.Clone(content.MessageTypes), "unsupported", "other", "location", "contacts", "button", "sticker", "order") {
		optional = append(optional, "Message."+content)
	}
	var fields []string
	var walk func(path string, schema *openapi3.Schema)
	walk = func(path string, schema *openapi3.Schema) {
		if open := schema.AdditionalProperties.Has; open != nil && *open {
			return // the provider's, who may add to it or leave out
		}
		for name, property := range schema.Properties {
			field := path + "." + name
			fields = append(fields, field)
			if slices.Contains(schema.Required, name) == slices.Contains(optional, field) {
				t.Errorf("%s: is it required or not?", field)
			}
			if property.Ref == "" {
				walk(field, property.Value)
			}
		}
	}
	for name, schema := range described().doc.Components.Schemas {
		if !isBody(name) {
			walk(name, schema.Value)
		}
	}
	for _, field := range optional {
		if !slices.Contains(fields, field) {
			t.Errorf("there is no %s that may be left out", field)
		}
	}
}

// TestNoFieldOfABodyHasADefault keeps optional fields optional: generators of clients
// take a field with a default for one that is always there, and require it. The
// value meant without the field is in its description.
func TestNoFieldOfABodyHasADefault(t *testing.T) {
	looked := make(map[*openapi3.Schema]bool)
	for path, item := range described().doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			for _, content := range operation.RequestBody.Value.Content {
				for _, where := range defaults(content.Schema, "body", looked) {
					t.Errorf("%s %s: %s has a default", method, path, where)
				}
			}
		}
	}
	if len(looked) < 100 {
		t.Errorf("only %d schemas were found", len(looked))
	}
}

// defaults finds the parts of a schema that have a default.
func defaults(ref *openapi3.SchemaRef, name string, looked map[*openapi3.Schema]bool) (found []string) {
	if ref == nil || looked[ref.Value] {
		return nil
	}
	s := ref.Value
	looked[s] = true
	if s.Default != nil {
		found = append(found, name)
	}
	for field, property := range s.Properties {
		found = append(found, defaults(property, name+"."+field, looked)...)
	}
	for _, list := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf, {s.Items, s.Not, s.AdditionalProperties.Schema}} {
		for _, part := range list {
			found = append(found, defaults(part, name, looked)...)
		}
	}
	return found
}
