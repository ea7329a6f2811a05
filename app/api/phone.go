package api

import (
	"regexp"
	"strings"
)

// phoneDigits are the digits of a number in E.164: a country code, which never begins
// with 0, and the rest.
var phoneDigits = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)

// e164 writes a phone number in E.164. The leading + may be missing. Spaces and other
// separators are refused, because they would have to be guessed at.
func e164(number string) (string, bool) {
	digits := strings.TrimPrefix(number, "+")
	return "+" + digits, phoneDigits.MatchString(digits)
}

// isPhone tells whether e164 accepts the number.
func isPhone(number string) bool {
	_, ok := e164(number)
	return ok
}

// errPhone reports an invalid phone number.
func errPhone(param string) *Error {
	return &Error{
		Code:    InvalidPhoneNumber,
		Param:   param,
		Message: param + " must be a phone number in E.164 form: 7 to 15 digits that begin with the country code.",
	}
}
