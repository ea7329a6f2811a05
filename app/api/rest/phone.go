package rest

import (
	"confab/jobs/contactsheet"
	"confab/jobs/provider"
)

// IsPhone tells whether a text is a phone number that can be written in E.164.
func IsPhone(number string) bool {
	_, ok := provider.ParsePhone(number)
	return ok
}

// IsOwnBSUID tells whether a text is a person's own business-scoped user id, not one
// of a parent portfolio.
func IsOwnBSUID(id string) bool { return contactsheet.IsOwnBSUID(id) }

// ErrPhone reports an invalid phone number.
func ErrPhone(param string) *Error {
	return &Error{
		Code:    InvalidPhoneNumber,
		Param:   param,
		Message: param + " must be a phone number in E.164 form: 7 to 15 digits that begin with the country code.",
	}
}
