package timeout

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzRetryAfter lets an endpoint say anything about when to come again. It is
// never in the past, never longer than what can be said in seconds or by a date,
// and both ways to say the same mean the same.
func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, seed := range []string{
		"", "0", "120", "-1", "+5", "1.5", " 5", "1e9", "2147483647", "2147483648", "99999999999999999999999", "١٢",
		now.Add(time.Hour).Format(http.TimeFormat), now.Add(-time.Hour).Format(http.TimeFormat), now.Add(time.Hour).Format(time.RFC850), now.Add(time.Hour).Format(time.ANSIC),
		"Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 02 Jan 2026 04:04:05 PST",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := RetryAfter(value, now)
		if got < 0 {
			t.Fatalf("%q is %s ago", value, -got)
		}
		date, err := http.ParseTime(value)
		isDate, isNumber := err == nil, value != "" && strings.Trim(value, "0123456789") == ""
		switch {
		case !isDate && !isNumber && got != 0:
			t.Fatalf("%q says nothing, and became %s", value, got)
		case isDate && got != max(0, date.Sub(now)):
			t.Fatalf("%q became %s", value, got)
		case isNumber && (got%time.Second != 0 || got > math.MaxInt32*time.Second):
			t.Fatalf("%q became %s", value, got)
		}
		if isNumber && got > 0 {
			if again := RetryAfter(now.Add(got).Format(http.TimeFormat), now); again != got {
				t.Fatalf("%s by seconds is %s by a date", got, again)
			}
		}
	})
}
