package api

import (
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// findNumber finds the account of the number in the path. A number of another
// organization counts as missing.
func (s *Server) findNumber(r *request) error {
	number := r.param("phone_number_id")
	if number == "" {
		return nil
	}
	if !provider.PhoneNumberID.MatchString(number) {
		return notFound()
	}

	key, err := s.DB.AccountKey(r.http.Context(), number)
	if err == nil && key.OrganizationID != r.org.ID {
		return notFound()
	}
	r.account = key
	return err
}

// subject is the organization and number that an event is about.
func (r *request) subject() event.Subject {
	return event.Subject{Organization: r.org.ID, Account: r.account.ID, PhoneNumberID: r.account.PhoneNumberID}
}

// checkAccountExists returns an error if the account was removed after findNumber
// found it. What would be written for it now, its purge would no longer delete.
func checkAccountExists(tx *storage.Tx, r *request) error {
	if r.account.ID == 0 {
		return nil
	}

	a, err := tx.AccountByNumber(r.account.PhoneNumberID)
	if err == nil && a.ID != r.account.ID {
		return notFound() // connected anew, as another account
	}
	return err
}
