package api

import (
	"errors"

	"confab/app/password"
	"confab/storage"
)

// getProfile handles GET /console/api/profile.
func (s *Server) getProfile(r *request) (reply, error) { return ok(viewPerson(*r.user)), nil }

// profileChanges is the body of PATCH /console/api/profile.
type profileChanges struct {
	Name            patch[string] `json:"name"`
	Password        patch[string] `json:"password"`
	CurrentPassword *string       `json:"current_password"`
}

func (c *profileChanges) validate() error {
	switch {
	case !c.Name.Set && !c.Password.Set:
		return &Error{Code: MissingRequiredField, Param: "name", Message: "Give name, password or both."}
	case c.Name.Set && !validPersonName(c.Name.Value):
		return errPersonName()
	}
	return nil
}

// updateProfile handles PATCH /console/api/profile. A new password needs the old one, and
// ends all other sessions.
func (s *Server) updateProfile(r *request) (reply, error) {
	var in profileChanges
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	hash := ""
	if in.Password.Set {
		var err error
		if hash, err = s.newPassword(r, in); err != nil {
			return reply{}, err
		}
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		u, err := tx.User(r.org.ID, r.user.ID)
		if err != nil {
			return reply{}, err
		}

		if in.Name.Set {
			u.Name = in.Name.Value
			if err := tx.UpdateUser(&u); err != nil {
				return reply{}, err
			}
		}
		if hash != "" {
			if err := storePassword(tx, r, u, hash); err != nil {
				return reply{}, err
			}
		}

		u, err = tx.User(r.org.ID, u.ID)
		return ok(viewPerson(u)), err
	})
}

// storePassword stores a new password and ends the other sessions. The old password may
// have changed since it was checked.
func storePassword(tx *storage.Tx, r *request, u storage.User, hash string) error {
	before := r.user.PasswordHash
	if (before == nil) != (u.PasswordHash == nil) || before != nil && *before != *u.PasswordHash {
		return invalid("current_password", "is wrong")
	}

	r.action = "user.password_changed"
	if err := tx.SetPassword(u.ID, hash); err != nil {
		return err
	}
	if err := tx.EndUserInvitations(u.ID); err != nil {
		return err
	}
	_, err := tx.DeleteUserSessions(u.ID, r.visitor.Session.ID)
	return err
}

// newPassword checks the old and the new password, and hashes the new one.
func (s *Server) newPassword(r *request, in profileChanges) (hash string, err error) {
	u := r.user
	own := []string{u.Name, in.Name.Value}
	if u.Email != nil {
		own = append(own, *u.Email)
	}

	problem := password.Problem(in.Password.Value, own...)
	switch {
	case problem != "":
		return "", invalid("password", problem)
	case u.SignInEmail == nil:
		return "", invalid("password", "needs an e-mail address to sign in with: an admin can invite you with one")
	case u.PasswordHash != nil && in.CurrentPassword == nil:
		return "", missing("current_password")
	}

	if u.PasswordHash != nil {
		if err := s.checkCurrentPassword(r, *in.CurrentPassword); err != nil {
			return "", err
		}
	}
	hash, err = s.Passwords.Hash(r.http.Context(), r.holder(), in.Password.Value)
	return hash, passwordError(err)
}

// checkCurrentPassword returns an error if it is not the person's password. Those who
// fail again and again have to wait, as when they sign in.
func (s *Server) checkCurrentPassword(r *request, given string) error {
	key := "profile " + r.user.ID
	mayTry := func() error {
		if wait := s.PasswordTries.Wait(key); wait > 0 {
			return &Error{Code: RateLimitExceeded, Message: "Too many tries. Wait, and try again.", RetryAfter: wait}
		}
		return nil
	}

	if err := mayTry(); err != nil {
		return err
	}
	same, err := s.Passwords.Matches(r.http.Context(), r.holder(), given, r.user.PasswordHash, mayTry)
	switch {
	case err != nil:
		return passwordError(err)
	case !same:
		s.PasswordTries.Fail(key)
		return invalid("current_password", "is wrong")
	}
	s.PasswordTries.Clear(key)
	return nil
}

// passwordError makes the client's error of hashing.
func passwordError(err error) error {
	if errors.Is(err, password.ErrBusy) {
		return &Error{Code: ServiceUnavailable, Message: "Many people sign in at this moment. Please retry.", RetryAfter: 5e9}
	}
	return err
}
