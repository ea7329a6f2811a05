package config

import (
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	bareKey  = regexp.MustCompile(`^[A-Za-z0-9_.*-]+$`)
	userinfo = regexp.MustCompile(`//[^/\s]*@`)
)

// Error is a setting that cannot be used, with its place. Load joins one for every
// bad setting, so that all can be corrected at once.
type Error struct {
	Key     string // full dotted key
	Value   string // as written, or hidden; empty for an unknown key
	Origin  string // path of the file, name of the variable, or flag; empty for a default
	Problem string // the fault, or the allowed values
}

func (e *Error) Error() string {
	var out strings.Builder
	if e.Origin != "" {
		out.WriteString(e.Origin + ": ")
	}

	if bareKey.MatchString(e.Key) {
		out.WriteString(e.Key)
	} else {
		out.WriteString(strconv.Quote(e.Key))
	}

	if e.Value != "" {
		out.WriteString(" = " + e.Value)
	}
	return out.String() + ": " + e.Problem
}

// formatValue writes a value as in the file, short enough for one line and without
// the password that a URL may contain.
func formatValue(value any) string {
	const most = 200
	out := userinfo.ReplaceAllString(formatLiteral(value), "//"+hidden+"@")
	if len(out) > most {
		out = strings.ToValidUTF8(out[:most], "") + "…"
	}
	return out
}

// formatLiteral writes a decoded value, or anything else in a TOML file, as TOML does.
func formatLiteral(value any) string {
	switch value.(type) {
	case string, textValue, Secret, time.Duration, netip.Prefix, Bytes:
		return strconv.Quote(fmt.Sprint(value))
	case map[string]any:
		return "{…}"
	}

	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		return fmt.Sprint(value)
	}

	var items []string
	for i := range list.Len() {
		items = append(items, formatLiteral(list.Index(i).Interface()))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

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

// MarshalText hides the secret from JSON, slog and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String lists every setting, one a line, in the order of the example file.
func (c Config) String() string {
	var out strings.Builder
	eachSetting(reflect.ValueOf(c), "", func(key string, field reflect.Value) {
		fmt.Fprintf(&out, "%s = %s\n", key, formatValue(field.Interface()))
	})
	return out.String()
}
