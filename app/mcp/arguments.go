package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// arguments are those of one call, by name, without what is null.
type arguments map[string]json.RawMessage

// read reads the arguments of a call, and refuses unknown and missing ones.
func (t *tool) read(given json.RawMessage) (arguments, error) {
	all := make(arguments)
	if len(bytes.TrimSpace(given)) > 0 {
		if err := json.Unmarshal(given, &all); err != nil {
			return nil, refuse("invalid_field_value", "", "The arguments must be an object.")
		}
	}

	names := make([]string, len(t.takes))
	for i, p := range t.takes {
		names[i] = p.name
	}

	for name, value := range all {
		at := slices.Index(names, name)
		if at < 0 {
			why := t.name + " has no such argument. Its arguments are: " + strings.Join(names, ", ") + "."
			return nil, refuse("invalid_field_value", name, why)
		}
		if string(value) == "null" {
			delete(all, name)
			continue
		}
		if _, isText := text(value); !isText && !t.takes[at].isStructured {
			return nil, refuse("invalid_field_value", name, name+" must be a string.")
		}
	}

	for _, p := range t.takes {
		if p.isRequired && all[p.name] == nil {
			return nil, refuse("missing_required_field", p.name, p.name+" is required.")
		}
	}
	if number, ok := all["phone_number_id"]; ok && !isDigits(number) {
		return nil, refuse("resource_not_found", "phone_number_id", "There is no such number. Call list_numbers to see them.")
	}
	return all, nil
}

// text is an argument as a text; "" if it was not given.
func (a arguments) text(name string) string {
	value, _ := text(a[name])
	return value
}

// text reads a text, or a whole number: models write ids of digits so now and then.
func text(value json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
		return s, true
	}
	return string(value), isDigits(value)
}

// isDigits reports whether a value, or the text in it, is all digits: no other word can be
// where the number of a path does.
func isDigits(value json.RawMessage) bool {
	digits := strings.Trim(string(value), `"`)
	return digits != "" && len(digits) <= 64 && strings.Trim(digits, "0123456789") == ""
}
