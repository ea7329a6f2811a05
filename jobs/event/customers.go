package event

import "confab/storage"

// CustomerData is a customer as the API and its events show it.
type CustomerData struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	Name       string       `json:"name"`
	Email      *string      `json:"email"`
	Status     string       `json:"status"`
	Metadata   storage.JSON `json:"metadata"`
	ArchivedAt storage.Time `json:"archived_at"`
	TeamID     string       `json:"team_id"`
	CreatedAt  storage.Time `json:"created_at"`
	UpdatedAt  storage.Time `json:"updated_at"`
}

// ViewCustomer is a customer's public form.
func ViewCustomer(c storage.Customer) CustomerData {
	return CustomerData{
		ID:         c.ID,
		Object:     "customer",
		Name:       c.Name,
		Email:      c.Email,
		Status:     c.Status,
		Metadata:   c.Metadata,
		ArchivedAt: c.ArchivedAt,
		TeamID:     c.TeamPublicID,
		CreatedAt:  c.CreatedAt,
		UpdatedAt:  c.UpdatedAt,
	}
}

// SetupLinkData is a setup link as the API and its events show it, without its URL.
type SetupLinkData struct {
	ID                 string       `json:"id"`
	Object             string       `json:"object"`
	CustomerID         string       `json:"customer_id"`
	Status             string       `json:"status"`
	TokenLast4         string       `json:"token_last4"`
	ExpiresAt          storage.Time `json:"expires_at"`
	ConsumedAt         storage.Time `json:"consumed_at"`
	SuccessRedirectURL *string      `json:"success_redirect_url"`
	FailureRedirectURL *string      `json:"failure_redirect_url"`
	CreatedAt          storage.Time `json:"created_at"`
}

// ViewSetupLink is a link's public form. Its status depends on now: a link expires.
func ViewSetupLink(l storage.SetupLink, now storage.Time) SetupLinkData {
	return SetupLinkData{
		ID:                 l.ID,
		Object:             "customer_setup_link",
		CustomerID:         l.CustomerID,
		Status:             l.State(now),
		TokenLast4:         l.TokenLast4,
		ExpiresAt:          l.ExpiresAt,
		ConsumedAt:         l.ConsumedAt,
		SuccessRedirectURL: l.SuccessRedirectURL,
		FailureRedirectURL: l.FailureRedirectURL,
		CreatedAt:          l.CreatedAt,
	}
}

// Customer says that a customer was created, updated or archived.
func Customer(kind string, c storage.Customer) Event {
	return Event{subject: Subject{Organization: c.OrganizationID}, kind: kind, data: map[string]any{"customer": ViewCustomer(c)}}
}

type setupLinkChanged struct {
	CustomerID string        `json:"customer_id"`
	SetupLink  SetupLinkData `json:"setup_link"`
	AccountID  string        `json:"account_id,omitempty"` // that was connected through it
}

// SetupLinkCreated says that a customer has a new setup link.
func SetupLinkCreated(c storage.Customer, l storage.SetupLink) Event {
	return Event{subject: Subject{Organization: c.OrganizationID}, kind: TypeSetupLinkCreated,
		data: setupLinkChanged{CustomerID: c.ID, SetupLink: ViewSetupLink(l, l.CreatedAt)}}
}

// SetupLinkConsumed says that an account was connected through a setup link. It names no
// number, so that a filter by number does not stop it. It has the account, so that it is
// purged with that.
func SetupLinkConsumed(c storage.Customer, l storage.SetupLink, a storage.Account) Event {
	return Event{subject: Subject{Organization: c.OrganizationID, Account: a.ID}, kind: TypeSetupLinkConsumed,
		data: setupLinkChanged{CustomerID: c.ID, SetupLink: ViewSetupLink(l, l.ConsumedAt), AccountID: a.PublicID}}
}

type customerOnboarded struct {
	CustomerID    string `json:"customer_id"`
	AccountID     string `json:"account_id"`
	PhoneNumberID string `json:"phone_number_id"`
	PhoneNumber   string `json:"phone_number"`
	First         bool   `json:"first"`
}

// CustomerOnboarded says that a customer has a connected number. display is the
// number as people read it, and first reports whether it is the customer's first.
func CustomerOnboarded(c storage.Customer, a storage.Account, display string, first bool) Event {
	about := Subject{Organization: c.OrganizationID, Account: a.ID, PhoneNumberID: *a.PhoneNumberID}
	data := customerOnboarded{
		CustomerID:    c.ID,
		AccountID:     a.PublicID,
		PhoneNumberID: *a.PhoneNumberID,
		PhoneNumber:   display,
		First:         first,
	}
	return Event{subject: about, kind: TypeCustomerOnboarded, data: data}
}
