package rest

import (
	"encoding/json"

	"confab/jobs/contactsheet"
)

// CheckMetadata refuses what is no object, or a large one. The value is valid
// JSON.
func CheckMetadata(raw json.RawMessage) error {
	if rule := contactsheet.MetadataRule(raw); rule != "" {
		return Invalid("metadata", rule)
	}
	return nil
}

// Compact is a JSON text without the space in it.
func Compact(raw json.RawMessage) []byte { return contactsheet.Compact(raw) }
