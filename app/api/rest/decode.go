package rest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"confab/jobs/provider"
)

// Bounds of any list and any text of a body. Most fields have narrower rules of
// their own; these hold for every field, so that one without a rule is bounded too.
const (
	maxItems      = 1000
	maxCharacters = 32768
)

// LongText is a text that may be longer than others, within a rule of its own.
type LongText string

// Unmarshal decodes a valid JSON object into in, a pointer to a struct. A value of the
// wrong type, and one that is longer than any may be, is reported with its path and
// indexes.
//
// encoding/json alone is too lenient for that: it takes NAME for name, merges objects
// whose key repeats, and reports no indexes. So BodyChecker walks the text first: it
// finds values of the wrong type and blanks out the keys that must not count. Only
// then does encoding/json decode the rest.
func Unmarshal(body []byte, in any) error {
	f := BodyChecker{Text: bytes.Clone(body)}
	if bad := f.checkValue(reflect.TypeOf(in)); bad != nil {
		return Invalid(bad.path, bad.rule)
	}

	if err := json.Unmarshal(f.Text, in); err != nil {
		return &Error{Code: InvalidJSON, Message: "The body is not valid JSON.", Cause: err}
	}
	return nil
}

// mismatch is a value of the wrong type. Its path grows from the inside out, as the
// walk returns.
type mismatch struct{ path, rule string }

// under puts the mismatch under a field or an index.
func (m *mismatch) under(step string) *mismatch {
	if m.path != "" && m.path[0] != '[' {
		step += "."
	}
	m.path = step + m.path
	return m
}

// BodyChecker walks a valid JSON text along the Go type that it will be decoded into.
// It blanks out in place the keys that must not count: unknown ones, also those that
// only differ in case, and all but the last of repeated ones.
type BodyChecker struct {
	Text []byte
	At   int
}

// wrapper is a type that decodes the JSON of another type, as patch does.
type wrapper interface{ wrapped() reflect.Type }

// unwrapType removes pointers and wrappers from a type; nil if nothing is left.
func unwrapType(t reflect.Type) reflect.Type {
	for t != nil {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case t.Implements(reflect.TypeFor[wrapper]()):
			t = reflect.Zero(t).Interface().(wrapper).wrapped()
		default:
			return t
		}
	}
	return nil
}

// checkValue walks one value; t is nil where any value may be.
func (f *BodyChecker) checkValue(t reflect.Type) *mismatch {
	f.SkipSpace()
	start, first := f.At, f.Text[f.At]

	t = unwrapType(t)
	switch {
	case t == nil:
		f.SkipValue()
		return nil
	case fitsByFirstByte(t, first):
		f.SkipValue()
		return f.checkLength(start, t)
	case HasUnmarshaler(t):
		return f.checkLeaf(start, t, "has the wrong format")
	case t.Kind() == reflect.Struct && first == '{':
		return f.checkObject(StructFields(t))
	case t.Kind() == reflect.Map && first == '{':
		return f.checkMap(t.Elem())
	case t.Kind() == reflect.Slice && first == '[':
		return f.checkArray(t.Elem())
	default:
		return f.checkLeaf(start, t, "must be "+typeName(t.Kind()))
	}
}

// fitsByFirstByte reports whether the first byte of a value is enough to know that the
// whole value fits the type.
func fitsByFirstByte(t reflect.Type, first byte) bool {
	switch {
	case first == '"':
		return t.Kind() == reflect.String && !HasUnmarshaler(t)
	case first == 't' || first == 'f':
		return t.Kind() == reflect.Bool && !HasUnmarshaler(t)
	default:
		return t == reflect.TypeFor[json.RawMessage]()
	}
}

// checkLength refuses a text that is too long. The text of most values is shorter than
// that with all its quotes and escapes, and is not looked at.
func (f *BodyChecker) checkLength(start int, t reflect.Type) *mismatch {
	if f.At-start <= maxCharacters || t.Kind() != reflect.String || t == reflect.TypeFor[LongText]() {
		return nil
	}

	var text string
	if json.Unmarshal(f.Text[start:f.At], &text) == nil && utf8.RuneCountInString(text) <= maxCharacters {
		return nil
	}
	return &mismatch{rule: "must have at most " + strconv.Itoa(maxCharacters) + " characters"}
}

// checkLeaf lets encoding/json decide whether the value fits; null fits everywhere.
func (f *BodyChecker) checkLeaf(start int, t reflect.Type, rule string) *mismatch {
	f.SkipValue()
	if json.Unmarshal(f.Text[start:f.At], reflect.New(t).Interface()) != nil {
		return &mismatch{rule: rule}
	}
	return nil
}

