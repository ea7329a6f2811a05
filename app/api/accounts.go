package api

import (
	"errors"
	"fmt"
	"regexp"

	"confab/jobs/errorcode"
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
	WABAID         *string      `json:"waba_id"`
	CustomerID     *string      `json:"customer_id"`
	TeamID         string       `json:"team_id"`
	CreatedAt      storage.Time `json:"created_at"`
}

// ViewAccount is an account in the API's shape, for packages that show it elsewhere.
func ViewAccount(a storage.AccountDetail) any { return viewAccount(a) }

func viewAccount(a storage.AccountDetail) accountView {
	return accountView{
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
}

// accountFilters reads the filters of a list of accounts. Any customer_id is accepted:
// an unknown one has no accounts. mayMatch is false for an empty one, which no account
// has.
func accountFilters(r *request) (f storage.AccountFilter, mayMatch bool, err error) {
	q := filters{values: r.query()}
	f = storage.AccountFilter{Status: q.oneOf("status", storage.AccountConnected, "all"), CustomerID: q.values.Get("customer_id")}

	switch f.Status {
	case "":
		f.Status = storage.AccountConnected
	case "all":
		f.Status = ""
	}

	return f, !q.values.Has("customer_id") || f.CustomerID != "", q.err
}

// listAccounts handles GET /v1/accounts. Without a limit all come in one page.
func (s *Server) listAccounts(r *request) (reply, error) {
	f, mayMatch, err := accountFilters(r)
	if err != nil {
		return reply{}, err
	}

	q, err := s.parseListQuery(r, fmt.Sprintf("accounts %#v", f))
	if err != nil {
		return reply{}, err
	}

	var rows []storage.AccountDetail
	switch {
	case !mayMatch:
	case r.query().Has("limit"):
		rows, q.reached, err = s.someAccounts(r, f, &q, q.fetch())
	default:
		rows, err = s.allAccounts(r, f, q)
		q.limit = len(rows)
	}
	if err != nil {
		return reply{}, err
	}
	return page(s, q, rows, accountKey, viewAccount)
}

// accountKey is where an account stands in the list.
func accountKey(a storage.AccountDetail) storage.After {
	return storage.After{Key: a.CreatedAt, ID: a.PublicID}
}

// someAccounts reads a page of the list, and how far it came.
func (s *Server) someAccounts(
	r *request, f storage.AccountFilter, q *listQuery, limit int,
) (rows []storage.AccountDetail, reached storage.After, err error) {
	err = s.readPage(r, q, func(rx *storage.Rx) (err error) {
		rows, reached, err = rx.Within(q.budget).Accounts(r.org.ID, f, q.after, limit)
		return err
	})
	return rows, reached, err
}

// accountsAtOnce is how many accounts are read in one transaction.
const accountsAtOnce = 250

// allAccounts reads the list to its end, or as much as the budget allows, page by page:
// a platform may have very many accounts.
func (s *Server) allAccounts(r *request, f storage.AccountFilter, q listQuery) ([]storage.AccountDetail, error) {
	var all []storage.AccountDetail
	for q.after != storage.Last && !q.budget.Cut() {
		rows, reached, err := s.someAccounts(r, f, &q, accountsAtOnce)
		if err != nil {
			return nil, err
		}

		all, q.after = append(all, rows...), reached
		if len(rows) == accountsAtOnce {
			q.after = accountKey(rows[accountsAtOnce-1])
		}
	}
	return all, nil
}

var pin = regexp.MustCompile(`^[0-9]{6}$`)

// registration is the body of POST /v1/:phone_number_id/register.
type registration struct {
	PIN *string `json:"pin"`
}

func (b *registration) validate() error {
	switch {
	case b.PIN == nil:
		return missing("pin")
	case !pin.MatchString(*b.PIN):
		return invalid("pin", "must have 6 digits")
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

func viewRegistration(a storage.AccountDetail) registrationView {
	return registrationView{
		Object:         "phone_number_registration",
		PhoneNumberID:  a.PhoneNumberID,
		Registered:     a.Status == storage.AccountConnected,
		Status:         a.Status,
		ProviderStatus: a.ProviderStatus,
	}
}

// registerNumber handles POST /v1/:phone_number_id/register.
func (s *Server) registerNumber(r *request) (reply, error) {
	var in registration
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	// The provider may register the number although the client is gone: the result
	// must be stored.
	r.detachContext()
	done, err := s.Accounts.Register(r.http.Context(), r.account.ID, *in.PIN)
	if err != nil {
		return reply{}, registrationError(err)
	}
	defer done.Release()

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		return ok(viewRegistration(done.Account())), done.Store(tx)
	})
}

// registrationError makes the client's error of a failed registration. A provider that
// could not be reached or broke down is worth a retry; any other answer is its refusal
// of this registration.
func registrationError(err error) error {
	if errors.Is(err, provisioning.ErrRegistering) {
		return fail(RegistrationRunning, "A registration of this number is already running.")
	}

	e, answered := errors.AsType[*provider.Error](err)
	switch {
	case !answered:
		return providerCallError(err, nil)
	case unavailable(e) && e.Class.Code != errorcode.RegistrationFailed:
		return errProviderUnavailable(err)
	}
	return &Error{Code: RegistrationFailed, Message: "The provider refused the registration: " + providerReason(e), cause: err}
}
