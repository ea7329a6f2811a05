package api

import (
	"context"
	"errors"
	"regexp"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/storage"
)

const (
	maxToken      = 4096
	maxNumberName = 200
)

var tokenText = regexp.MustCompile(`^[!-~]+$`)

// newNumber is the body of POST /console/api/numbers: a number at the provider with a
// token that opens it, or in a sandbox a name and a number, which may be absent.
type newNumber struct {
	PhoneNumberID *string `json:"phone_number_id"`
	WABAID        *string `json:"waba_id"`
	AccessToken   *string `json:"access_token"`
	PIN           *string `json:"pin"`
	TeamID        *string `json:"team_id"`

	Name        *string `json:"name"`
	PhoneNumber *string `json:"phone_number"`

	madeUp bool // this is a sandbox, and no number of the provider's is named
}

func (n *newNumber) Validate() error {
	if n.madeUp = n.madeUp && n.PhoneNumberID == nil; n.madeUp {
		return n.validateInvention()
	}

	switch {
	case n.PhoneNumberID == nil:
		return rest.Missing("phone_number_id")
	case !provider.PhoneNumberID.MatchString(*n.PhoneNumberID):
		return rest.Invalid("phone_number_id", "must be an id from the provider, 6 to 20 digits")
	case n.WABAID == nil:
		return rest.Missing("waba_id")
	case !provider.PhoneNumberID.MatchString(*n.WABAID):
		return rest.Invalid("waba_id", "must be an id from the provider, 6 to 20 digits")
	case n.AccessToken == nil:
		return rest.Missing("access_token")
	case len(*n.AccessToken) > maxToken || !tokenText.MatchString(*n.AccessToken):
		return rest.Invalid("access_token", "must be a token from the provider, without spaces")
	case n.PIN != nil && !api.PIN.MatchString(*n.PIN):
		return rest.Invalid("pin", "must have 6 digits")
	}
	return nil
}

func (n *newNumber) validateInvention() error {
	if err := rest.Optional("name", n.Name, maxNumberName); err != nil || n.PhoneNumber == nil {
		return err
	}
	phone, ok := provider.ParsePhone(*n.PhoneNumber)
	if !ok {
		return &rest.Error{Code: rest.InvalidPhoneNumber, Param: "phone_number", Message: "phone_number must be in E.164 format."}
	}
	n.PhoneNumber = &phone
	return nil
}

// claim is what the provider is asked for. In a sandbox the number is made first.
func (s *Server) claim(ctx context.Context, n newNumber) (provisioning.NumberClaim, error) {
	if n.madeUp {
		c, err := s.InventNumber(ctx, storage.OrEmpty(n.Name), storage.OrEmpty(n.PhoneNumber))
		if err != nil {
			err = rest.FailAt(rest.InvalidFieldValue, "phone_number", "The provider does not accept this number.").Because(err)
		}
		return c, err
	}
	return provisioning.NumberClaim{
		PhoneNumberID: *n.PhoneNumberID,
		WABAID:        *n.WABAID,
		Token:         provider.NewToken(*n.AccessToken),
		PIN:           storage.OrEmpty(n.PIN),
	}, nil
}

// connectNumber handles POST /console/api/numbers: a new number, or one that lost its
// connection. The token is tried before anything is stored.
func (s *Server) connectNumber(r *rest.Request, in newNumber) (rest.Reply, error) {
	check := func(rx *storage.Rx) error { _, err := in.account(rx, r); return err }
	if err := s.View(r, check); err != nil {
		return rest.Reply{}, err
	}

	// Once the provider was asked, the result must be stored.
	r.DetachContext()
	claim, err := s.claim(r.HTTP.Context(), in)
	if err != nil {
		return rest.Reply{}, err
	}
	number, registered, err := s.api.Accounts.Connect(r.HTTP.Context(), claim)
	if err != nil {
		return rest.Reply{}, connectError(err)
	}
	if !registered {
		claim.PIN = "" // the provider has not checked it
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		a, err := in.account(&tx.Rx, r)
		if err != nil {
			return rest.Reply{}, err
		}
		r.Target = claim.PhoneNumberID
		a, err = jobs.StoreConnected(tx, a, claim, number)
		return rest.Created(api.ViewAccount(a, r.Now)), err
	})
}

