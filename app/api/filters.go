package api

import (
	"cmp"
	"net/url"
	"regexp"
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

// set gives a parameter the value of a body's field, if that is there.
func (f *filters) set(name string, value *string) {
	if value != nil {
		f.values.Set(name, *value)
	}
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

func (f *filters) matching(name string, pattern *regexp.Regexp, rule string) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !pattern.MatchString(value) {
		f.refuse(name, rule)
	}
	return value
}

// phone is a number in E.164, under the first of some names that is given. A +
// that nobody escaped has become a space.
func (f *filters) phone(names ...string) string {
	for _, name := range names {
		if !f.values.Has(name) {
			continue
		}

		number, ok := e164(strings.TrimPrefix(f.values.Get(name), " "))
		if !ok && f.err == nil {
			f.err = errPhone(name)
		}
		return number
	}
	return ""
}

// after is an instant that others must lie behind. It is cut to milliseconds,
// like what it is compared with: nothing lies in between.
func (f *filters) after(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return storage.At(t)
}

// before is an instant that others must lie before. A part of a millisecond
// counts as a whole one. 1970 began at zero, which would choose everything, and
// nothing here is older than the millisecond behind it.
func (f *filters) before(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return cmp.Or(storage.At(t.Add(time.Millisecond-1)), 1)
}

// dateTime is how RFC 3339 writes an instant. time.Parse takes some more forms.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// instant is a date-time, if it is given.
func (f *filters) instant(name string) (t time.Time, ok bool) {
	if !f.values.Has(name) {
		return t, false
	}

	value := f.values.Get(name)
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || !dateTime.MatchString(value) {
		f.refuse(name, "must be an instant such as 2026-01-02T03:04:05.678Z")
	}
	return t, true
}
