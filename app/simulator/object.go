package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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
	case json.Number, bool:
		return fmt.Sprint(v)
	}
	return ""
}

func (o object) isText(key string) bool {
	_, ok := o[key].(string)
	return ok
}

// child returns the object under a key, or nil when there is none.
func (o object) child(key string) object { return asObject(o[key]) }

// list returns the array under a key, or nil when there is none.
func (o object) list(key string) (list []any) {
	switch v := o[key].(type) {
	case []any:
		return v
	case string:
		if decodeJSON([]byte(v), &list) != nil {
			return nil
		}
	}
	return list
}

// objects returns the array under a key as objects: nil for an item that is none.
func (o object) objects(key string) []object {
	if own, ok := o[key].([]object); ok {
		return own
	}
	return viewsOf(o.list(key), asObject)
}

// words returns the array under a key, or a text with commas, as words.
func (o object) words(key string) []string {
	if list := o.list(key); list != nil {
		return viewsOf(list, func(v any) string { return fmt.Sprint(v) })
	}
	return strings.FieldsFunc(o.text(key), func(r rune) bool { return r == ',' || r == ' ' })
}

// boolean reads a boolean in any of its spellings.
func (o object) boolean(key string) bool { return o.text(key) == "true" || o.text(key) == "1" }

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
func asObject(v any) (o object) {
	switch v := v.(type) {
	case map[string]any:
		return v
	case object:
		return v
	case string:
		if decodeJSON([]byte(v), &o) != nil {
			return nil
		}
	}
	return o
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

func decodeObject(b []byte) (o object, err error) {
	if err := decodeJSON(b, &o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errNotObject
	}
	return o, nil
}

// marshal encodes a value as JSON without escaping <, > and &, which the
// provider leaves alone.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // all that is encoded was JSON before, or is of types of ours
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// throughJSON gives a value of Go the types that the body of a request would have.
func throughJSON[T any](v any) (body T) {
	if err := decodeJSON(marshal(v), &body); err != nil {
		panic(err) // callers ask for types that fit
	}
	return body
}

// appendASCII appends JSON in the provider's dialect: pure ASCII, with \u in
// lower case for all else and \/ for each slash. Signatures are made over
// these bytes, so a receiver that decodes and re-encodes before it checks the
// signature fails here, as it would with the provider.
func appendASCII(dst, src []byte) []byte {
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)

		switch {
		case r == '\\' && len(src) > 1:
			size = 2 // with what it escapes
			dst = append(dst, src[:size]...)
		case r == '/':
			dst = append(dst, `\/`...)
		case r < utf8.RuneSelf:
			dst = append(dst, src[0])
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = fmt.Appendf(dst, `\u%04x`, unit)
			}
		}
		src = src[size:]
	}
	return dst
}

// viewsOf shows each item of a list. No items are an empty list, not null.
func viewsOf[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}