// account is the account that the body means: a new one, whose ID is 0, or the
// organization's own that is not connected.
func (n *newNumber) account(rx *storage.Rx, r *rest.Request) (a storage.AccountDetail, err error) {
	if n.PhoneNumberID != nil {
		key, err := rx.AccountKey(*n.PhoneNumberID)
		switch {
		case err == nil && key.OrganizationID != r.Org.ID:
			return a, rest.Invalid("phone_number_id", "is already connected to this server")
		case err == nil:
			a, err := rx.AccountDetail(key.ID)
			if err == nil && a.Status == storage.AccountConnected {
				err = rest.Invalid("phone_number_id", "is already connected")
			}
			return a, err
		case !errors.Is(err, storage.ErrNotFound):
			return a, err
		}
	}

	team, err := api.ChooseTeam(rx, r.Org.ID, n.TeamID)
	a.OrganizationID, a.TeamID = r.Org.ID, team.ID
	return a, err
}

// connectError makes the client's error of a number that could not be connected.
func connectError(err error) error {
	if errors.Is(err, provisioning.ErrOtherAccount) {
		return rest.FailAt(rest.InvalidFieldValue, "waba_id", "This business account does not have the number.").Because(err)
	}

	e, answered := errors.AsType[*provider.Error](err)
	if !answered || api.Unavailable(e) || e.Class.Transient {
		return api.ProviderCallError(err, nil)
	}
	why := "The provider rejected this token: " + api.ProviderReason(e)
	return rest.FailAt(rest.InvalidFieldValue, "access_token", why).Because(err)
}

// checkNumber handles POST /console/api/:phone_number_id/check: it asks the provider how
// the number is.
func (s *Server) checkNumber(r *rest.Request) (rest.Reply, error) {
	r.DetachContext()
	write, err := s.api.Accounts.CheckNumber(r.HTTP.Context(), r.Account.ID)
	if err != nil {
		return rest.Reply{}, api.ProviderCallError(err, func(e *provider.Error) error {
			return &rest.Error{Code: rest.UpstreamError, Message: "The provider rejected the request: " + api.ProviderReason(e), Cause: err}
		})
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		if err := write(tx); err != nil {
			return rest.Reply{}, err
		}
		a, err := tx.AccountDetail(r.Account.ID)
		return rest.OK(api.ViewAccount(a, r.Now)), err
	})
}

// disconnectNumber handles POST /console/api/:phone_number_id/disconnect. Its messages and
// contacts stay, and it can be connected again.
func (s *Server) disconnectNumber(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		err := tx.MarkAccountStatus(r.Account.ID, storage.AccountDisconnected, "Disconnected in the console by "+r.User.Name+".")
		if err != nil {
			return rest.Reply{}, err
		}
		a, err := tx.AccountDetail(r.Account.ID)
		return rest.OK(api.ViewAccount(a, r.Now)), err
	})
}

// removeNumber handles DELETE /console/api/:phone_number_id: the number goes with all that
// belongs to it, which a job deletes.
func (s *Server) removeNumber(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		a, err := tx.AccountByNumber(r.Param("phone_number_id"))
		if err != nil {
			return rest.Reply{}, err
		}
		if err := tx.RemoveAccount(a.ID, "Removed in the console by "+r.User.Name+"."); err != nil {
			return rest.Reply{}, err
		}
		view := api.DisconnectedView{PhoneNumberID: *a.PhoneNumberID, Object: "whatsapp_account", Disconnected: true}
		return rest.OK(view), jobs.EnqueueAccountRemoval(tx, a)
	})
}
