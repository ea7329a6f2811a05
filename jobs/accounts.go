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

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	// numberConnected is the one status in which the provider lets a number send.
	numberConnected = "CONNECTED"

	// authExpired is the error.code of a token that is no good.
	authExpired = "auth_expired"
)

// Accounts keeps accounts and their templates in step with the provider, for
// jobs, requests and commands alike. It makes the calls; what they bring is
// returned for the caller to write in a transaction of its own.
type Accounts struct {
	db       *storage.DB
	provider *provider.Client

	mu          sync.Mutex
	registering map[int64]bool
	lookups     map[int64]*lookup // of templates, by account
}

// NewAccounts makes what speaks to the provider about accounts.
func NewAccounts(db *storage.DB, client *provider.Client) *Accounts {
	return &Accounts{db: db, provider: client, registering: make(map[int64]bool), lookups: make(map[int64]*lookup)}
}

// ErrRegistering means that a number is being registered already.
var ErrRegistering = errors.New("a registration of this number is under way")

// ErrToken means that an account's token is there and cannot be opened.
var ErrToken = errors.New("access token")

// credentials are an account and what it takes to speak for it.
type credentials struct {
	storage.AccountDetail
	token   provider.Token
	display string // the number as people read it, once it was seen
}

// open loads an account with its token.
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

// noted records what a refusal means for the account, and returns it. A call
// that only manages, such as one about templates, may lack a permission that
// sending does not need: there only the token itself counts.
func (a *Accounts) recordRefusal(ctx context.Context, account int64, failed error, managing bool) error {
	class := provider.ClassOf(failed)
	if class.Effect == provider.NoEffect || class.Effect == provider.Degraded && managing && class.Code != authExpired {
		return failed
	}

	ctx = context.WithoutCancel(ctx) // it is so, whoever still wants to hear of it
	err := a.db.Update(ctx, func(tx *storage.Tx) error {
		return markAccount(tx, account, class.Effect, failureOf(failed).text)
	})
	return errors.Join(failed, err)
}

// Registered is what became of a registration.
type Registered struct {
	// Release lets others register the number; call it once all is stored.
	Release func()

	account storage.AccountDetail
	display string // the number as people read it
	pin     string // "" where none was needed
	idle    bool   // there was nothing to do
}

// Account is the account as Store leaves it.
func (r *Registered) Account() storage.AccountDetail { return r.account }

// Register makes a number able to send: its PIN must match where it has one, and
// becomes its PIN where it has none. A connected number is left alone. Until the
// outcome is stored and released, nobody else can register the number.
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

// register is Register for the only one who does. A number that is used in the
// phone app too is never registered, only asked about.
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

	if err := registerNumber(ctx, a.provider, c.token, *c.PhoneNumberID, pin, &number); err != nil {
		return nil, a.recordRefusal(ctx, account, err, true) // terms that nobody accepted yet are refused like a permission
	}

	c.applyNumber(number)
	c.Status, c.StatusReason = storage.AccountConnected, nil // the provider's word on the call itself
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

// updateAccount stores what the provider tells of a number. One that can send
// now may be what somebody signed up for.
func updateAccount(tx *storage.Tx, a *storage.AccountDetail, display string) error {
	if err := tx.UpdateAccount(a); err != nil || a.Status != storage.AccountConnected || a.CustomerID == nil {
		return err
	}
	return completeLateSignup(tx, a.Account, display)
}

// Check asks the provider how a number is, and returns what to write. What an
// account lost its access for is written at once, and returned as an error.
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
			return ignoreMissing(err)
		}

		if err := tx.MarkAccountChecked(account); err != nil || now.UpdatedAt != before {
			return err // something newer was told meanwhile
		}
		return updateAccount(tx, &c.AccountDetail, c.display)
	}, nil
}

// see takes over what the provider shows of a number. Only a connected one can
// send; one that was never set up is waited for, and one that was disconnected
// is not half connected again.
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

// restricted tells whether the provider keeps a connected number from sending.
// Where it does not say, it is as before.
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

// PhoneOf is a number in E.164, nil where the provider shows something else.
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