func (f *BodyChecker) checkObject(fields map[string]reflect.StructField) *mismatch {
	last := make(map[string]int) // where the key of each field begins

	f.At++
	for f.NextMember('}') {
		start := f.At
		name := f.ReadKey()

		// Of repeated keys the last one counts.
		field, known := fields[name]
		if earlier, again := last[name]; again {
			f.blankKey(earlier)
		}
		if known {
			last[name] = start
		} else {
			f.blankKey(start)
		}

		if bad := f.checkValue(field.Type); bad != nil {
			return bad.under(name)
		}
	}
	return nil
}

// checkMap walks an object of any keys.
func (f *BodyChecker) checkMap(value reflect.Type) *mismatch {
	f.At++
	for f.NextMember('}') {
		name := f.ReadKey()
		switch bad := f.checkValue(value); {
		case bad != nil && len(name) <= maxNamedKey:
			return bad.under(name)
		case bad != nil:
			return bad
		}
	}
	return nil
}

// maxNamedKey is the longest key of an object of any keys that an error names.
const maxNamedKey = 64

func (f *BodyChecker) checkArray(element reflect.Type) *mismatch {
	f.At++
	for i := 0; f.NextMember(']'); i++ {
		if i == maxItems {
			return &mismatch{rule: "must have at most " + strconv.Itoa(maxItems) + " items"}
		}
		if bad := f.checkValue(element); bad != nil {
			return bad.under("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

// NextMember moves to the next member of an object or array, or past the closing
// delimiter, which it reports as false.
func (f *BodyChecker) NextMember(end byte) bool {
	f.SkipSpace()
	if f.Text[f.At] == ',' {
		f.At++
		f.SkipSpace()
	}
	if f.Text[f.At] == end {
		f.At++
		return false
	}
	return true
}

// ReadKey reads a key and moves past its colon.
func (f *BodyChecker) ReadKey() (name string) {
	start := f.At
	f.SkipValue()

	if text := f.Text[start:f.At]; bytes.IndexByte(text, '\\') < 0 {
		name = string(text[1 : len(text)-1])
	} else if err := json.Unmarshal(text, &name); err != nil {
		panic("a key of valid JSON is no string: " + err.Error())
	}

	f.SkipSpace()
	f.At++
	return name
}

// blankKey overwrites the key at start with dashes, a name that no type has.
func (f *BodyChecker) blankKey(start int) {
	for i := start + 1; f.Text[i] != '"'; i++ {
		if f.Text[i] == '\\' {
			f.Text[i] = '-'
			i++
		}
		f.Text[i] = '-'
	}
}

func (f *BodyChecker) SkipSpace() {
	for f.At < len(f.Text) && strings.IndexByte(" \t\r\n", f.Text[f.At]) >= 0 {
		f.At++
	}
}

// SkipValue moves past the current value.
func (f *BodyChecker) SkipValue() { f.At = provider.SkipValue(f.Text, f.At) }

func HasUnmarshaler(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// structFieldCache holds the result of StructFields for each type that was decoded.
var structFieldCache sync.Map

// StructFields are the fields of a struct by their JSON names.
func StructFields(t reflect.Type) map[string]reflect.StructField {
	if known, ok := structFieldCache.Load(t); ok {
		return known.(map[string]reflect.StructField)
	}

	fields := make(map[string]reflect.StructField)
	for _, field := range reflect.VisibleFields(t) {
		tag, tagged := field.Tag.Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !field.IsExported():
			continue
		case field.Anonymous && name == "": // its fields are visible themselves
			continue
		case !tagged || name == "":
			name = field.Name
		}
		fields[name] = field
	}

	structFieldCache.Store(t, fields)
	return fields
}

// typeName is the JSON name of a Go kind, for error messages.
func typeName(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Interface:
		return "an object"
	default:
		return "a whole number"
	}
}

// hasLoneSurrogate reports whether a valid document escapes only one half of a surrogate
// pair. That is no character, and many JSON parsers fail on it.
func hasLoneSurrogate(doc []byte) bool {
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' {
			continue
		}
		if first := escapedUnit(doc[i:]); utf16.IsSurrogate(first) {
			i += len(`\u0000`)
			if utf16.DecodeRune(first, escapedUnit(doc[i:])) == utf8.RuneError {
				return true
			}
		}
		i++ // past what is escaped, which may be a backslash
	}
	return false
}

// escapedUnit is the code unit of UTF-16 that a text begins with as an escape, 0 if it does not.
func escapedUnit(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}
