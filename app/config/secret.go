package config

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
)

// hidden is printed in place of a secret.
const hidden = "[hidden]"

// Secret is text that no log, error or dump shows. Only Reveal returns it, so that
// a search for Reveal finds every place where a secret is used.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String only shows whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format hides the secret from every verb of fmt; String alone would not hide it from %d.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText hides the secret from JSON and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// String lists every setting, one a line, in the order of the example file.
func (c Config) String() string {
	var out strings.Builder
	eachSetting(reflect.ValueOf(c), "", func(key string, field reflect.Value) {
		fmt.Fprintf(&out, "%s = %s\n", key, formatValue(field.Interface()))
	})
	return out.String()
}
