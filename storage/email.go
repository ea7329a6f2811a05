package storage

import "net/mail"

// MaxEmail is the most bytes that the address of a contact, a customer or a user
// may have.
const MaxEmail = 255

// ValidEmail reports whether a text is an e-mail address and nothing else, such as a
// name in front of it.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= MaxEmail
}
