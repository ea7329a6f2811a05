package api

import (
	"strconv"
	"unicode/utf8"
)

// between tells whether s has from min to max characters, counted as code points.
func between(s string, min, max int) bool {
	n := utf8.RuneCountInString(s)
	return min <= n && n <= max
}

// lengthRule words what between checks.
func lengthRule(min, max int) string {
	return "must have " + strconv.Itoa(min) + " to " + strconv.Itoa(max) + " characters"
}
