package api

import (
	"cmp"
	"errors"
	"time"

	"confab/app/api/rest"
	"confab/app/factor"
	"confab/app/ticket"
	"confab/storage"
)

// recentSignIn is how long after signing in somebody may change its factors: a browser that was
// left alone must not be enough for it.
const recentSignIn = 10 * time.Minute

// FactorPolicy says who must have a second factor: console.second_factor.
type FactorPolicy string

// Those who must have one. Any other value, such as optional, is nobody.
const (
	FactorForAdmins   FactorPolicy = "admins"
	FactorForEveryone FactorPolicy = "everyone"
)

// IsBrokenBy reports whether a user must have a second factor and has none. Those who can only
// sign in through the identity provider need none.
func (p FactorPolicy) IsBrokenBy(u storage.User) bool {
	must := p == FactorForEveryone || p == FactorForAdmins && u.Role == storage.RoleAdmin
	onlyByProvider := u.IsBound && u.PasswordHash == nil
	return must && !u.HasFactor() && !onlyByProvider
}

// factorsView is what a person proves itself with besides its password.
type factorsView struct {
	Object        string        `json:"object"`
	Codes         *codesView    `json:"codes"`
	Passkeys      []passkeyView `json:"passkeys"`
	RecoveryCodes int           `json:"recovery_codes"` // that are left
	Recent        bool          `json:"recent"`         // it signed in lately, and may change them
	PasskeyHost   *string       `json:"passkey_host"`   // for which browsers make passkeys; null for none
}

type codesView struct {
	CreatedAt  storage.Time `json:"created_at"`
	LastUsedAt storage.Time `json:"last_used_at"`
}

// viewFactors reads the factors of a user.
func viewFactors(rx *storage.Rx, user string) (view factorsView, err error) {
	view.Object, view.Passkeys = "factors", []passkeyView{}
	codes, err := rx.UserCodes(user)
	if err == nil {
		view.Codes = &codesView{codes.CreatedAt, codes.LastUsedAt}
	}
	if storage.IgnoreNotFound(err) != nil {
		return view, err
	}

	passkeys, err := rx.UserPasskeys(user)
	for _, p := range passkeys {
		view.Passkeys = append(view.Passkeys, passkeyView{p.ID, "passkey", p.Name, p.Host, p.CreatedAt, p.LastUsedAt})
	}
	if err != nil {
		return view, err
	}
	view.RecoveryCodes, err = rx.CountRecoveryCodes(user)
	return view, err
}

// getFactors handles GET /console/api/factors: one's own.
func (s *Server) getFactors(r *rest.Request) (rest.Reply, error) {
	view, err := s.viewFactorsOf(r, r.User.ID)
	view.Recent = IsRecentSignIn(r.Visitor.Session, r.Now)
	if s.Passkeys != nil {
		view.PasskeyHost = &s.Passkeys.Host
	}
	return rest.OK(view), err
}

// getPersonFactors handles GET /console/api/people/:id/factors.
func (s *Server) getPersonFactors(r *rest.Request) (rest.Reply, error) {
	view, err := s.viewFactorsOf(r, r.Param("id"))
	return rest.OK(view), err
}

func (s *Server) viewFactorsOf(r *rest.Request, user string) (factorsView, error) {
	return rest.Query(s.Server, r, func(rx *storage.Rx) (factorsView, error) { return viewFactors(rx, user) })
}

// IsRecentSignIn reports whether a session is new enough at a time to change factors.
func IsRecentSignIn(session storage.UserSession, now storage.Time) bool {
	return now < session.CreatedAt.Add(recentSignIn)
}

func errNotRecent(change string) error {
	return rest.Fail(rest.PermissionDenied, "Sign in again first: "+change+" needs a sign-in within the last 10 minutes.")
}

// updateFactors lets change work on one's own factors, after a sign-in lately. What it
// returns is shown once.
func (s *Server) updateFactors(r *rest.Request, change func(*storage.Tx) (any, error)) (rest.Reply, error) {
	if !IsRecentSignIn(r.Visitor.Session, r.Now) {
		return rest.Reply{}, errNotRecent("changing a second factor")
	}

	r.Target = r.User.ID
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		view, err := change(tx)
		return rest.OK(view).WithSecret(), err
	})
}

const (
	newCodesPurpose = "new one-time codes of "
	newCodesLife    = 10 * time.Minute
)

