package rest

import (
	"strconv"
	"unicode/utf8"

	"confab/storage"
)

// Between tells whether s has from min to max characters, counted as code points.
func Between(s string, min, max int) bool {
	n := utf8.RuneCountInString(s)
	return min <= n && n <= max
}

// LengthRule is the text of the rule that between checks.
func LengthRule(min, max int) string {
	return "must have " + strconv.Itoa(min) + " to " + strconv.Itoa(max) + " characters"
}

// ErrEmail reports an invalid address.
func ErrEmail() *Error {
	return Invalid("email", "must be an address such as ana@example.com, of at most "+strconv.Itoa(storage.MaxEmail)+" characters")
}
