package api

import (
	"errors"
	"slices"
	"strings"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/password"
	"confab/jobs/language"
	"confab/storage"
)

// profileView is a person as it sees itself.
type profileView struct {
	api.PersonView
	HasPassword bool    `json:"has_password"`
	Available   bool    `json:"available"`
	NotifyAbout string  `json:"notify_about"`
	Language    *string `json:"language"` // null: that of the browser
	// TakesPasswords says whether people can sign in with passwords at all.
	TakesPasswords bool `json:"takes_passwords"`
}

func (s *Server) viewProfile(u storage.User) profileView {
	return profileView{api.ViewPerson(u, s.DB.Now()), u.PasswordHash != nil, u.Available, u.NotifyAbout, u.Language, !s.PasswordsOff}
}

// getProfile handles GET /console/api/profile.
func (s *Server) getProfile(r *rest.Request) (rest.Reply, error) {
	return rest.OK(s.viewProfile(*r.User)), nil
}

// profileChanges is the body of PATCH /console/api/profile.
type profileChanges struct {
	Name            rest.Patch[string] `json:"name"`
	Password        rest.Patch[string] `json:"password"`
	CurrentPassword *string            `json:"current_password"`
	Available       rest.Patch[bool]   `json:"available"`
	NotifyAbout     rest.Patch[string] `json:"notify_about"`
	Language        rest.Patch[string] `json:"language"`
}

func (c *profileChanges) Validate() error {
	switch {
	case !c.Name.Set && !c.Password.Set && !c.Available.Set && !c.NotifyAbout.Set && !c.Language.Set:
		return rest.NoneGiven("name", "Provide at least one of name, password, available, notify_about and language.")
	case c.NotifyAbout.Set && !slices.Contains(storage.NotifyChoices(), c.NotifyAbout.Value):
		return rest.Invalid("notify_about", "must be one of "+strings.Join(storage.NotifyChoices(), ", "))
	case c.Language.Given() && !slices.Contains(language.All(), c.Language.Value):
		return rest.Invalid("language", "must be null or one of "+strings.Join(language.All(), ", "))
	case c.Name.Set && !ValidPersonName(c.Name.Value):
		return errPersonName()
	}
	return c.Available.NotNull("available")
}

// updateProfile handles PATCH /console/api/profile. A new password needs the old one, or else a
// sign-in lately, and ends all other sessions.
func (s *Server) updateProfile(r *rest.Request, in profileChanges) (rest.Reply, error) {
	hash := ""
	if in.Password.Set {
		var err error
		if hash, err = s.newPassword(r, in); err != nil {
			return rest.Reply{}, err
		}
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		u, err := tx.User(r.Org.ID, r.User.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		if in.Name.Set || in.Language.Set {
			in.Name.Apply(&u.Name)
			in.Language.ApplyOrNil(&u.Language)
			if err := tx.UpdateUser(&u); err != nil {
				return rest.Reply{}, err
			}
		}
		if err := in.storeChoices(tx, u.ID); err != nil {
			return rest.Reply{}, err
		}
		if hash != "" {
			if err := storePassword(tx, r, u, hash); err != nil {
				return rest.Reply{}, err
			}
		}

		u, err = tx.User(r.Org.ID, u.ID)
		return rest.OK(s.viewProfile(u)), err
	})
}

// storeChoices stores whether a person gets conversations, and what it is notified of.
func (c *profileChanges) storeChoices(tx *storage.Tx, user string) error {
	if c.Available.Set {
		if err := tx.SetAvailable(user, c.Available.Value); err != nil {
			return err
		}
	}
	if c.NotifyAbout.Set {
		return tx.SetNotifyAbout(user, c.NotifyAbout.Value)
	}
	return nil
}

// storePassword stores a new password and ends the other sessions. The old password may
// have changed since it was checked.
func storePassword(tx *storage.Tx, r *rest.Request, u storage.User, hash string) error {
	if storage.OrEmpty(r.User.PasswordHash) != storage.OrEmpty(u.PasswordHash) {
		return rest.Invalid("current_password", "is wrong")
	}

	r.Action = "user.password_changed"
	if err := tx.SetPassword(u.ID, hash); err != nil {
		return err
	}
	if err := tx.EndUserInvitations(u.ID); err != nil {
		return err
	}
	_, err := tx.DeleteUserSessions(u.ID, r.Visitor.Session.ID)
	return err
}

// newPassword checks the old and the new password, and hashes the new one.
func (s *Server) newPassword(r *rest.Request, in profileChanges) (hash string, err error) {
	u := r.User
	problem := password.Problem(in.Password.Value, u.Name, in.Name.Value, storage.OrEmpty(u.Email))
	switch {
	case s.PasswordsOff:
		return "", rest.Fail(rest.PermissionDenied, "Passwords are off: people sign in through the identity provider.")
	case problem != "":
		return "", rest.Invalid("password", problem)
	case u.SignInEmail == nil:
		return "", rest.Invalid("password", "needs an email address to sign in with: an admin can invite you with one")
	case u.PasswordHash != nil && in.CurrentPassword == nil:
		return "", rest.Missing("current_password")
	case u.PasswordHash == nil && !IsRecentSignIn(r.Visitor.Session, r.Now):
		return "", errNotRecent("a first password")
	}

	if u.PasswordHash != nil {
		if err := s.checkCurrentPassword(r, *in.CurrentPassword); err != nil {
			return "", err
		}
	}
	hash, err = s.Passwords.Hash(r.HTTP.Context(), r.Holder(), in.Password.Value)
	return hash, passwordError(err)
}

// checkCurrentPassword returns an error if it is not the person's password. Those who
// fail again and again have to wait, as when they sign in.
func (s *Server) checkCurrentPassword(r *rest.Request, given string) error {
	key := "profile " + r.User.ID
	mayTry := func() error {
		if wait := s.PasswordTries.Wait(key); wait > 0 {
			return rest.Fail(rest.RateLimitExceeded, "Too many attempts. Wait, then try again.").RetryIn(wait)
		}
		return nil
	}

	if err := mayTry(); err != nil {
		return err
	}
	same, err := s.Passwords.Matches(r.HTTP.Context(), r.Holder(), given, r.User.PasswordHash, mayTry)
	switch {
	case err != nil:
		return passwordError(err)
	case !same:
		s.PasswordTries.Fail(key)
		return rest.Invalid("current_password", "is wrong")
	}
	s.PasswordTries.Clear(key)
	return nil
}

// passwordError makes the client's error of hashing.
func passwordError(err error) error {
	if errors.Is(err, password.ErrBusy) {
		return rest.Fail(rest.ServiceUnavailable, "Too many people are signing in. Please retry.").RetryIn(5 * time.Second)
	}
	return err
}
