package jobs

import (
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// StoreConnected stores an account with the token that opens it and what the provider
// says of its number, and enqueues the job that fetches its templates. The account is a
// new one, whose ID is 0, or one that lost its connection.
func StoreConnected(
	tx *storage.Tx, a storage.AccountDetail, claim provisioning.NumberClaim, n provider.Number,
) (storage.AccountDetail, error) {
	a.PhoneNumberID, a.WABAID = &claim.PhoneNumberID, &claim.WABAID
	a = provisioning.WithNumberState(a, n)

	if a.ID == 0 {
		if err := tx.InsertAccount(&a.Account, claim.Token.Reveal()); err != nil {
			return a, err
		}
	} else if err := tx.SetAccessToken(a.Account, claim.Token.Reveal()); err != nil {
		return a, err
	}

	if err := tx.UpdateAccount(&a); err != nil {
		return a, err
	}
	if claim.PIN != "" {
		if err := tx.SetPIN(a.Account, claim.PIN); err != nil {
			return a, err
		}
	}

	if err := EnqueueAccountCheck(tx, a.ID); err != nil { // this job fetches its templates too
		return a, err
	}
	return tx.AccountDetail(a.ID)
}
