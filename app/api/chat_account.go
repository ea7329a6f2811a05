package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// chatAccountView is the account as its templates, contacts and conversations
// show it.
type chatAccountView struct {
	PhoneNumber   *string          `json:"phone_number"`
	PhoneNumberID *string          `json:"phone_number_id"`
	Customer      *customerSummary `json:"customer"` // nil: the organization's own number
}

// customerSummary is a customer inside of another resource.
type customerSummary struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func viewChatAccount(a storage.AccountSummary) chatAccountView {
	v := chatAccountView{PhoneNumber: a.PhoneNumber, PhoneNumberID: a.PhoneNumberID}
	if a.CustomerID != nil {
		v.Customer = &customerSummary{ID: *a.CustomerID, Name: *a.CustomerName}
	}
	return v
}

func (v chatAccountView) AppendJSON(b []byte) []byte {
	b = rest.AppendOptional(append(b, `{"phone_number":`...), v.PhoneNumber)
	b = rest.AppendOptional(append(b, `,"phone_number_id":`...), v.PhoneNumberID)
	b = append(b, `,"customer":`...)
	if v.Customer == nil {
		return append(b, `null}`...)
	}

	b = rest.AppendText(append(b, `{"id":`...), v.Customer.ID)
	b = rest.AppendText(append(b, `,"name":`...), v.Customer.Name)
	return append(b, `}}`...)
}
