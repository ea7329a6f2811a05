package api

import (
	"net/mail"
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

const maxEmail = 255

// isEmail tells whether s is a bare address, without a name before it.
func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= maxEmail
}

// errEmail reports an invalid address.
func errEmail() *Error {
	return invalid("email", "must be an address such as ana@example.com, of at most "+strconv.Itoa(maxEmail)+" characters")
}
