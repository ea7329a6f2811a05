package api

import (
	"encoding/json"

	"confab/jobs/contactsheet"
)

// checkMetadata refuses what is no object, or a large one. The value is valid
// JSON.
func checkMetadata(raw json.RawMessage) error {
	if rule := contactsheet.MetadataRule(raw); rule != "" {
		return invalid("metadata", rule)
	}
	return nil
}

// compact is a JSON text without the space in it.
func compact(raw json.RawMessage) []byte { return contactsheet.Compact(raw) }
