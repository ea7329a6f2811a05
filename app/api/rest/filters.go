package rest

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

// Filters reads query parameters. It keeps the first error, so a handler reads all
// filters and then looks at err once.
type Filters struct {
	Values url.Values
	Err    error
}

// Set sets a parameter to the value of a body's field, if there is one.
func (f *Filters) Set(name string, value *string) {
	if value != nil {
		f.Values.Set(name, *value)
	}
}

func (f *Filters) Refuse(name, rule string) {
	if f.Err == nil {
		f.Err = Invalid(name, rule)
	}
}

// checked reads a value that, if it is given, must keep to a rule, whose text is only made for one
// that does not.
func (f *Filters) checked(name string, isValid func(string) bool, rule func() string) string {
	value := f.Values.Get(name)
	if f.Values.Has(name) && !isValid(value) {
		f.Refuse(name, rule())
	}
	return value
}

// ID reads an id of the right form. An id that does not exist is no error: it matches
// nothing.
func (f *Filters) ID(name, prefix string) string {
	isID := func(id string) bool { return storage.ValidID(prefix, id) }
	return f.checked(name, isID, func() string { return "must be an id that starts with " + prefix })
}

// UserID reads the id of a user, which has no prefix. The rule ends with what else is taken.
func (f *Filters) UserID(name, also string) string {
	isID := func(id string) bool { return storage.ValidID("", id) }
	return f.checked(name, isID, func() string { return "must be the id of a user" + also })
}

func (f *Filters) OneOf(name string, allowed ...string) string {
	isAllowed := func(word string) bool { return slices.Contains(allowed, word) }
	return f.checked(name, isAllowed, func() string { return "must be one of " + strings.Join(allowed, ", ") })
}

// SomeOf reads a comma-separated list of values, each once.
func (f *Filters) SomeOf(name string, allowed ...string) (chosen []string) {
	if !f.Values.Has(name) {
		return nil
	}

	for value := range strings.SplitSeq(f.Values.Get(name), ",") {
		if !slices.Contains(allowed, value) {
			f.Refuse(name, "must be one or more of "+strings.Join(allowed, ", ")+", separated by commas")
		}
		chosen = append(chosen, value)
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

func (f *Filters) Text(name string, longest int) string {
	fits := func(text string) bool { return Between(text, 1, longest) }
	return f.checked(name, fits, func() string { return LengthRule(1, longest) })
}

func (f *Filters) Matching(name string, pattern *regexp.Regexp, rule string) string {
	return f.checked(name, pattern.MatchString, func() string { return rule })
}

// Phone reads a number in E.164 under the first of some names that is given. A + that
// was not escaped arrives as a space.
func (f *Filters) Phone(names ...string) string {
	for _, name := range names {
		if !f.Values.Has(name) {
			continue
		}

		number, ok := provider.ParsePhone(strings.TrimPrefix(f.Values.Get(name), " "))
		if !ok && f.Err == nil {
			f.Err = ErrPhone(name)
		}
		return number
	}
	return ""
}

// After reads a time as an exclusive lower bound, cut to milliseconds. Stored times
// have whole milliseconds, so nothing lies between. Like that of Before, the result is never 0.
func (f *Filters) After(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return cmp.Or(storage.At(t), 1)
}

// Before reads a time as an exclusive upper bound, rounded up to a millisecond. The
// result is never 0, which would mean no bound; nothing here is from 1970.
func (f *Filters) Before(name string) storage.Time {
	t, ok := f.instant(name)
	if !ok {
		return 0
	}
	return cmp.Or(storage.At(t.Add(time.Millisecond-1)), 1)
}

// timeRule is what a time must be.
const timeRule = "must be a timestamp such as 2026-01-02T03:04:05.678Z"

// parseTime reads a time in its RFC 3339 form. time.Parse accepts more than that.
func parseTime(text string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil && dateTime.MatchString(text)
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)

// instant reads a date-time; ok is false when there is none.
func (f *Filters) instant(name string) (t time.Time, ok bool) {
	if !f.Values.Has(name) {
		return t, false
	}

	if t, ok = parseTime(f.Values.Get(name)); !ok {
		f.Refuse(name, timeRule)
	}
	return t, true
}
