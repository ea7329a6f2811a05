package contactsheet

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"confab/jobs/provider"
)

// Limits of a contact's texts, in characters.
const (
	MaxName     = 200
	MaxUsername = 100
)

// Bounds of metadata. The depth is far below what the database reads.
const (
	maxMetadataKeys  = 64
	maxMetadataSize  = 16 << 10
	maxMetadataDepth = 64
)

// MetadataRule is the rule that metadata breaks, which completes a sentence that begins
// with its name; "" if it breaks none. The value is valid JSON.
func MetadataRule(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &fields) != nil || fields == nil:
		return "must be an object"
	case len(fields) > maxMetadataKeys:
		return "must have at most " + strconv.Itoa(maxMetadataKeys) + " keys"
	case len(Compact(raw)) > maxMetadataSize:
		return "must have at most 16 KB"
	case provider.JSONDepth(raw) > maxMetadataDepth:
		return "must not be nested deeper than " + strconv.Itoa(maxMetadataDepth) + " levels"
	}
	return ""
}

// Compact is a JSON text without the space in it.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw // it is valid
	}
	return b.Bytes()
}

// IsOwnBSUID reports whether a text is a person's own business-scoped user id, not one of a
// parent portfolio.
func IsOwnBSUID(id string) bool { return provider.BSUID.MatchString(id) && !provider.IsParentBSUID(id) }

// atMost is the rule that a text breaks which is too long.
func atMost(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		return "must have at most " + strconv.Itoa(most) + " characters"
	}
	return ""
}
