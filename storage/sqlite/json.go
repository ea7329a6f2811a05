package sqlite

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
)

// JSON is a JSON text as stored. Nil is SQL NULL and JSON null.
type JSON []byte

// Value binds the text as a string: a STRICT TEXT column refuses bytes.
func (j JSON) Value() (driver.Value, error) {
	if j == nil {
		return nil, nil
	}
	return string(j), nil
}

// Scan takes what a TEXT column yields.
func (j *JSON) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*j = nil
	case string:
		*j = JSON(v)
	case []byte:
		*j = append(JSON(nil), v...)
	default:
		return fmt.Errorf("scan JSON from %T", src)
	}
	return nil
}

// MarshalJSON writes the text as it is.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps the text as it is; encoding/json would take the bytes for base64.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*j = nil
		return nil
	}
	*j = append(JSON(nil), b...)
	return nil
}

// Equal reports whether two texts, or none, mean the same. The order of keys and the space between them do
// not matter, the way a number is written does.
func (j JSON) Equal(other JSON) bool {
	if j == nil || other == nil {
		return j == nil && other == nil
	}
	return bytes.Equal(j, other) || bytes.Equal(j.canonical(), other.canonical())
}

func (j JSON) canonical() []byte {
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()

	var v any
	if d.Decode(&v) != nil {
		return j
	}
	text, err := json.Marshal(v)
	if err != nil {
		return j
	}
	return text
}

// Strings is a list that is stored as a JSON array; nil is the empty list.
type Strings []string

// Value binds the list as JSON.
func (s Strings) Value() (driver.Value, error) {
	if s == nil {
		return "[]", nil
	}
	text, err := json.Marshal([]string(s))
	return string(text), err
}

// Scan takes what a TEXT column yields.
func (s *Strings) Scan(src any) error { return ScanJSON(src, (*[]string)(s)) }

// ScanJSON reads what a TEXT column yields as JSON.
func ScanJSON(src, into any) error {
	var text JSON
	if err := text.Scan(src); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
