package storage

import (
	"net/mail"
	"unicode/utf8"
)

// MaxEmail is how many characters the address of a contact, a customer or a user may have.
const MaxEmail = 255

// ValidEmail reports whether a text is an e-mail address alone, without a name before it.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && utf8.RuneCountInString(s) <= MaxEmail
}
