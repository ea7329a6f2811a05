package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/jobs/provider"
	"confab/storage"
)

// The rules from which the checks of content are built. Each takes the name of a field
// relative to the object that is being checked; Within adds the path of that object.

// Within puts the error of a field under the path of the object or item that holds the
// field.
func Within(path string, err error) error {
	e, ok := err.(*Error)
	if !ok || e.Param == "" {
		return err
	}
	if e.Param[0] != '[' {
		path += "."
	}

	inner := *e
	inner.Param, inner.Message = path+e.Param, path+e.Message // a message begins with its param
	return &inner
}

// ItemPath is the path of an array's item.
func ItemPath(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// Each checks the items of an array. An item that is null counts as missing.
func Each[T any](name string, items []*T, check func(*T) error) error {
	for i, it := range items {
		if it == nil {
			return Missing(ItemPath(name, i))
		}
		if err := check(it); err != nil {
			return Within(ItemPath(name, i), err)
		}
	}
	return nil
}

// Object checks an object that must be there.
func Object[T any](name string, o *T, check func(*T) error) error {
	if o == nil {
		return Missing(name)
	}
	return Within(name, check(o))
}

// AtMost checks that an array, which may be absent, has no more than most items.
func AtMost[T any](name string, items []T, most int) error {
	if len(items) > most {
		return Invalid(name, "must have at most "+strconv.Itoa(most)+" items")
	}
	return nil
}

// Count checks that an array is there and has from 1 to most items.
func Count[T any](name string, items []T, most int) error {
	switch {
	case items == nil:
		return Missing(name)
	case len(items) == 0 || len(items) > most:
		return Invalid(name, "must have 1 to "+strconv.Itoa(most)+" items")
	}
	return nil
}

// Required checks that a text is there and has from 1 to most characters.
func Required(name string, s *string, most int) error {
	if s == nil {
		return Missing(name)
	}
	return Optional(name, s, most)
}

// Optional is like Required, for a text that may be absent.
func Optional(name string, s *string, most int) error {
	if s != nil && !Between(*s, 1, most) {
		return Invalid(name, LengthRule(1, most))
	}
	return nil
}

// Trim takes the white space around a name away, if there is one: a blank name is an empty one.
func Trim(s *string) {
	if s != nil {
		*s = strings.TrimSpace(*s)
	}
}

// Short is like Optional, for a text that may also be empty.
func Short[T ~string](name string, s *T, most int) error {
	if s != nil && !Between(string(*s), 0, most) {
		return Invalid(name, "must have at most "+strconv.Itoa(most)+" characters")
	}
	return nil
}

// Between reports whether s has from min to max characters, counted as code points.
func Between(s string, min, max int) bool {
	n := utf8.RuneCountInString(s)
	return min <= n && n <= max
}

// LengthRule is the text of the rule that Between checks.
func LengthRule(min, max int) string {
	return "must have " + strconv.Itoa(min) + " to " + strconv.Itoa(max) + " characters"
}

// CheckEmail checks an address, if there is one.
func CheckEmail(address *string) error {
	if address != nil && !storage.ValidEmail(*address) {
		return Invalid("email", "must be an email address such as ana@example.com, at most "+strconv.Itoa(storage.MaxEmail)+" characters")
	}
	return nil
}

// CheckMetadata refuses metadata that is no object, or a large one, if there is any. The value is
// valid JSON.
func CheckMetadata(raw *json.RawMessage) error {
	if raw == nil {
		return nil
	}
	if rule := contactsheet.MetadataRule(*raw); rule != "" {
		return Invalid("metadata", rule)
	}
	return nil
}

// Compact is a JSON text without the space in it.
func Compact(raw json.RawMessage) []byte { return contactsheet.Compact(raw) }

// IsPhone reports whether a text is a phone number that can be written in E.164.
func IsPhone(number string) bool {
	_, ok := provider.ParsePhone(number)
	return ok
}

// ErrPhone reports an invalid phone number.
func ErrPhone(param string) *Error {
	const rule = " must be a phone number in E.164 format: 7 to 15 digits, starting with the country code."
	return FailAt(InvalidPhoneNumber, param, param+rule)
}

// MaxMessageID is longer than the ids of any provider's messages.
const MaxMessageID = 512

// ProviderID checks an id that the provider gave a message; ours is refused.
func ProviderID(name string, s *string) error {
	if err := Required(name, s, MaxMessageID); err != nil {
		return err
	}
	if storage.ValidID(storage.PrefixMessage, *s) {
		return Invalid(name, "must be the message's provider id (message_id), not its msg_ id")
	}
	return nil
}

// OneOf checks that a text is one of some words.
func OneOf(name string, s *string, words ...string) error {
	switch {
	case s == nil:
		return Missing(name)
	case slices.Contains(words, *s):
		return nil
	case len(words) == 1:
		return Invalid(name, "must be "+words[0])
	}
	return Invalid(name, "must be one of "+strings.Join(words, ", "))
}

// OptionalOneOf is like OneOf, for a text that may be absent.
func OptionalOneOf(name string, s *string, words ...string) error {
	if s == nil {
		return nil
	}
	return OneOf(name, s, words...)
}

// Unique checks that a text was not seen before, and adds it to those seen.
func Unique(name, s string, seen map[string]bool) error {
	if seen[s] {
		return Invalid(name, "must not repeat")
	}
	seen[s] = true
	return nil
}

// Absent reports whether an optional JSON value is missing or null.
func Absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// ReadObject decodes the object in a field that was kept raw.
func ReadObject(name string, raw json.RawMessage, in any) error {
	switch {
	case Absent(raw):
		return Missing(name)
	case raw[0] != '{':
		return Invalid(name, "must be an object")
	case provider.JSONDepth(raw) > maxDepth:
		return Invalid(name, "must not be nested more than "+strconv.Itoa(maxDepth)+" deep")
	}
	return Within(name, Unmarshal(raw, in))
}

// ReadOpaque checks an object that only the provider understands. It is passed on as it
// is, so its size is all that can be bounded.
func ReadOpaque(name string, raw json.RawMessage) error {
	if len(Compact(raw)) > maxOpaque {
		return Invalid(name, "must be at most 64 KB")
	}
	return ReadObject(name, raw, &struct{}{})
}

const maxOpaque = 64 << 10

// maxDepth bounds the nesting of JSON that is stored: SQLite does not accept JSON of a
// thousand levels.
const maxDepth = 500

// LooseNumber is a number that may come as a string: the provider accepts both.
type LooseNumber[T int64 | float64] struct{ Value T }

// maxDigits is longer than any number that means something, with its quotes.
const maxDigits = 32

var errDigits = errors.New("has too many digits")

// UnmarshalJSON reads a number, or a string with one.
func (n *LooseNumber[T]) UnmarshalJSON(b []byte) error {
	if len(b) > maxDigits {
		return errDigits
	}
	if b[0] != '"' {
		return json.Unmarshal(b, &n.Value)
	}
	var s json.Number // of which encoding/json knows what a string may hold
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	return json.Unmarshal([]byte(s), &n.Value)
}

// MarshalJSON writes the plain number.
func (n LooseNumber[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// InRange checks that a number is there and within bounds.
func InRange[T int64 | float64](name string, n *LooseNumber[T], least, most T) error {
	switch {
	case n == nil:
		return Missing(name)
	case n.Value < least || n.Value > most:
		return Invalid(name, "must be from "+strconv.Itoa(int(least))+" to "+strconv.Itoa(int(most)))
	}
	return nil
}

// Timed is a part of bodies that name a time. Decode says what the time is.
type Timed struct{ now storage.Time }

func (t *Timed) setNow(now storage.Time) { t.now = now }

// Until is how far ahead a time is, by the clock of the database.
func (t *Timed) Until(at time.Time) time.Duration { return at.Sub(cmp.Or(t.now, storage.Now()).Std()) }

// ScheduledTime reads when something is to be sent: from now to 90 days ahead, or 0 for at
// once if it is absent.
func (t *Timed) ScheduledTime(s *string) (storage.Time, error) {
	return t.TimeAhead("scheduled_at", s, jobs.MaxSchedule, "90 days")
}

// TimeAhead reads an instant from now to so far ahead, which words say too; 0 if it is absent.
func (t *Timed) TimeAhead(name string, s *string, most time.Duration, words string) (storage.Time, error) {
	if s == nil {
		return 0, nil
	}

	at, ok := parseTime(*s)
	wait := t.Until(at)
	switch {
	case !ok:
		return 0, Invalid(name, timeRule)
	case wait < 0 || wait > most:
		return 0, Invalid(name, "must be within the next "+words)
	}
	return storage.At(at), nil
}
