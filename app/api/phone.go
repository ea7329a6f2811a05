package api

import (
	"regexp"
	"strings"
)

// phoneDigits is what E.164 leaves of a number: a country code, which never
// begins with 0, and the rest.
var phoneDigits = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)

// e164 writes a phone number with its leading +, which may be left out. Spaces
// and the like make no number: what was meant by them is a guess.
func e164(number string) (string, bool) {
	digits := strings.TrimPrefix(number, "+")
	return "+" + digits, phoneDigits.MatchString(digits)
}

// isPhone tells whether e164 takes the number.
func isPhone(number string) bool {
	_, ok := e164(number)
	return ok
}

// errPhone reports a number that is none.
func errPhone(param string) *Error {
	return &Error{
		Code:    InvalidPhoneNumber,
		Param:   param,
		Message: param + " must be a phone number in E.164 form: 7 to 15 digits that begin with the country code.",
	}
}
