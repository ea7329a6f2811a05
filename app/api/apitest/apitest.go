// Package apitest helps tests to check what is sent against openapi.json.
package apitest

// CloseObjects forbids properties that a schema does not list, in it and in every
// schema inside of it, unless it sets additionalProperties itself. So a field that is
// sent but not described fails the test.
func CloseObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"]; ok && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
		for _, part := range s {
			CloseObjects(part)
		}
	case []any:
		for _, part := range s {
			CloseObjects(part)
		}
	}
}
