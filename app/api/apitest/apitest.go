// Package apitest helps tests to hold what is sent against openapi.json.
package apitest

// CloseObjects lets a schema, and all in it, have no properties but those that it
// lists, unless it says otherwise.
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
