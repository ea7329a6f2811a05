package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// object is a decoded JSON object, or the merged parameters of a request. Its
// readers treat null as absent and accept the loose spellings that the
// provider accepts: numbers and booleans as strings, and JSON inside strings.
type object map[string]any

// has reports whether a key holds anything but null.
func (o object) has(key string) bool { return o[key] != nil }

// put sets a text, unless it is empty.
func (o object) put(key, text string) {
	if text != "" {
		o[key] = text
	}
}

// text returns a value as text; numbers and booleans are spelled out.
func (o object) text(key string) string {
	switch v := o[key].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// isText reports whether a key holds a string.
func (o object) isText(key string) bool {
	_, ok := o[key].(string)
	return ok
}

// child returns the object under a key, or nil when there is none.
func (o object) child(key string) object {
	return asObject(o[key])
}

// list returns the array under a key, or nil when there is none.
func (o object) list(key string) []any {
	switch v := o[key].(type) {
	case []any:
		return v
	case string:
		var list []any
		if strings.HasPrefix(strings.TrimSpace(v), "[") && decodeJSON([]byte(v), &list) == nil {
			return list
		}
	}
	return nil
}

// boolean reads a boolean in any of its spellings.
func (o object) boolean(key string) bool {
	switch v := o[key].(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	case json.Number:
		return v == "1"
	}
	return false
}

// integer reads a whole number; ok is false when it is absent or is none.
func (o object) integer(key string) (n int64, ok bool) {
	n, err := strconv.ParseInt(o.text(key), 10, 64)
	return n, err == nil
}

// decimal reads a number given as a number or as a string.
func (o object) decimal(key string) (f float64, ok bool) {
	f, err := strconv.ParseFloat(o.text(key), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// asObject views a value as an object; a string that holds one is decoded.
func asObject(v any) object {
	switch v := v.(type) {
	case map[string]any:
		return v
	case object:
		return v
	case string:
		var m map[string]any
		if strings.HasPrefix(strings.TrimSpace(v), "{") && decodeJSON([]byte(v), &m) == nil {
			return m
		}
	}
	return nil
}

// decodeJSON decodes one whole JSON value, keeping numbers as they were written.
func decodeJSON(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}

	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}
