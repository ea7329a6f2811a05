package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
)

// KindOnboard is the kind of job that connects a number after its signup; see OnboardArgs.
const KindOnboard = "onboard"

// OnboardArgs name the link that was used and the account to be connected.
type OnboardArgs struct {
	Link string `json:"link"`
	AboutAccount
	Before *BeforeState `json:"before,omitempty"`
}

// BeforeState is what an account was before it was signed up again in vain.
type BeforeState struct {
	Status string `db:"status" json:"status"`
	Reason string `db:"reason" json:"reason"`
}

// Invitation is a setup link as its visitor sees it: with the customer whom it
// invites, the organization that does so, and the signup that is under way.
type Invitation struct {
	SetupLink
	OrganizationID   int64   `db:"organization_id"`
	OrganizationName string  `db:"organization_name"`
	TeamID           int64   `db:"team_id"`
	CustomerName     string  `db:"customer_name"`
	CustomerStatus   string  `db:"customer_status"`
	Account          *string `db:"account"`       // public id of AccountID
	AccountPhone     *string `db:"account_phone"` // its number
	Working          bool    `db:"working"`       // the job is not done
}

// Why a setup link did not connect a number, as shown to its visitors.
const (
	ReasonLinkExpired   = "link_expired"
	ReasonLinkRevoked   = "link_revoked"
	ReasonAlreadyUsed   = "already_used"
	ReasonCancelled     = "signup_cancelled"
	ReasonTokenExchange = "token_exchange_failed"
	ReasonVerification  = "phone_verification_failed"
	ReasonProvider      = "provider_error"
	ReasonArchived      = "customer_archived"
)

// Unusable says why a link cannot be used, "" where it can.
func (i Invitation) Unusable(now Time) string {
	switch i.State(now) {
	case LinkConsumed:
		return ReasonAlreadyUsed
	case LinkRevoked:
		return ReasonLinkRevoked
	case LinkExpired:
		return ReasonLinkExpired
	}

	if i.CustomerStatus == CustomerArchived {
		return ReasonArchived
	}
	return ""
}

const invitation = `
	SELECT ` + linkColumns + `, c.organization_id, c.team_id, c.name AS customer_name, c.status AS customer_status,
		o.name AS organization_name,
		a.public_id AS account, a.phone_number AS account_phone, EXISTS (SELECT 1 FROM jobs WHERE id = l.job_id) AS working
	FROM setup_links l
	JOIN customers c ON c.id = l.customer_id
	JOIN organizations o ON o.id = c.organization_id
	LEFT JOIN accounts a ON a.id = l.account_id`

// Invitation finds a link by its token, of which only a hash is kept.
func (rx *Rx) Invitation(token string) (Invitation, error) {
	hash := TokenHash(token)
	return get[Invitation](rx, invitation+`
	WHERE l.token_hash = ?`, hash[:])
}

// UsedInvitation finds the link, active now, through which an account was signed up, or tried to.
func (tx *Tx) UsedInvitation(account int64) (Invitation, error) {
	return get[Invitation](&tx.Rx, invitation+`
	WHERE l.account_id = ? AND l.status = 'active' AND l.expires_at > ?
	ORDER BY l.id DESC
	LIMIT 1`, account, tx.Now)
}

// LinkInvitation finds a link by its id, which only our own jobs have.
func (rx *Rx) LinkInvitation(link string) (Invitation, error) {
	return get[Invitation](rx, invitation+`
	WHERE l.id = ?`, link)
}

