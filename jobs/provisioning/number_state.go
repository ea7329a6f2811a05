package provisioning

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"confab/jobs/provider"
	"confab/storage"
)

// numberConnected is the only status in which the provider lets a number send.
const numberConnected = "CONNECTED"

// CheckNumber asks the provider for a number's state and returns what to write. If the
// account has lost its access, that is written at once, and the error returned.
func (a *Accounts) CheckNumber(ctx context.Context, account int64) (write func(*storage.Tx) error, err error) {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return nil, err
	}

	before := c.UpdatedAt
	number, err := a.provider.Number(ctx, c.token, *c.PhoneNumberID)
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, false)
	}

	c.applyNumber(number)
	return func(tx *storage.Tx) error {
		now, err := tx.AccountDetail(account)
		if err != nil {
			return storage.IgnoreNotFound(err)
		}

		// A change of the account after it was read is newer than the answer.
		if err := tx.MarkAccountChecked(account); err != nil || now.UpdatedAt != before {
			return err
		}
		return updateAccount(tx, &c.AccountDetail, c.display)
	}, nil
}

// applyNumber takes over the provider's state of a number. A number that is not
// connected degrades an account that was; one that is being onboarded goes on
// waiting, and one that is disconnected stays so.
func (c *credentials) applyNumber(n provider.Number) {
	c.ProviderStatus, c.display = &n.Status, n.DisplayPhoneNumber
	c.Name = cmp.Or(nonEmpty(n.VerifiedName), c.Name)
	c.PhoneNumber = cmp.Or(phoneOf(n), c.PhoneNumber)

	switch {
	case n.Status == numberConnected:
		c.Status, c.StatusReason = storage.AccountConnected, nil
		c.Restricted = restricted(n, c.Restricted)
	case c.Status == storage.AccountConnected || c.Status == storage.AccountDegraded:
		c.Status, c.StatusReason = storage.AccountDegraded, nonEmpty("The provider reports the number as "+n.Status+".")
	}

	if n.Status == "RESTRICTED" || n.Status == "BANNED" {
		c.Restricted = true
	}
}

// restricted reports whether the provider blocks a connected number from sending. If
// the answer does not say, it is as before.
func restricted(n provider.Number, before bool) bool {
	var health struct {
		CanSend string `json:"can_send_message"`
	}
	if json.Unmarshal(n.Health, &health) != nil || health.CanSend == "" {
		return before
	}
	return health.CanSend == "BLOCKED"
}

// phoneOf is a number in E.164, or nil if its displayed form is not such a number.
func phoneOf(n provider.Number) *string {
	digits := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, n.DisplayPhoneNumber)

	phone, ok := provider.ParsePhone(digits)
	if !ok {
		return nil
	}
	return &phone
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
