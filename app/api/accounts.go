package api

import (
	"cmp"
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
			v.StatusReason = new("rate_limited")
		}
	}
	return v
}

// accountFilters reads the filters of a list of accounts. Any customer_id is accepted:
// an unknown one has no accounts.
func accountFilters(r *rest.Request) (storage.AccountFilter, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.AccountFilter{
		Status:     cmp.Or(q.OneOf("status", storage.AccountConnected, "all"), storage.AccountConnected),
		CustomerID: q.Values.Get("customer_id"),
		Of:         r.Key.Accounts,
	}

	if f.Status == "all" {
		f.Status = ""
	}
	if q.Values.Has("customer_id") && f.CustomerID == "" {
		f.CustomerID = "none" // which is no id
	}
	return f, q.Err
}

// accountsAtOnce is how many accounts are read in one transaction: a platform may have very many.
const accountsAtOnce = 250

// listAccounts handles GET /v1/accounts. Without a limit all come in one page, or as many as its
// budget allows.
func (s *Server) listAccounts(r *rest.Request) (rest.Reply, error) {
	f, err := accountFilters(r)
	if err != nil {
		return rest.Reply{}, err
	}
	q, err := s.ParseListQuery(r, fmt.Sprintf("accounts %#v", f))
	if err != nil {
		return rest.Reply{}, err
	}

	readsAll, size := !r.Query().Has("limit"), q.Fetch()
	if readsAll {
		size = accountsAtOnce
	}
	var rows []storage.AccountDetail
	for {
		var some []storage.AccountDetail
		err := s.ReadPage(r, &q, func(rx *storage.Rx) (err error) {
			some, q.Reached, err = rx.Within(q.Budget).Accounts(r.Org.ID, f, q.After, size)
			return err
		})
		if err != nil {
			return rest.Reply{}, err
		}

		rows, q.After = append(rows, some...), q.Reached
		if len(some) == size {
			q.After = accountKey(some[size-1])
		}
		if !readsAll || q.After == storage.Last || q.Budget.Cut() {
			break
		}
	}

	if readsAll {
		q.Limit = len(rows)
	}
	return rest.Page(s.Server, q, rows, accountKey, func(a storage.AccountDetail) accountView { return ViewAccount(a, r.Now) })
}

func accountKey(a storage.AccountDetail) storage.After {
	return storage.After{Key: a.CreatedAt, ID: a.PublicID}
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
		err := done.Store(tx)
		a := done.Account
		return rest.OK(registrationView{
			Object:         "phone_number_registration",
			PhoneNumberID:  a.PhoneNumberID,
			Registered:     a.Status == storage.AccountConnected,
			Status:         a.Status,
			ProviderStatus: a.ProviderStatus,
		}), err
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

// chatAccountView is the account as its templates, contacts and conversations
// show it.
type chatAccountView storage.AccountSummary

// MarshalJSON is for templates, which the encoder writes.
func (v chatAccountView) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

func (v chatAccountView) AppendJSON(b []byte) []byte {
	b = rest.AppendOptional(append(b, `{"phone_number":`...), v.PhoneNumber)
	b = rest.AppendOptional(append(b, `,"phone_number_id":`...), v.PhoneNumberID)
	if v.CustomerID == nil { // the organization's own number
		return append(b, `,"customer":null}`...)
	}

	b = rest.AppendText(append(b, `,"customer":{"id":`...), *v.CustomerID)
	b = rest.AppendText(append(b, `,"name":`...), *v.CustomerName)
	return append(b, `}}`...)
}
