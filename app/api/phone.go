package api

import (
	"confab/jobs/contactsheet"
	"confab/jobs/provider"
)

// isPhone tells whether a text is a phone number that can be written in E.164.
func isPhone(number string) bool {
	_, ok := provider.ParsePhone(number)
	return ok
}

// isOwnBSUID tells whether a text is a person's own business-scoped user id, not one
// of a parent portfolio.
func isOwnBSUID(id string) bool { return contactsheet.IsOwnBSUID(id) }

// errPhone reports an invalid phone number.
func errPhone(param string) *Error {
	return &Error{
		Code:    InvalidPhoneNumber,
		Param:   param,
		Message: param + " must be a phone number in E.164 form: 7 to 15 digits that begin with the country code.",
	}
}
