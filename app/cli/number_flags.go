package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"confab/storage"
)

// numberFlags choose a business number.
type numberFlags struct{ org, number string }

func (f *numberFlags) add(cmd *cobra.Command) {
	orgOfOne(cmd, &f.org)
	parsedFlag(cmd, &f.number, "phone-number-id", "the `number` (optional if there is only one)", parseText)
}

// account finds the number that the flags choose.
func (f numberFlags) account(rx *storage.Rx) (storage.AccountKey, error) {
	if f.number != "" {
		a, err := rx.AccountKey(f.number)
		if err != nil || f.org == "" {
			return a, accountNotFound(err, f.number)
		}
		o, err := organization(rx, f.org)
		if err == nil && o.ID != a.OrganizationID {
			err = accountNotFound(storage.ErrNotFound, f.number)
		}
		return a, err
	}

	o, err := onlyOrganization(rx, f.org)
	if err != nil {
		return storage.AccountKey{}, err
	}
	all, _, err := rx.Accounts(o.ID, storage.AccountFilter{}, storage.First, 2)
	switch {
	case err != nil:
		return storage.AccountKey{}, err
	case len(all) == 0 || all[0].PhoneNumberID == nil:
		return storage.AccountKey{}, errors.New("there is no number: connect one with 'confab accounts connect'")
	case len(all) > 1:
		return storage.AccountKey{}, errors.New("there are several numbers (confab accounts list): choose one with --phone-number-id")
	}
	return rx.AccountKey(*all[0].PhoneNumberID)
}

// accountNotFound is notFound for the account of a phone number id.
func accountNotFound(err error, id string) error {
	return notFound(err, "account with the phone number id", id)
}
