package api

import (
	"cmp"
	"slices"
	"strings"

	"confab/app/api/rest"
	"confab/storage"
)

// allScopes is how a key that has every scope is shown.
const allScopes = "*"

// maxKeyNumbers is how many numbers a key may be bound to.
const maxKeyNumbers = 100

// KeyLimitsView is what a key may do.
type KeyLimitsView struct {
	Scopes         []string `json:"scopes"`           // sorted
	PhoneNumberIDs []string `json:"phone_number_ids"` // null: all
	Agent          *string  `json:"agent"`
}

// ViewKeyLimits shows what a key may do. A key whose numbers were removed has an empty list.
func ViewKeyLimits(k storage.Key) KeyLimitsView {
	v := KeyLimitsView{Scopes: k.Scopes, PhoneNumberIDs: k.PhoneNumberIDs, Agent: k.Agent}
	if len(k.Scopes) == 0 {
		v.Scopes = []string{allScopes}
	}
	return v
}

// KeyLimits are what a new key may do, in the console and on the command line.
type KeyLimits struct {
	Scopes         []string `json:"scopes"`           // nil: all
	PhoneNumberIDs []string `json:"phone_number_ids"` // nil: all
}

// Validate checks the form of the limits.
func (l *KeyLimits) Validate() error {
	return cmp.Or(l.checkScopes(), l.checkNumbers())
}

func (l *KeyLimits) checkScopes() error {
	switch {
	case l.Scopes == nil || slices.Equal(l.Scopes, []string{allScopes}):
		return nil
	case len(l.Scopes) == 0:
		return rest.Invalid("scopes", "must not be empty: leave it out for all")
	}

	known := storage.Scopes()
	for i, scope := range l.Scopes {
		if !slices.Contains(known, scope) {
			return rest.Invalid(rest.ItemPath("scopes", i), "must be one of "+strings.Join(known, ", "))
		}
	}
	return nil
}

func (l *KeyLimits) checkNumbers() error {
	if l.PhoneNumberIDs != nil && len(l.PhoneNumberIDs) == 0 {
		return rest.Invalid("phone_number_ids", "must not be empty: leave it out for all")
	}
	return cmp.Or(rest.AtMost("phone_number_ids", l.PhoneNumberIDs, maxKeyNumbers), checkNumbers(l.PhoneNumberIDs))
}

// Apply gives the limits to a key that is about to be made.
func (l *KeyLimits) Apply(rx *storage.Rx, k *storage.Key) (err error) {
	if !slices.Equal(l.Scopes, []string{allScopes}) {
		k.Scopes = distinct(l.Scopes)
		slices.Sort(k.Scopes)
	}
	if l.PhoneNumberIDs == nil {
		return nil
	}

	if err := checkOwnNumbers(rx, k.OrganizationID, l.PhoneNumberIDs); err != nil {
		return err
	}
	k.Accounts, err = rx.AccountsOfNumbers(k.OrganizationID, l.PhoneNumberIDs)
	return err
}
