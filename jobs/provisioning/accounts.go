package provisioning

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// Accounts keeps accounts and their templates in sync with the provider, for jobs,
// requests and commands alike. It makes the calls and returns what changed; the
// caller writes that in its own transaction.
type Accounts struct {
	db       *storage.DB
	provider *provider.Client

	mu          sync.Mutex
	registering map[int64]bool    // accounts whose registration is under way
	lookups     map[int64]*lookup // of templates, by account
}

// NewAccounts makes an Accounts.
func NewAccounts(db *storage.DB, client *provider.Client) *Accounts {
	return &Accounts{
		db:          db,
		provider:    client,
		registering: make(map[int64]bool),
		lookups:     make(map[int64]*lookup),
	}
}

// ErrTokenUnreadable means that an account has a token that cannot be decrypted.
var ErrTokenUnreadable = errors.New("access token")

// credentials are an account and the token for calls about it.
type credentials struct {
	storage.AccountDetail
	token   provider.Token
	display string // the number as people read it; set by applyNumber
}

// credentials loads an account with its token.
func (a *Accounts) credentials(ctx context.Context, account int64) (c credentials, err error) {
	err = a.db.View(ctx, func(rx *storage.Rx) (err error) {
		if c.AccountDetail, err = rx.AccountDetail(account); err != nil {
			return err
		}

		plain, err := rx.AccessToken(c.Account)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTokenUnreadable, err)
		}
		c.token = provider.NewToken(plain)
		return nil
	})
	return c, err
}

// recordRefusal stores what an error of the provider means for the account, and
// returns the error. A call for management, such as one about templates, may lack
// a permission that sending does not need: its errors degrade the account only if
// the token itself is not valid.
func (a *Accounts) recordRefusal(ctx context.Context, account int64, failed error, managing bool) error {
	class := provider.ClassOf(failed)
	if class.Effect == provider.NoEffect || class.Effect == provider.Degraded && managing && class.Code != errorcode.AuthExpired {
		return failed
	}

	// The account changes even if the caller has gone away.
	ctx = context.WithoutCancel(ctx)
	err := a.db.Update(ctx, func(tx *storage.Tx) error {
		return messaging.ApplyAccountEffect(tx, account, class.Effect, messaging.FailureOf(failed).Text)
	})
	return errors.Join(failed, err)
}
