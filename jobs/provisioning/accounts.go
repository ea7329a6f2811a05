package provisioning

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

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

	lookups singleflight.Group // of templates, by account

	mu          sync.Mutex
	registering map[int64]bool      // accounts whose registration is under way
	lookedUp    map[int64]time.Time // when templates of an account were last looked up
}

// NewAccounts makes an Accounts.
func NewAccounts(db *storage.DB, client *provider.Client) *Accounts {
	return &Accounts{
		db:          db,
		provider:    client,
		registering: make(map[int64]bool),
		lookedUp:    make(map[int64]time.Time),
	}
}

type credentials struct {
	storage.AccountDetail
	token provider.Token
}

// credentials finds an account and its token. The error is ErrSealed if that cannot be decrypted.
func (a *Accounts) credentials(ctx context.Context, account int64) (c credentials, err error) {
	err = a.db.View(ctx, func(rx *storage.Rx) (err error) {
		if c.AccountDetail, err = rx.AccountDetail(account); err != nil {
			return err
		}

		plain, err := rx.AccessToken(c.Account)
		c.token = provider.NewToken(plain)
		return err
	})
	return c, err
}

// manage makes a call with the token of an account that is not needed for sending.
func (a *Accounts) manage(ctx context.Context, account int64, call func(credentials) error) error {
	c, err := a.credentials(ctx, account)
	if err != nil {
		return err
	}
	return a.recordRefusal(ctx, account, call(c), true)
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

// Pass makes a call of a client of the provider with the token of an account.
func (a *Accounts) Pass(ctx context.Context, account int64, call provider.PassedCall) (answer provider.Answer, err error) {
	err = a.manage(ctx, account, func(c credentials) (err error) {
		answer, err = a.provider.Pass(ctx, c.token, call)
		return err
	})
	return answer, err
}

// UploadMedia uploads a file that a client of the provider sends, and returns its id.
func (a *Accounts) UploadMedia(ctx context.Context, account int64, f provider.File) (id string, answer provider.Answer, err error) {
	err = a.manage(ctx, account, func(c credentials) (err error) {
		id, err = a.provider.UploadMedia(ctx, c.token, storage.OrEmpty(c.PhoneNumberID), f, &answer)
		return err
	})
	return id, answer, err
}

// DownloadMedia writes a file of at most limit bytes to w, which a client of the provider asks for
// by the provider's id.
func (a *Accounts) DownloadMedia(ctx context.Context, account int64, id string, limit int64, w io.Writer) error {
	return a.manage(ctx, account, func(c credentials) error {
		_, err := a.provider.FetchMedia(ctx, c.token, id, storage.OrEmpty(c.PhoneNumberID), limit, w)
		return err
	})
}
