package api

import (
	"confab/storage"
	"strconv"
	"unicode/utf8"
)

// between tells whether s has from min to max characters, counted as code points.
func between(s string, min, max int) bool {
	n := utf8.RuneCountInString(s)
	return min <= n && n <= max
}

// lengthRule is the text of the rule that between checks.
func lengthRule(min, max int) string {
	return "must have " + strconv.Itoa(min) + " to " + strconv.Itoa(max) + " characters"
}

// errEmail reports an invalid address.
func errEmail() *Error {
	return invalid("email", "must be an address such as ana@example.com, of at most "+strconv.Itoa(storage.MaxEmail)+" characters")
}
