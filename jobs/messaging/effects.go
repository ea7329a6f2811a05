package messaging

import (
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

// MaxCooldown is how long an account cools down after it met a rate limit of the
// provider, and how long a message waits for that.
const MaxCooldown = 15 * time.Minute

// IsCoolingDown reports whether a cooldown lasts that ends at a time. One that ends later than
// any can was set while the clock was ahead, and is over.
func IsCoolingDown(until, now storage.Time) bool {
	left := until.Sub(now)
	return 0 < left && left <= MaxCooldown
}

// ApplyEffect changes the account or the contact as the code of a failed message
// demands. It does not mark accounts as restricted: the provider reports that in
// a callback of its own, which also says when it ends.
func ApplyEffect(tx *storage.Tx, m storage.Message, f Failure) error {
	switch f.Effect {
	case provider.OptOut:
		return optOut(tx, m)
	case provider.Restricted:
		return nil
	}
	return ApplyAccountEffect(tx, m.AccountID, f.Effect, f.Text)
}

// ApplyAccountEffect changes an account as a code of the provider demands.
func ApplyAccountEffect(tx *storage.Tx, account int64, effect provider.Effect, why string) error {
	switch effect {
	case provider.Degraded:
		return tx.MarkDegraded(account, why)
	case provider.Disconnected:
		return tx.MarkAccountStatus(account, storage.AccountDisconnected, why)
	case provider.Restricted:
		return tx.MarkRestricted(account)
	case provider.Cooldown:
		return tx.SetCooldown(account, tx.Now.Add(MaxCooldown))
	}
	return nil
}
