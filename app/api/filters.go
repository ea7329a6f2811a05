package api

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

// filters reads query parameters. It keeps the first error, so a handler reads all
// filters and then looks at err once.
type filters struct {
	values url.Values
	err    error
}

// set sets a parameter to the value of a body's field, if there is one.
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

// id reads an id of the right form. An id that does not exist is no error: it matches
// nothing.
func (f *filters) id(name, prefix string) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !storage.ValidID(prefix, value) {
		f.refuse(name, "must be an id that starts with "+prefix)
	}
	return value
}

// userID reads the id of a user, which has no prefix. The rule ends with what else is taken.
func (f *filters) userID(name, also string) string {
	value := f.values.Get(name)
	if f.values.Has(name) && !storage.ValidID("", value) {
		f.refuse(name, "must be the id of a user"+also)
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

// phone reads a number in E.164 under the first of some names that is given. A + that
// was not escaped arrives as a space.
func (f *filters) phone(names ...string) string {
	for _, name := range names {
		if !f.values.Has(name) {
			continue
		}

		number, ok := provider.ParsePhone(strings.TrimPrefix(f.values.Get(name), " "))
		if !ok && f.err == nil {
			f.err = errPhone(name)
		}
		return number
	}
	return ""
}

// after reads a time as an exclusive lower bound, cut to milliseconds. Stored times
// have whole milliseconds, so nothing lies between.
func (f *filters) after(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return storage.At(t)
}

// before reads a time as an exclusive upper bound, rounded up to a millisecond. The
// result is never 0, which would mean no bound; nothing here is from 1970.
func (f *filters) before(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return cmp.Or(storage.At(t.Add(time.Millisecond-1)), 1)
}

// dateTime is the RFC 3339 form of a time. time.Parse accepts more than that.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)

// instant reads a date-time; ok is false when there is none.
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
