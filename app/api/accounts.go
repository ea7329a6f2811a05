package api

import (
	"errors"
	"fmt"
	"regexp"

	"confab/app/api/rest"
	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

// accountView is the public shape of an account.
type accountView struct {
	ID             string       `json:"id"`
	Object         string       `json:"object"`
	PhoneNumberID  *string      `json:"phone_number_id"`
	PhoneNumber    *string      `json:"phone_number"`
	Name           *string      `json:"name"`
	Status         string       `json:"status"`
	StatusReason   *string      `json:"status_reason"`
	ProviderStatus *string      `json:"provider_status"`
	Restricted     bool         `json:"restricted"`
	CooldownUntil  storage.Time `json:"cooldown_until"`
	WABAID         *string      `json:"waba_id"`
	CustomerID     *string      `json:"customer_id"`
	TeamID         string       `json:"team_id"`
	CreatedAt      storage.Time `json:"created_at"`
}

// ViewAccount is an account at a time in the API's shape, on the command line too.
func ViewAccount(a storage.AccountDetail, now storage.Time) accountView {
	v := accountView{
		ID:             a.PublicID,
		Object:         "account",
		PhoneNumberID:  a.PhoneNumberID,
		PhoneNumber:    a.PhoneNumber,
		Name:           a.Name,
		Status:         a.Status,
		StatusReason:   a.StatusReason,
		ProviderStatus: a.ProviderStatus,
		Restricted:     a.Restricted,
		WABAID:         a.WABAID,
		CustomerID:     a.CustomerID,
		TeamID:         a.TeamPublicID,
		CreatedAt:      a.CreatedAt,
	}

	if messaging.IsCoolingDown(a.CooldownUntil, now) {
		v.CooldownUntil = a.CooldownUntil
		if v.StatusReason == nil {
			v.StatusReason = new(rateLimited)
		}
	}
	return v
}

// rateLimited is the status_reason of a number that waits for the end of a cooldown.
const rateLimited = "rate_limited"

// accountFilters reads the filters of a list of accounts. Any customer_id is accepted:
// an unknown one has no accounts. mayMatch is false for an empty one, which no account
// has.
func accountFilters(r *rest.Request) (f storage.AccountFilter, mayMatch bool, err error) {
	q := rest.Filters{Values: r.Query()}
	f = storage.AccountFilter{
		Status:     q.OneOf("status", storage.AccountConnected, "all"),
		CustomerID: q.Values.Get("customer_id"),
		Of:         r.Key.Accounts,
	}

	switch f.Status {
	case "":
		f.Status = storage.AccountConnected
	case "all":
		f.Status = ""
	}

	return f, !q.Values.Has("customer_id") || f.CustomerID != "", q.Err
}

// listAccounts handles GET /v1/accounts. Without a limit all come in one page.
func (s *Server) listAccounts(r *rest.Request) (rest.Reply, error) {
	f, mayMatch, err := accountFilters(r)
	if err != nil {
		return rest.Reply{}, err
	}

	q, err := s.ParseListQuery(r, fmt.Sprintf("accounts %#v", f))
	if err != nil {
		return rest.Reply{}, err
	}

	var rows []storage.AccountDetail
	switch {
	case !mayMatch:
	case r.Query().Has("limit"):
		rows, q.Reached, err = s.someAccounts(r, f, &q, q.Fetch())
	default:
		rows, err = s.allAccounts(r, f, q)
		q.Limit = len(rows)
	}
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Page(s.Server, q, rows, accountKey, func(a storage.AccountDetail) accountView { return ViewAccount(a, r.Now) })
}

// accountKey is the position of an account in the list.
func accountKey(a storage.AccountDetail) storage.After {
	return storage.After{Key: a.CreatedAt, ID: a.PublicID}
}

// someAccounts reads a page of the list, and how far it came.
func (s *Server) someAccounts(
	r *rest.Request, f storage.AccountFilter, q *rest.ListQuery, limit int,
) (rows []storage.AccountDetail, reached storage.After, err error) {
	err = s.ReadPage(r, q, func(rx *storage.Rx) (err error) {
		rows, reached, err = rx.Within(q.Budget).Accounts(r.Org.ID, f, q.After, limit)
		return err
	})
	return rows, reached, err
}

// accountsAtOnce is how many accounts are read in one transaction.
const accountsAtOnce = 250

// allAccounts reads the list to its end, or as much as the budget allows, page by page:
// a platform may have very many accounts.
func (s *Server) allAccounts(r *rest.Request, f storage.AccountFilter, q rest.ListQuery) ([]storage.AccountDetail, error) {
	var all []storage.AccountDetail
	for q.After != storage.Last && !q.Budget.Cut() {
		rows, reached, err := s.someAccounts(r, f, &q, accountsAtOnce)
		if err != nil {
			return nil, err
		}

		all, q.After = append(all, rows...), reached
		if len(rows) == accountsAtOnce {
			q.After = accountKey(rows[accountsAtOnce-1])
		}
	}
	return all, nil
}

// PIN is the form of the PIN of a number.
var PIN = regexp.MustCompile(`^[0-9]{6}$`)

// registration is the body of POST /v1/:phone_number_id/register.
type registration struct {
	PIN *string `json:"pin"` // absent: the one that is kept
}

func (b *registration) Validate() error {
	if b.PIN != nil && !PIN.MatchString(*b.PIN) {
		return rest.Invalid("pin", "must have 6 digits")
	}
	return nil
}

// registrationView is the result of a registration.
type registrationView struct {
	Object         string  `json:"object"`
	PhoneNumberID  *string `json:"phone_number_id"`
	Registered     bool    `json:"registered"`
	Status         string  `json:"status"`
	ProviderStatus *string `json:"provider_status"`
}

// registerNumber handles POST /v1/:phone_number_id/register.
func (s *Server) registerNumber(r *rest.Request, in registration) (rest.Reply, error) {
	// The provider may register the number although the client is gone: the result
	// must be stored.
	r.DetachContext()
	done, err := s.Accounts.Register(r.HTTP.Context(), r.Account.ID, storage.OrEmpty(in.PIN))
	if err != nil {
		return rest.Reply{}, registrationError(err)
	}
	defer done.Release()

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		a := done.Account
		return rest.OK(registrationView{
			Object:         "phone_number_registration",
			PhoneNumberID:  a.PhoneNumberID,
			Registered:     a.Status == storage.AccountConnected,
			Status:         a.Status,
			ProviderStatus: a.ProviderStatus,
		}), done.Store(tx)
	})
}

// registrationError makes the client's error of a failed registration. A provider that
// could not be reached or broke down is worth a retry; any other answer is its refusal
// of this registration.
func registrationError(err error) error {
	e, answered := errors.AsType[*provider.Error](err)
	switch {
	case errors.Is(err, provisioning.ErrRegistering):
		return rest.Fail(rest.RegistrationRunning, "This number is already being registered.")
	case errors.Is(err, provisioning.ErrNoPIN):
		return rest.Missing("pin")
	case !answered:
		return ProviderCallError(err, nil)
	case Unavailable(e) && e.Class.Code != errorcode.RegistrationFailed:
		return errProviderUnavailable(err)
	}
	return &rest.Error{Code: rest.RegistrationFailed, Message: "The provider rejected the registration: " + ProviderReason(e), Cause: err}
}

// subject is the organization and number that an event is about.
func subject(r *rest.Request) event.Subject {
	return event.Subject{Organization: r.Org.ID, Account: r.Account.ID, PhoneNumberID: r.Account.PhoneNumberID}
}
