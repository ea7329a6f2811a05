package storage

import (
	"database/sql/driver"
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

// UnmarshalJSON keeps the text as it is; without it encoding/json would take the
// bytes for base64.
func (j *JSON) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*j = nil
		return nil
	}
	*j = append(JSON(nil), b...)
	return nil
}
