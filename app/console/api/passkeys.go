package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"confab/app/api/rest"
	"confab/app/factor"
	"confab/app/ticket"
	"confab/storage"
)

const (
	maxPasskeys     = 20
	maxPasskeyName  = 60
	maxPasskeyBytes = 16 << 10 // of what a browser answers

	newPasskeyPurpose = "new passkey of "
	newPasskeyLife    = 5 * time.Minute
)

type passkeyView struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	Name       string       `json:"name"`
	Host       string       `json:"host"` // the only one for which browsers use it
	CreatedAt  storage.Time `json:"created_at"`
	LastUsedAt storage.Time `json:"last_used_at"`
}

// PasskeyOwner is a user with its passkeys, as package factor needs it.
func PasskeyOwner(rx *storage.Rx, u storage.User) (o factor.Owner, rows []storage.UserPasskey, err error) {
	o = factor.Owner{ID: u.ID, Name: *cmp.Or(u.Email, &u.Name), DisplayName: u.Name}
	rows, err = rx.UserPasskeys(u.ID)
	for _, p := range rows {
		credential, err := rx.PasskeyCredential(p)
		if err == nil {
			err = o.Add(credential)
		}
		if err != nil {
			return o, rows, err
		}
	}
	return o, rows, err
}

// NewPasskey is what a browser needs to make a passkey.
type NewPasskey struct {
	Object  string `json:"object"`
	Options any    `json:"options"`
	Ticket  string `json:"ticket"`
}

// NewPasskey begins to make a passkey for a user.
func (s *Server) NewPasskey(ctx context.Context, u storage.User) (n NewPasskey, err error) {
	if s.Passkeys == nil {
		return n, rest.Fail(rest.PermissionDenied, "Passkeys need https and a domain, or localhost, in server.public_url.")
	}

	o, err := storage.Query(ctx, s.DB, func(rx *storage.Rx) (o factor.Owner, err error) {
		o, _, err = PasskeyOwner(rx, u)
		return o, err
	})
	if err != nil {
		return n, err
	}
	c, err := s.Passkeys.StartCreation(o)
	if err != nil {
		return n, err
	}
	n.Object, n.Options = "new_passkey", c.Options
	n.Ticket, err = ticket.Seal(s.DB, newPasskeyPurpose+u.ID, newPasskeyLife, c.Challenge)
	return n, err
}

// startPasskey handles POST /console/api/factors/passkeys/start.
func (s *Server) startPasskey(r *rest.Request) (rest.Reply, error) {
	n, err := s.NewPasskey(r.HTTP.Context(), *r.User)
	return rest.OK(n).WithSecret(), err
}

// newPasskey is the body of POST /console/api/factors/passkeys: what the browser answered.
type newPasskey struct {
	Ticket     *string         `json:"ticket"`
	Name       *string         `json:"name"`
	Credential json.RawMessage `json:"credential"`
}

func (p *newPasskey) Validate() error {
	switch {
	case p.Ticket == nil:
		return rest.Missing("ticket")
	case len(p.Credential) == 0:
		return rest.Missing("credential")
	case len(p.Credential) > maxPasskeyBytes:
		return rest.Invalid("credential", "is too large")
	}
	return checkPasskeyName(p.Name)
}

func checkPasskeyName(name *string) error {
	switch {
	case name == nil:
		return rest.Missing("name")
	case !ValidPersonName(*name) || !rest.Between(*name, 1, maxPasskeyName):
		return rest.Invalid("name", rest.LengthRule(1, maxPasskeyName))
	}
	return nil
}

// createPasskey handles POST /console/api/factors/passkeys.
func (s *Server) createPasskey(r *rest.Request, in newPasskey) (rest.Reply, error) {
	return s.updateFactors(r, func(tx *storage.Tx) (any, error) {
		recovery, err := s.StorePasskey(tx, r.User.ID, *in.Ticket, *in.Name, in.Credential)
		return recoveryView{"recovery_codes", rest.OrEmpty(recovery)}, err
	})
}

// StorePasskey gives a user the passkey that its browser made for the ticket. The first factor
// brings recovery codes, to be shown once.
func (s *Server) StorePasskey(tx *storage.Tx, user, text, name string, answer []byte) (recovery []string, err error) {
	var challenge webauthn.SessionData
	if s.Passkeys == nil || !ticket.Open(s.DB, newPasskeyPurpose+user, text, &challenge) {
		return nil, rest.Invalid("ticket", "has expired: start again")
	}
	u, err := tx.UserByID(user)
	if err != nil {
		return nil, err
	}
	o, rows, err := PasskeyOwner(&tx.Rx, u)
	if err != nil {
		return nil, err
	}
	if len(rows) >= maxPasskeys {
		return nil, rest.Invalid("passkeys", "are limited to "+strconv.Itoa(maxPasskeys)+": remove one first")
	}

	id, credential, err := s.Passkeys.CreatePasskey(o, challenge, answer)
	if errors.Is(err, factor.ErrPasskey) {
		return nil, rest.Invalid("credential", "could not be verified: start again")
	}
	if err != nil {
		return nil, err
	}
	err = tx.InsertUserPasskey(&storage.UserPasskey{UserID: u.ID, CredentialID: id, Host: s.Passkeys.Host, Name: name}, credential)
	if errors.Is(err, storage.ErrFactorExists) {
		return nil, rest.Invalid("credential", "is already in use")
	}
	if err != nil || u.HasFactor() {
		return nil, err
	}
	return newRecoveryCodes(tx, u.ID)
}

// passkeyIn finds the passkey in the path, which must be one's own.
func passkeyIn(rx *storage.Rx, r *rest.Request) (storage.UserPasskey, error) {
	return rest.InPath(r, "id", storage.PrefixPasskey, r.User.ID, rx.UserPasskey)
}

// passkeyName is the body of PATCH /console/api/factors/passkeys/:id.
type passkeyName struct {
	Name *string `json:"name"`
}

func (p *passkeyName) Validate() error { return checkPasskeyName(p.Name) }

// renamePasskey handles PATCH /console/api/factors/passkeys/:id.
func (s *Server) renamePasskey(r *rest.Request, in passkeyName) (rest.Reply, error) {
	return s.updatePasskey(r, func(tx *storage.Tx, id string) error { return tx.RenameUserPasskey(r.User.ID, id, *in.Name) })
}

// deletePasskey handles DELETE /console/api/factors/passkeys/:id.
func (s *Server) deletePasskey(r *rest.Request) (rest.Reply, error) {
	return s.updatePasskey(r, func(tx *storage.Tx, id string) error { return tx.DeleteUserPasskey(r.User.ID, id) })
}

// updatePasskey lets change work on the passkey in the path, and replies with all factors.
func (s *Server) updatePasskey(r *rest.Request, change func(tx *storage.Tx, id string) error) (rest.Reply, error) {
	return s.updateFactors(r, func(tx *storage.Tx) (any, error) {
		if err := change(tx, r.Param("id")); err != nil {
			return nil, err
		}
		return viewFactors(&tx.Rx, r.User.ID)
	})
}
