package api

import (
	"bytes"
	"confab/jobs/provider"
	"encoding/json"
	"strconv"
)

// What metadata may hold. The depth is far below what the database reads.
const (
	maxMetadataKeys  = 64
	maxMetadataSize  = 16 << 10
	maxMetadataDepth = 64
)

// checkMetadata refuses what is no object, or a large one. The value is valid
// JSON.
func checkMetadata(raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &fields) != nil || fields == nil:
		return invalid("metadata", "must be an object")
	case len(fields) > maxMetadataKeys:
		return invalid("metadata", "must have at most "+strconv.Itoa(maxMetadataKeys)+" keys")
	case len(compact(raw)) > maxMetadataSize:
		return invalid("metadata", "must have at most 16 KB")
	case provider.JSONDepth(raw) > maxMetadataDepth:
		return invalid("metadata", "must not be nested deeper than "+strconv.Itoa(maxMetadataDepth)+" levels")
	}
	return nil
}

// compact is a JSON text without the space in it.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw // it is valid
	}
	return b.Bytes()
}
