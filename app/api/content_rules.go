package api

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/provider"
	"confab/storage"
)

// The rules from which the checks of content are built. Each takes the name of a field
// relative to the object that is being checked; within adds the path of that object.

// within puts the error of a field under the path of the object or item that holds the
// field.
func within(path string, err error) error {
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

// itemPath is the path of an array's item.
func itemPath(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// each checks the items of an array. An item that is null counts as missing.
func each[T any](name string, items []*T, check func(*T) error) error {
	for i, it := range items {
		if it == nil {
			return missing(itemPath(name, i))
		}
		if err := check(it); err != nil {
			return within(itemPath(name, i), err)
		}
	}
	return nil
}

// atMost checks that an array, which may be absent, has no more than most items.
func atMost[T any](name string, items []T, most int) error {
	if len(items) > most {
		return invalid(name, "must have at most "+strconv.Itoa(most)+" items")
	}
	return nil
}

// count checks that an array is there and has from 1 to most items.
func count[T any](name string, items []T, most int) error {
	switch {
	case items == nil:
		return missing(name)
	case len(items) == 0 || len(items) > most:
		return invalid(name, "must have 1 to "+strconv.Itoa(most)+" items")
	}
	return nil
}

// required checks that a text is there and has from 1 to most characters.
func required(name string, s *string, most int) error {
	if s == nil {
		return missing(name)
	}
	return optional(name, s, most)
}

// optional is like required, for a text that may be absent.
func optional(name string, s *string, most int) error {
	if s != nil && !between(*s, 1, most) {
		return invalid(name, lengthRule(1, most))
	}
	return nil
}

// short is like optional, for a text that may also be empty.
func short[T ~string](name string, s *T, most int) error {
	if s != nil && !between(string(*s), 0, most) {
		return invalid(name, "must have at most "+strconv.Itoa(most)+" characters")
	}
	return nil
}

// maxMessageID is longer than the ids of any provider's messages.
const maxMessageID = 512

// providerID checks an id that the provider gave a message; ours is refused.
func providerID(name string, s *string) error {
	if err := required(name, s, maxMessageID); err != nil {
		return err
	}
	if storage.ValidID(storage.PrefixMessage, *s) {
		return invalid(name, "must be the provider's id of a message (message_id), not its msg_ id")
	}
	return nil
}

// oneOf checks that a text is one of some words.
func oneOf(name string, s *string, words ...string) error {
	switch {
	case s == nil:
		return missing(name)
	case slices.Contains(words, *s):
		return nil
	case len(words) == 1:
		return invalid(name, "must be "+words[0])
	}
	return invalid(name, "must be one of "+strings.Join(words, ", "))
}

// unique checks that a text was not seen before, and adds it to those seen.
func unique(name, s string, seen map[string]bool) error {
	if seen[s] {
		return invalid(name, "must not repeat")
	}
	seen[s] = true
	return nil
}

const maxLink = 2048

// plainHTTP says which URLs need not be https.
type plainHTTP int

const (
	noHTTP    plainHTTP = iota
	localHTTP           // those of this machine
	anyHTTP
)

func (p plainHTTP) admits(u *url.URL) bool {
	return u.Scheme == "http" && (p == anyHTTP || p == localHTTP && guard.IsLocalHost(u.Hostname()))
}

// plainHTTP is the setting of this server.
func (s *Server) plainHTTP() plainHTTP {
	switch {
	case s.AllowInsecureURLs:
		return anyHTTP
	case s.AllowLocalURLs:
		return localHTTP
	}
	return noHTTP
}

// checkLink checks a URL that the provider or we will fetch.
func checkLink(name string, s *string, allowHTTP plainHTTP) error {
	if err := required(name, s, maxLink); err != nil {
		return err
	}

	u, err := url.Parse(*s)
	switch {
	case err != nil,
		!guard.IsHostname(u.Hostname()) && !isAddress(u.Hostname()),
		strings.Contains(*s, " "),
		u.Scheme != "https" && !allowHTTP.admits(u):
		return invalid(name, "must be an https URL")
	case u.User != nil:
		return invalid(name, "must not hold a user or password")
	}
	return nil
}

// absent tells whether an optional JSON value is missing or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// readObject decodes the object in a field that was kept raw.
func readObject(name string, raw json.RawMessage, in any) error {
	switch {
	case absent(raw):
		return missing(name)
	case raw[0] != '{':
		return invalid(name, "must be an object")
	case provider.JSONDepth(raw) > maxDepth:
		return invalid(name, "must not be nested more than "+strconv.Itoa(maxDepth)+" deep")
	}
	return within(name, unmarshal(raw, in))
}

// readOpaque checks an object that only the provider understands. It is passed on as it
// is, so its size is all that can be bounded.
func readOpaque(name string, raw json.RawMessage) error {
	if len(compact(raw)) > maxOpaque {
		return invalid(name, "must have at most 64 KB")
	}
	return readObject(name, raw, &struct{}{})
}

const maxOpaque = 64 << 10

// maxDepth bounds the nesting of JSON that is stored: SQLite does not accept JSON of a
// thousand levels.
const maxDepth = 500

// looseNumber is a number that may come as a string: the provider accepts both.
type looseNumber[T int64 | float64] struct{ value T }

// maxDigits is longer than any number that means something, with its quotes.
const maxDigits = 32

var errDigits = errors.New("has too many digits")

// UnmarshalJSON reads a number, or a string with one.
func (n *looseNumber[T]) UnmarshalJSON(b []byte) error {
	if len(b) > maxDigits {
		return errDigits
	}
	if b[0] != '"' {
		return json.Unmarshal(b, &n.value)
	}
	var s json.Number // of which encoding/json knows what a string may hold
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	return json.Unmarshal([]byte(s), &n.value)
}

// MarshalJSON writes the plain number.
func (n looseNumber[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// inRange checks that a number is there and within bounds.
func inRange[T int64 | float64](name string, n *looseNumber[T], least, most T) error {
	switch {
	case n == nil:
		return missing(name)
	case n.value < least || n.value > most:
		return invalid(name, "must be from "+strconv.Itoa(int(least))+" to "+strconv.Itoa(int(most)))
	}
	return nil
}

// scheduledTime reads when something is to be sent: from now to 90 days ahead, or 0 for at
// once if it is absent.
func scheduledTime(s *string) (storage.Time, error) {
	if s == nil {
		return 0, nil
	}

	at, err := time.Parse(time.RFC3339Nano, *s)
	wait := time.Until(at)
	switch {
	case err != nil || !dateTime.MatchString(*s):
		return 0, invalid("scheduled_at", "must be an instant such as 2026-01-02T03:04:05.678Z")
	case wait < 0 || wait > jobs.MaxSchedule:
		return 0, invalid("scheduled_at", "must be between now and 90 days ahead")
	}
	return storage.At(at), nil
}
