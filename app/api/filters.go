package api

import (
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

// instant is a date-time. It is cut to milliseconds, which is all that is kept.
func (f *filters) instant(name string) storage.Time {
	if !f.values.Has(name) {
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, f.values.Get(name))
	if err != nil {
		f.refuse(name, "must be an instant such as 2026-01-02T03:04:05.678Z")
		return 0
	}
	return storage.At(t)
}
