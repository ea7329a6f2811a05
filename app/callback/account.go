package callback

import (
	"cmp"
	"slices"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// accountChange is what a callback does to one of our accounts.
type accountChange func(tx *storage.Tx, a storage.Account) error

// prepareAccount reads a change of a business account or of one of its numbers.
func (s *Server) prepareAccount(n provider.CallbackChange) []piece {
	u, err := provider.Read[provider.AccountUpdate](n.Value)
	if err != nil {
		return s.keepChange(n, "unreadable")
	}

	apply := accountChangeFor(n.Field, u)
	if apply == nil {
		return s.keepChange(n, "no effect")
	}

	waba := cmp.Or(string(u.WABA.ID), n.WABA) // the entry may name the whole business instead
	phone := u.DisplayPhoneNumber
	if n.Field == "account_update" {
		phone = string(u.PhoneNumber)
	}

	unknown := wholeChange(n)
	unknown.waba = waba
	find := func(tx *storage.Tx) ([]storage.Account, error) { return affectedAccounts(tx, waba, phone) }
	return []piece{{item: wholeChange(n), apply: applyToAll(find, apply, s.keepRaw(unknown, "unknown account"))}}
}

// affectedAccounts finds the accounts that a change is about: the one with the
// number that it names, or else all of the business account. The number may also
// be one that is not connected here, and then no account is affected.
func affectedAccounts(tx *storage.Tx, waba, phone string) ([]storage.Account, error) {
	all, err := tx.AccountsOfWABA(waba)
	if err != nil || phone == "" {
		return all, err
	}

	wanted := provider.Digits(phone)
	exact := slices.ContainsFunc(all, func(a storage.Account) bool {
		return a.PhoneNumber != nil && provider.Digits(*a.PhoneNumber) == wanted
	})

	return slices.DeleteFunc(all, func(a storage.Account) bool {
		switch {
		case a.PhoneNumber == nil:
			return len(all) > 1 // if it is the only one, it must be meant
		case exact:
			return provider.Digits(*a.PhoneNumber) != wanted
		}
		return lastDigits(*a.PhoneNumber) != lastDigits(phone)
	}), nil
}

// lastDigits is the end of a phone number. It is the same in both forms of a
// number in countries that write mobile numbers with or without one more digit,
// such as Brazil and Mexico.
func lastDigits(phone string) string {
	const count = 8
	s := provider.Digits(phone)
	return s[max(0, len(s)-count):]
}

// accountChangeFor returns what an update does to accounts, or nil if nothing.
func accountChangeFor(field string, u provider.AccountUpdate) accountChange {
	switch field {
	case "account_update":
		return accountChangeForEvent(u)

	case "account_review_update":
		switch u.Decision {
		case "REJECTED":
			return markRestricted
		case "APPROVED":
			return enqueueCheckInUse
		}

	case "phone_number_quality_update":
		return enqueueCheckInUse // the number's status may have changed too

	case "phone_number_name_update":
		if u.Decision == "APPROVED" && u.RequestedName != "" {
			return func(tx *storage.Tx, a storage.Account) error { return tx.RenameAccount(a.ID, u.RequestedName) }
		}

	case "security":
		if u.Event == "PIN_CHANGED" || u.Event == "PIN_REQUEST_SUCCESS" {
			// The PIN that we know is no longer the number's.
			return func(tx *storage.Tx, a storage.Account) error { return tx.DeletePIN(a.ID) }
		}
	}
	return nil
}

// accountChangeForEvent returns what an account_update does, by its event.
func accountChangeForEvent(u provider.AccountUpdate) accountChange {
	switch u.Event {
	case "ACCOUNT_DELETED", "ACCOUNT_OFFBOARDED", "PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED":
		why := "The provider reports " + u.Event
		if u.Disconnect.Reason != "" {
			why += " (" + u.Disconnect.Reason + ")"
		}
		return func(tx *storage.Tx, a storage.Account) error {
			return tx.MarkAccountStatus(a.ID, storage.AccountDisconnected, why+".")
		}

	case "ACCOUNT_RECONNECTED", "PARTNER_ADDED", "PARTNER_APP_INSTALLED":
		return enqueueCheck

	case "ACCOUNT_RESTRICTION":
		if stopsMessages(u) {
			return markRestricted
		}

	case "DISABLED_UPDATE":
		switch {
		case slices.Contains(u.Ban.State, "REINSTATE"):
			return func(tx *storage.Tx, a storage.Account) error { return tx.SetRestricted(a.ID, false) }
		case len(u.Ban.State) == 0 || slices.Contains(u.Ban.State, "DISABLE"):
			return markRestricted
		}
	}
	return nil
}

// stopsMessages reports whether a restriction stops messages. One kind only
// prevents adding numbers.
func stopsMessages(u provider.AccountUpdate) bool {
	for _, r := range u.Restrictions {
		if r.Type != "RESTRICTED_ADD_PHONE_NUMBER_ACTION" {
			return true
		}
	}
	return len(u.Restrictions) == 0
}

func markRestricted(tx *storage.Tx, a storage.Account) error { return tx.SetRestricted(a.ID, true) }

// enqueueCheck enqueues a job that asks the provider for the account's state. The
// onboarding of an account does that itself.
func enqueueCheck(tx *storage.Tx, a storage.Account) error {
	if a.Status == storage.AccountOnboarding {
		return nil
	}
	return jobs.EnqueueAccountCheck(tx, a.ID)
}

// enqueueCheckInUse is enqueueCheck for news that connect nothing: who disconnected a number wants it so.
func enqueueCheckInUse(tx *storage.Tx, a storage.Account) error {
	if a.Status == storage.AccountDisconnected {
		return nil
	}
	return enqueueCheck(tx, a)
}