// BeginOnboarding stores the account that a signup has brought, as onboarding
// and with a new PIN, and the job that connects it. A customer that signs up
// its own number again, after something went wrong, gets the account that it
// has, with the new token. ErrConflict means that the number is connected, or
// somebody else's.
func (tx *Tx) BeginOnboarding(i *Invitation, a *Account, accessToken string) error {
	before, err := tx.ensureSignupAccount(*i, a, accessToken)
	if err != nil {
		return err
	}

	if pin, err := tx.PIN(*a); err != nil || pin == "" { // one that cannot be read is as good as none
		if err := tx.SetPIN(*a, newPIN()); err != nil {
			return err
		}
	}

	job, err := tx.Enqueue(NewJob{Kind: KindOnboard, Args: OnboardArgs{i.ID, AboutAccount{a.ID}, before}})
	if err != nil {
		return err
	}

	i.AccountID, i.Account, i.FailureReason, i.Working = &a.ID, &a.PublicID, nil, true
	return tx.ExecOne(`
		UPDATE setup_links
		SET account_id = ?, job_id = ?, failure_reason = NULL
		WHERE id = ? AND status = 'active'`, a.ID, job, i.ID)
}

// ensureSignupAccount stores the account of a signup, or finds its customer's and what that was.
func (tx *Tx) ensureSignupAccount(i Invitation, a *Account, accessToken string) (*BeforeState, error) {
	// Only the customer's own account may be signed up again, and only while it
	// does not work.
	there, err := tx.AccountByNumber(*a.PhoneNumberID)
	switch {
	case errors.Is(err, ErrNotFound):
		a.OrganizationID, a.TeamID, a.CustomerID, a.Status = i.OrganizationID, i.TeamID, &i.CustomerID, AccountOnboarding
		return nil, tx.InsertAccount(a, accessToken)
	case err != nil:
		return nil, err
	case there.CustomerID == nil || *there.CustomerID != i.CustomerID || there.Status == AccountConnected:
		return nil, fmt.Errorf("%w: the number has an account", ErrConflict)
	}

	var before BeforeState
	if err := tx.Get(&before, `SELECT status, coalesce(status_reason, '') AS reason FROM accounts WHERE id = ?`, there.ID); err != nil {
		return nil, err
	}

	there.WABAID, there.Status = a.WABAID, AccountOnboarding
	*a = there
	if err := tx.SetAccessToken(*a, accessToken); err != nil {
		return nil, err
	}

	return &before, tx.ExecOne(`
		UPDATE accounts
		SET waba_id = ?, status = ?, status_reason = NULL, updated_at = ?
		WHERE id = ?`, a.WABAID, a.Status, tx.Order, a.ID)
}

func newPIN() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // the reader never fails
	return fmt.Sprintf("%06d", n)
}

// PIN opens the number's PIN; "" where there is none.
func (rx *Rx) PIN(a Account) (string, error) {
	var sealed []byte
	if err := rx.Get(&sealed, `SELECT pin FROM accounts WHERE id = ?`, a.ID); err != nil || sealed == nil {
		return "", err
	}
	pin, err := rx.db.Unseal(pinPurpose(a.PublicID), sealed)
	return string(pin), err
}

// FailOnboarding records why a signup came to nothing. Its link can be used again.
func (tx *Tx) FailOnboarding(link, reason string) error {
	return tx.ExecOne(`
		UPDATE setup_links
		SET failure_reason = ?, job_id = NULL
		WHERE id = ?`, reason, link)
}

// IsFirstSignup reports whether a customer has connected no number through a link so far.
func (rx *Rx) IsFirstSignup(customer string) (bool, error) {
	return value[bool](rx, `SELECT NOT EXISTS (SELECT 1 FROM setup_links WHERE customer_id = ? AND status = 'consumed')`, customer)
}

// ConsumeSetupLink ends a link whose signup is complete, and makes a waiting customer active.
func (tx *Tx) ConsumeSetupLink(l *SetupLink) error {
	l.Status, l.ConsumedAt, l.FailureReason = LinkConsumed, tx.Now, nil
	_, err := tx.Exec(`
		UPDATE customers
		SET status = 'active', updated_at = ?
		WHERE id = ? AND status = 'pending'`, tx.Order, l.CustomerID)
	if err != nil {
		return err
	}

	return tx.ExecOne(`
		UPDATE setup_links
		SET status = ?, consumed_at = ?, failure_reason = NULL, job_id = NULL
		WHERE id = ? AND status = 'active'`, l.Status, l.ConsumedAt, l.ID)
}
