package sqlite

import (
	"errors"
	"time"
)

// Time is an instant in milliseconds since 1970 UTC. Zero means never, and is null in JSON.
type Time int64

// timeLayout is RFC 3339 in UTC with exactly three decimals.
const timeLayout = "2006-01-02T15:04:05.000Z"

// At converts t, cutting it to milliseconds.
func At(t time.Time) Time { return Time(t.UnixMilli()) }

// Add returns t moved by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// Sub returns how much later t is than u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Std returns t as the standard library's type.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// String is t as the API writes it, or "" for never.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.Std().Format(timeLayout)
}

// MarshalJSON writes t as an RFC 3339 string, or null for never.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.AppendJSON(make([]byte, 0, len(timeLayout)+2)), nil
}

// AppendJSON is MarshalJSON after what b holds. It puts the decimals into what the standard library
// writes fast: a layout with them takes five times as long, and a message shows up to six times.
func (t Time) AppendJSON(b []byte) []byte {
	if t == 0 {
		return append(b, "null"...)
	}

	std := t.Std()
	ms := std.Nanosecond() / int(time.Millisecond)
	b = std.AppendFormat(append(b, '"'), time.RFC3339)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = 0
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errors.New("a time must be a string")
	}

	parsed, err := time.Parse(time.RFC3339Nano, string(b[1:len(b)-1]))
	if err != nil {
		return err
	}
	*t = At(parsed)
	return nil
}
