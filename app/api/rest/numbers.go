package rest

import (
	"confab/jobs/provider"
	"confab/storage"
)

// findNumber finds the account of the number in the path. A number of another
// organization counts as missing, and so does one that the key is not bound to.
func (s *Server) findNumber(r *Request) error {
	number := r.Param("phone_number_id")
	if number == "" {
		return nil
	}
	if !provider.PhoneNumberID.MatchString(number) {
		return NotFound()
	}

	key, err := s.DB.AccountKey(r.HTTP.Context(), number)
	if err == nil && (key.OrganizationID != r.Org.ID || !r.Key.Accounts.Has(&key.ID)) {
		return NotFound()
	}
	r.Account = key
	return err
}

// checkAccountExists returns an error if the account was removed after findNumber
// found it. Rows written for it now would not be deleted by its purge.
func checkAccountExists(tx *storage.Tx, r *Request) error {
	if r.Account.ID == 0 {
		return nil
	}

	a, err := tx.AccountByNumber(r.Account.PhoneNumberID)
	if err == nil && a.ID != r.Account.ID {
		return NotFound() // connected anew, as another account
	}
	return err
}
