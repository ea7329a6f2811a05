package callback

import (
	"slices"
	"strings"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// accountChange is what news does to one account.
type accountChange func(tx *storage.Tx, a storage.Account) error

// prepareAccount applies what the provider says about a business account or one of
// its numbers.
func (s *Server) prepareAccount(n provider.News) []step {
	u, err := provider.Read[provider.AccountUpdate](n.Value)
	if err != nil {
		return s.keepChange(n, "unreadable")
	}
	apply := accountChangeFor(n.Field, u)
	if apply == nil {
		return s.keepChange(n, "no effect")
	}
	waba, phone := n.WABA, u.DisplayPhoneNumber
	if u.WABA.ID != "" {
		waba = string(u.WABA.ID) // the entry may be that of a whole business
	}
	if n.Field == "account_update" {
		phone = string(u.PhoneNumber)
	}
	return []step{func(tx *storage.Tx) error {
		accounts, err := affectedAccounts(tx, waba, phone)
		if err != nil {
			return err
		}
		if len(accounts) == 0 {
			unknown := wholeChange(n)
			unknown.waba = waba
			return s.keepRaw(unknown, "unknown account")(tx)
		}
		for _, a := range accounts {
			if err := apply(tx, a); err != nil {
				return err
			}
		}
		return nil
	}}
}

// affectedAccounts finds the accounts that news is about: the one whose number it names,
// or all that share the business account, which may have numbers that nobody has
// connected here.
func affectedAccounts(tx *storage.Tx, waba, phone string) ([]storage.Account, error) {
	all, err := tx.AccountsOfWABA(waba)
	if err != nil || phone == "" {
		return all, err
	}
	named := digitsOnly(phone)
	exact := slices.ContainsFunc(all, func(a storage.Account) bool { return a.PhoneNumber != nil && digitsOnly(*a.PhoneNumber) == named })
	return slices.DeleteFunc(all, func(a storage.Account) bool {
		switch {
		case a.PhoneNumber == nil:
			return len(all) > 1 // one that is alone can be nobody else
		case exact:
			return digitsOnly(*a.PhoneNumber) != named
		}
		return lastDigits(*a.PhoneNumber) != lastDigits(phone)
	}), nil
}

// lastDigits is the end of a phone number, which stays the same where a country
// writes its mobile numbers with a digit more or less.
func lastDigits(phone string) string {
	const digits = 8
	s := digitsOnly(phone)
	return s[max(0, len(s)-digits):]
}

// digitsOnly is a phone number without its decoration.
func digitsOnly(phone string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, phone)
}

// accountChangeFor is what news of a field does to accounts, nil for nothing.
func accountChangeFor(field string, u provider.AccountUpdate) accountChange {
	switch field {
	case "account_update":
		return accountChangeForEvent(u)
	case "account_review_update":
		switch u.Decision {
		case "REJECTED":
			return markRestricted
		case "APPROVED":
			return enqueueCheck
		}
	case "phone_number_quality_update":
		return enqueueCheck // the number's status may be another
	case "phone_number_name_update":
		if u.Decision == "APPROVED" && u.RequestedName != "" {
			return func(tx *storage.Tx, a storage.Account) error { return tx.RenameAccount(a.ID, u.RequestedName) }
		}
	case "security":
		if u.Event == "PIN_CHANGED" || u.Event == "PIN_REQUEST_SUCCESS" {
			return func(tx *storage.Tx, a storage.Account) error { return tx.ForgetPIN(a.ID) } // which is no longer the number's
		}
	}
	return nil
}

func accountChangeForEvent(u provider.AccountUpdate) accountChange {
	switch u.Event {
	case "ACCOUNT_DELETED", "ACCOUNT_OFFBOARDED", "PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED":
		why := "The provider reports " + u.Event
		if u.Disconnect.Reason != "" {
			why += " (" + u.Disconnect.Reason + ")"
		}
		return func(tx *storage.Tx, a storage.Account) error {
			return tx.MarkAccount(a.ID, storage.AccountDisconnected, why+".")
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
			return func(tx *storage.Tx, a storage.Account) error { return tx.LiftRestriction(a.ID) }
		case len(u.Ban.State) == 0 || slices.Contains(u.Ban.State, "DISABLE"):
			return markRestricted
		}
	}
	return nil
}

// stopsMessages tells a restriction of messages from one that only keeps further
// numbers from being added.
func stopsMessages(u provider.AccountUpdate) bool {
	for _, r := range u.Restrictions {
		if r.Type != "RESTRICTED_ADD_PHONE_NUMBER_ACTION" {
			return true
		}
	}
	return len(u.Restrictions) == 0
}

func markRestricted(tx *storage.Tx, a storage.Account) error { return tx.MarkRestricted(a.ID) }

// enqueueCheck has the provider asked how the account is now. One that is being set up is
// asked about by whoever does that.
func enqueueCheck(tx *storage.Tx, a storage.Account) error {
	if a.Status == storage.AccountOnboarding {
		return nil
	}
	return jobs.EnqueueAccountCheck(tx, a.ID)
}
