package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// chatAccountView is the account as its templates, contacts and conversations
// show it.
type chatAccountView storage.AccountSummary

// MarshalJSON is for templates, which the encoder writes.
func (v chatAccountView) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

func (v chatAccountView) AppendJSON(b []byte) []byte {
	b = rest.AppendOptional(append(b, `{"phone_number":`...), v.PhoneNumber)
	b = rest.AppendOptional(append(b, `,"phone_number_id":`...), v.PhoneNumberID)
	if v.CustomerID == nil { // the organization's own number
		return append(b, `,"customer":null}`...)
	}

	b = rest.AppendText(append(b, `,"customer":{"id":`...), *v.CustomerID)
	b = rest.AppendText(append(b, `,"name":`...), *v.CustomerName)
	return append(b, `}}`...)
}
