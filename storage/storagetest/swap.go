package storagetest

import (
	"strings"
	"testing"
)

// Swap returns a text with the first old in it made new. The test fails without one: strings.Replace would
// return the text as it was, and the test would try something else than it says.
func Swap(t testing.TB, text, old, new string) string {
	t.Helper()
	before, after, found := strings.Cut(text, old)
	if !found {
		t.Fatalf("there is no %s to swap in %s", old, text)
	}
	return before + new + after
}
