package config

import (
	"fmt"
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
