package api

import (
	"bytes"
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
	case nesting(raw) > maxMetadataDepth:
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

// nesting counts how many objects and arrays of a valid text stand within each
// other.
func nesting(raw []byte) (deepest int) {
	open, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}

// sameJSON tells whether two texts, either of which may be absent, mean the same.
func sameJSON(a, b []byte) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// canonical writes a valid text with its keys in order and its numbers as they
// are.
func canonical(raw []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}

	text, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return text
}
