package api

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"confab/storage"
)

// filters reads a list's query parameters and keeps the first one that is bad.
type filters struct {
	values url.Values
	err    error
}

func (f *filters) refuse(name, rule string) {
	if f.err == nil {
		f.err = invalid(name, rule)
	}
}

// id is an id that must have its pattern; one that does not exist finds nothing.
func (f *filters) id(name, prefix string) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !storage.ValidID(prefix, value) {
		f.refuse(name, "must be an id that starts with "+prefix)
	}
	return value
}

func (f *filters) oneOf(name string, allowed ...string) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !slices.Contains(allowed, value) {
		f.refuse(name, "must be one of "+strings.Join(allowed, ", "))
	}
	return value
}

func (f *filters) text(name string, longest int) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !between(value, 1, longest) {
		f.refuse(name, lengthRule(1, longest))
	}
	return value
}

// after is an instant that others must lie behind. It is cut to milliseconds, as
// what it is compared with: nothing lies in between.
func (f *filters) after(name string) storage.Time { return storage.At(f.instant(name)) }

// before is an instant that others must lie before. A fraction of a millisecond
// counts as a whole one, and the beginning of time as the instant behind it,
// because zero would choose everything.
func (f *filters) before(name string) storage.Time {
	t := f.instant(name)
	if t.IsZero() {
		return 0
	}
	return cmp.Or(storage.At(t.Add(time.Millisecond-1)), 1)
}

// instant is a date-time, zero when there is none. UnmarshalText is stricter
// than time.Parse, which takes some that RFC 3339 does not know.
func (f *filters) instant(name string) (t time.Time) {
	if !f.values.Has(name) {
		return time.Time{}
	}
	if err := t.UnmarshalText([]byte(f.values.Get(name))); err != nil || t.Year() < 1 {
		f.refuse(name, "must be an instant such as 2026-01-02T03:04:05.678Z")
	}
	return t
}
