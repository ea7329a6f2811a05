package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// numberConnected is the only status in which the provider lets a number send.
const numberConnected = "CONNECTED"

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

// ErrRegistering means that a number is being registered already.
var ErrRegistering = errors.New("a registration of this number is under way")

// ErrToken means that an account has a token that cannot be decrypted.
var ErrToken = errors.New("access token")

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
			return fmt.Errorf("%w: %w", ErrToken, err)
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

// Registered is the result of a registration, to be stored by the caller.
type Registered struct {
	// Release lets others register the number. Call it after Store has committed.
	Release func()

	account storage.AccountDetail
	display string // the number as people read it
	pin     string // "" if none was needed
	idle    bool   // nothing was to be done
}

// Account is the account after Store.
func (r *Registered) Account() storage.AccountDetail { return r.account }

// Register registers a number with the provider, so that it can send. The pin must
// be the number's PIN if it has one, and becomes it if not. A connected number is
// left alone. Until Release is called, nobody else can register the number.
func (a *Accounts) Register(ctx context.Context, account int64, pin string) (*Registered, error) {
	if !a.beginRegistering(account) {
		return nil, ErrRegistering
	}

	done, err := a.register(ctx, account, pin)
	if err != nil {
		a.endRegistering(account)
		return nil, err
	}
	done.Release = sync.OnceFunc(func() { a.endRegistering(account) })
	return done, nil
}

// register is Register after the number was reserved. A number that is also used
// in the phone app is never registered, only its state is read.
func (a *Accounts) register(ctx context.Context, account int64, pin string) (*Registered, error) {
	c, err := a.credentials(ctx, account)
	if err != nil || c.Status == storage.AccountConnected {
		return &Registered{account: c.AccountDetail, idle: true}, err
	}

	number, err := a.provider.Number(ctx, c.token, *c.PhoneNumberID)
	if err != nil {
		return nil, a.recordRefusal(ctx, account, err, false)
	}

	if number.Coexists() {
		c.applyNumber(number)
		return &Registered{account: c.AccountDetail, display: c.display}, nil
	}

	// As management, because terms of use that nobody has accepted yet are refused
	// with the code of a missing permission.
	if err := registerNumber(ctx, a.provider, c.token, *c.PhoneNumberID, pin, &number); err != nil {
		return nil, a.recordRefusal(ctx, account, err, true)
	}

	// The call succeeded, so it is connected, even if its status still lags behind.
	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil
	return &Registered{account: c.AccountDetail, display: c.display, pin: pin}, nil
}

func (a *Accounts) beginRegistering(account int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.registering[account] {
		return false
	}
	a.registering[account] = true
	return true
}

func (a *Accounts) endRegistering(account int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.registering, account)
}

// Store writes what the registration changed.
func (r *Registered) Store(tx *storage.Tx) error {
	if r.idle {
		return nil
	}

	if r.pin != "" {
		if err := tx.SetPIN(r.account.Account, r.pin); err != nil {
			return err
		}
	}
	return updateAccount(tx, &r.account, r.display)
}

// updateAccount stores what the provider reports about a number. If the number can
// send now, that may complete a customer's signup.
func updateAccount(tx *storage.Tx, a *storage.AccountDetail, display string) error {
	if err := tx.UpdateAccount(a); err != nil || a.Status != storage.AccountConnected || a.CustomerID == nil {
		return err
	}
	return completeLateSignup(tx, a.Account, display)
}

// Check asks the provider for a number's state and returns what to write. If the
// account has lost its access, that is written at once, and the error returned.
func (a *Accounts) Check(ctx context.Context, account int64) (queue.Commit, error) {
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

		// What changed the account after it was read is newer than the answer.
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
	c.PhoneNumber = cmp.Or(PhoneOf(n), c.PhoneNumber)

	switch {
	case n.Status == numberConnected:
		c.Status, c.StatusReason = storage.AccountConnected, nil
		c.Restricted = restricted(n, c.Restricted)
	case c.Status == storage.AccountConnected || c.Status == storage.AccountDegraded:
		c.Status, c.StatusReason = storage.AccountDegraded, nonEmpty("The provider's status of the number is "+n.Status+".")
	}

	if n.Status == "RESTRICTED" || n.Status == "BANNED" {
		c.Restricted = true
	}
}

// restricted tells whether the provider blocks a connected number from sending. If
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

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// PhoneOf is a number in E.164, or nil if its displayed form is not such a number.
func PhoneOf(n provider.Number) *string {
	phone := "+" + strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, n.DisplayPhoneNumber)

	if !e164.MatchString(phone) {
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