// NewCodes is what somebody needs to set up an app for one-time codes. Nothing is stored until a
// code of it is given: the ticket has the secret.
type NewCodes struct {
	Object  string         `json:"object"`
	Secret  string         `json:"secret"`
	URL     string         `json:"url"`
	Picture factor.Picture `json:"picture"`
	Ticket  string         `json:"ticket"`
}

// NewCodes makes the secret of one-time codes for a user.
func (s *Server) NewCodes(u storage.User) (n NewCodes, err error) {
	n.Object, n.Secret = "new_codes", factor.NewSecret()
	n.URL = factor.CodeURL(n.Secret, *cmp.Or(u.Email, &u.Name))
	if n.Picture, err = factor.Draw(n.URL); err != nil {
		return n, err
	}
	n.Ticket, err = ticket.Seal(s.DB, newCodesPurpose+u.ID, newCodesLife, n.Secret)
	return n, err
}

// startCodes handles POST /console/api/factors/codes/start.
func (s *Server) startCodes(r *rest.Request) (rest.Reply, error) {
	n, err := s.NewCodes(*r.User)
	return rest.OK(n).WithSecret(), err
}

// givenCode is the body of POST /console/api/factors/codes: a code that the app made, and the
// ticket of its secret.
type givenCode struct {
	Ticket *string `json:"ticket"`
	Code   *string `json:"code"`
}

func (c *givenCode) Validate() error {
	switch {
	case c.Ticket == nil:
		return rest.Missing("ticket")
	case c.Code == nil:
		return rest.Missing("code")
	}
	return nil
}

// recoveryView are new recovery codes. They are shown once; without any the old ones stay.
type recoveryView struct {
	Object        string   `json:"object"`
	RecoveryCodes []string `json:"recovery_codes"`
}

// createCodes handles POST /console/api/factors/codes.
func (s *Server) createCodes(r *rest.Request, in givenCode) (rest.Reply, error) {
	return s.updateFactors(r, func(tx *storage.Tx) (any, error) {
		recovery, err := s.StoreCodes(tx, *r.User, *in.Ticket, *in.Code)
		return recoveryView{"recovery_codes", rest.OrEmpty(recovery)}, err
	})
}

// StoreCodes gives a user one-time codes, once it has shown by a code that its app makes
// them. The first factor brings recovery codes, to be shown once.
func (s *Server) StoreCodes(tx *storage.Tx, u storage.User, text, code string) (recovery []string, err error) {
	var secret string
	if !ticket.Open(s.DB, newCodesPurpose+u.ID, text, &secret) {
		return nil, rest.Invalid("ticket", "has expired: start again")
	}
	step, ok := factor.AcceptedStep(secret, code, time.Now(), 0) // of phones, which nobody moves with a sandbox
	if !ok {
		return nil, rest.Invalid("code", "is wrong: use the one your app shows now")
	}

	before, err := tx.UserByID(u.ID)
	if err != nil {
		return nil, err
	}
	err = tx.InsertUserCodes(u.ID, secret, step)
	if errors.Is(err, storage.ErrFactorExists) {
		return nil, rest.Invalid("code", "cannot be added: you have an app for one-time codes already")
	}
	if err != nil || before.HasFactor() {
		return nil, err
	}
	return newRecoveryCodes(tx, u.ID)
}

// newRecoveryCodes gives a user new recovery codes, to be shown once.
func newRecoveryCodes(tx *storage.Tx, user string) ([]string, error) {
	codes := factor.NewRecoveryCodes()
	plain := make([]string, len(codes))
	for i, code := range codes {
		plain[i] = factor.PlainRecoveryCode(code)
	}
	return codes, tx.ReplaceRecoveryCodes(user, plain)
}

// deleteCodes handles DELETE /console/api/factors/codes.
func (s *Server) deleteCodes(r *rest.Request) (rest.Reply, error) {
	return s.updateFactors(r, func(tx *storage.Tx) (any, error) {
		if err := tx.DeleteUserCodes(r.User.ID); err != nil {
			return nil, err
		}
		return viewFactors(&tx.Rx, r.User.ID)
	})
}

// replaceRecoveryCodes handles POST /console/api/factors/recovery_codes.
func (s *Server) replaceRecoveryCodes(r *rest.Request) (rest.Reply, error) {
	return s.updateFactors(r, func(tx *storage.Tx) (any, error) {
		u, err := tx.UserByID(r.User.ID)
		if err != nil {
			return nil, err
		}
		if !u.HasFactor() {
			return nil, rest.Invalid("recovery_codes", "come with the first second factor: set one up")
		}
		codes, err := newRecoveryCodes(tx, u.ID)
		return recoveryView{"recovery_codes", codes}, err
	})
}
