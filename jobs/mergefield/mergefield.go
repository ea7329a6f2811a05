// Package mergefield fills in the fields of a broadcast's template: {{field}} in the texts of its
// text parameters, or {{field|fallback}} for those who have no value. It is one pass: what a
// field holds is not expanded again.
package mergefield

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"confab/storage"
)

// Why a template cannot be filled in for somebody.
var (
	ErrMissing = errors.New("a field has no value")
	ErrInvalid = errors.New("a value that the provider refuses")
)

// MaxText is the longest text that the provider sends, with the values in it, in characters.
const MaxText = 32768

// field is a field in a text: a name between braces, which has none itself.
var field = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// The fields that are more than a column: the first name is a part of the name.
const (
	fieldName      = "name"
	fieldFirstName = "first_name"
)

// Names are the names of the fields whose values a text needs, each once.
func Names(text string) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	for _, found := range field.FindAllString(text, -1) {
		name, _ := splitField(found)
		add(name)
		if name == fieldFirstName {
			add(fieldName)
		}
	}
	return names
}

// Template is a template with the values that a broadcast gives for it.
type Template struct {
	content any // as it goes to the provider
	body    *string
	names   []string
}

// Parse reads the content of a template message, and the text of its body in which the
// same values are filled in, nil if it has none.
func Parse(content []byte, body *string) (*Template, error) {
	t := &Template{body: body}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber() // so that numbers are written as they came
	if err := decoder.Decode(&t.content); err != nil {
		return nil, fmt.Errorf("read the content of a broadcast: %w", err)
	}

	_, err := mapTexts(t.content, func(text string) (string, error) {
		for _, name := range Names(text) {
			if !slices.Contains(t.names, name) {
				t.names = append(t.names, name)
			}
		}
		return text, nil
	})
	return t, err
}

// Names are the names of all fields of the template.
func (t *Template) Names() []string { return t.names }

// Fill returns content and body for somebody, ErrMissing or ErrInvalid if they cannot get it.
func (t *Template) Fill(values Values) (content json.RawMessage, body *string, err error) {
	filled, err := mapTexts(t.content, func(text string) (string, error) {
		text, err := values.expand(text)
		if err == nil && !IsAllowed(text) {
			err = ErrInvalid
		}
		return text, err
	})
	if err != nil {
		return nil, nil, err
	}

	if content, err = json.Marshal(filled); err != nil || t.body == nil {
		return content, nil, err
	}

	// Anything that is no field of a parameter is a text of the template, and stays.
	text := field.ReplaceAllStringFunc(*t.body, func(found string) string {
		return cmp.Or(values.fill(found), found)
	})
	if utf8.RuneCountInString(text) > MaxText {
		return nil, nil, ErrInvalid
	}
	return content, &text, nil
}

// splitField is the name of a field as it was found in a text, with its braces, and what stands
// for a value that is missing.
func splitField(found string) (name, fallback string) {
	name, fallback, _ = strings.Cut(found[2:len(found)-2], "|")
	return strings.TrimSpace(name), strings.TrimSpace(fallback)
}

// mapTexts copies a content with the texts of its text parameters changed.
func mapTexts(node any, change func(string) (string, error)) (any, error) {
	var err error
	switch node := node.(type) {
	case map[string]any:
		all := maps.Clone(node)
		for name, value := range node {
			text, isText := value.(string)
			switch {
			case isText && name == "text" && node["type"] == "text":
				all[name], err = change(text)
			case name == "components" || name == "parameters" || name == "cards":
				all[name], err = mapTexts(value, change)
			}
			if err != nil {
				return nil, err
			}
		}
		return all, nil

	case []any:
		all := make([]any, len(node))
		for i, item := range node {
			if all[i], err = mapTexts(item, change); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return node, nil
}

// IsAllowed reports whether the provider takes a text as a parameter: no line break, no tab,
// no more than four spaces in a row, and not too long.
func IsAllowed(text string) bool {
	return !strings.ContainsAny(text, "\n\r\t\v\f\u0085\u2028\u2029") && !strings.Contains(text, "     ") &&
		utf8.RuneCountInString(text) <= MaxText
}

// Values are the fields of somebody, by their names.
type Values struct {
	recipient map[string]string
	contact   storage.Contact
}

// Of are the values of a recipient: its own fields, and then what its contact has.
func Of(r storage.BroadcastRecipient, c storage.Contact) (v Values, err error) {
	v.contact = c
	if r.Fields != nil {
		err = json.Unmarshal(r.Fields, &v.recipient)
	}
	return v, err
}

// Expand replaces the fields in a text by what a contact has. One without a value is ErrMissing.
func Expand(text string, c storage.Contact) (string, error) { return Values{contact: c}.expand(text) }

// expand replaces the fields in a text. One without a value is ErrMissing.
func (v Values) expand(text string) (string, error) {
	var err error
	filled := field.ReplaceAllStringFunc(text, func(found string) string {
		value := v.fill(found)
		if value == "" {
			err = ErrMissing
		}
		return value
	})
	if err == nil && filled == "" {
		err = ErrMissing
	}
	return filled, err
}

// fill is what stands in the place of a field: its value or its fallback, "" if it has neither.
func (v Values) fill(found string) string {
	name, fallback := splitField(found)
	return cmp.Or(v.value(name), fallback)
}

func (v Values) value(name string) string {
	if value, ok := v.recipient[name]; ok {
		value = strings.Trim(value, " \u00a0") // but not a line break, which the provider refuses
		if name == fieldName && isNumber(value) {
			return ""
		}
		return value
	}

	own := ""
	switch name {
	case fieldName:
		own = storage.OrEmpty(v.contact.Name)
		if isNumber(own) {
			own = ""
		}
	case fieldFirstName:
		if words := strings.Fields(v.value(fieldName)); len(words) > 0 {
			own = words[0]
		}
	case "phone_number":
		own = storage.OrEmpty(v.contact.PhoneNumber)
	case "email":
		own = storage.OrEmpty(v.contact.Email)
	}
	return cmp.Or(own, metadataValue(v.contact.Metadata, name))
}

// isNumber reports whether a name is none, but digits as those of a phone number are written.
func isNumber(name string) bool {
	return strings.ContainsFunc(name, unicode.IsDigit) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsDigit(r) && !strings.ContainsRune(" \u00a0+-().", r)
	})
}

// metadataValue is the value of a key in a contact's metadata, if that is no list or object.
func metadataValue(metadata storage.JSON, name string) string {
	var all map[string]json.RawMessage
	if metadata == nil || json.Unmarshal(metadata, &all) != nil {
		return ""
	}

	raw := all[name]
	var text string
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
		return ""
	case raw[0] != '"':
		return string(raw)
	case json.Unmarshal(raw, &text) != nil:
		return ""
	}
	return text
}
