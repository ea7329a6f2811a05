package console

import (
	"errors"
	"net/http"
	"strings"

	"confab/app/console/api"
	"confab/app/password"
	"confab/storage"
)

// errEnded means that an invitation cannot be used any more.
var errEnded = errors.New("the invitation has ended")

// welcomeForm is what the page of an invitation shows.
type welcomeForm struct {
	storage.UserInvitation
	Day             string // on which it expires, for people; the page is made without knowing their time zone
	Name            string
	Token           string // of the link
	Provider        string // the name of the identity provider; "" if there is none
	Only            bool   // no password is chosen
	NameProblem     string
	PasswordProblem string
}

// findInvitation finds an invitation. It answers itself, and returns false, if there is
// none that can be used.
func (v *visit) findInvitation(token string) (i storage.UserInvitation, ok bool, err error) {
	i, err = storage.Query(v.r.Context(), v.DB, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.UserInvitation(token) })
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return i, false, v.showError(http.StatusNotFound, "This link is not valid",
			"Check that you opened the whole link. If it still doesn’t work, ask whoever sent it for a new one.")
	case err == nil && !i.Usable(v.DB.Now()):
		return i, false, v.showEnded(i)
	}
	return i, err == nil, err
}

// showEnded says that an invitation has ended, and whom to ask.
func (v *visit) showEnded(i storage.UserInvitation) error {
	return v.showError(http.StatusGone, "This link is no longer valid",
		"It was used, replaced by a newer one, or has expired. Ask an admin of %s for a new one. "+
			"If you already have a password, sign in with it.", i.OrganizationName)
}

// showWelcome handles GET welcome/TOKEN. It changes nothing: scanners of mails open
// links, too.
func (v *visit) showWelcome(token string) error {
	i, ok, err := v.findInvitation(token)
	if !ok {
		return err
	}
	return v.showWelcomeForm(http.StatusOK, i, welcomeForm{Name: i.UserName, Token: token})
}

func (v *visit) showWelcomeForm(status int, i storage.UserInvitation, form welcomeForm) error {
	form.UserInvitation = i
	form.Day = i.ExpiresAt.Std().UTC().Format(v.say("2 January 2006, 15:04 UTC"))
	if v.Provider != nil && (!i.HasFactor || v.Provider.Only) {
		form.Provider, form.Only = v.Provider.Name, v.Provider.Only
	}
	title := v.say("Welcome to %s", i.OrganizationName)
	if i.HasPassword && !form.Only {
		title = v.say("Choose a new password")
	}
	return v.writePage(status, page{Title: title, Welcome: &form})
}

// acceptInvitation handles POST welcome/TOKEN.
func (v *visit) acceptInvitation(token string) error {
	i, ok, err := v.findInvitation(token)
	if !ok {
		return err
	}

	if ok, err := v.readForm(); !ok {
		return err
	}

	form := welcomeForm{Name: strings.TrimSpace(v.r.PostForm.Get("name")), Token: token}
	if v.Provider.IsOnly() {
		return v.showWelcomeForm(http.StatusForbidden, i, form)
	}
	chosen := v.r.PostForm.Get("password")
	if !api.ValidPersonName(form.Name) {
		form.NameProblem = v.say("Enter a name of 1 to 200 characters.")
	}
	if password.Problem(chosen, i.UserName, i.UserEmail, form.Name) != "" {
		form.PasswordProblem = v.say("Use 10 to 200 characters, and not your own name or address.")
	}
	if form.NameProblem != "" || form.PasswordProblem != "" {
		return v.showWelcomeForm(http.StatusBadRequest, i, form)
	}

	switch u, err := v.join(token, i.UserID, form.Name, chosen); {
	case err == nil && u.HasFactor():
		return v.askSecondFactor(u, "")
	case errors.Is(err, errEnded):
		return v.showEnded(i)
	case errors.Is(err, password.ErrBusy):
		status, problem := v.explainRefusal(err)
		form.PasswordProblem = problem
		return v.showWelcomeForm(status, i, form)
	case err != nil:
		return err
	}
	return v.redirect(http.StatusSeeOther, homePage)
}

// join stores the name and the password of an invited person, ends its invitation and
// all its sessions, and signs it in. Somebody who has a second factor is not signed in: the
// link, which an admin or a mailbox may have seen, does not stand for it.
func (v *visit) join(token, user, name, chosen string) (u storage.User, err error) {
	before, err := v.findSession(v.r)
	if err != nil && !isNoSession(err) {
		return u, err
	}
	hash, err := v.API.Passwords.Hash(v.r.Context(), knownUser(user), chosen)
	if err != nil {
		return u, err
	}

	var session string
	err = v.DB.Update(v.r.Context(), func(tx *storage.Tx) error {
		// The link may have been used, or have ended, while the password was hashed.
		i, err := tx.UserInvitation(token)
		if err != nil {
			return err
		}
		if !i.Usable(tx.Now) {
			return errEnded
		}

		if u, err = tx.UserByID(i.UserID); err != nil {
			return err
		}
		u.Name, u.PasswordHash = name, &hash
		if err := v.storePassword(tx, u, hash, i.HasPassword); err != nil || u.HasFactor() {
			return err
		}
		session, err = v.insertSession(tx, u, before)
		return err
	})
	if err == nil && session != "" {
		v.setSessionCookies(u, session)
	}
	return u, err
}

// storePassword stores the name and the password that a person chose by its link, which
// ends with all sessions.
func (v *visit) storePassword(tx *storage.Tx, u storage.User, hash string, again bool) error {
	if err := tx.UpdateUser(&u); err != nil {
		return err
	}
	if err := tx.SetPassword(u.ID, hash); err != nil {
		return err
	}
	if err := tx.EndUserInvitations(u.ID); err != nil {
		return err
	}
	if _, err := tx.DeleteUserSessions(u.ID, ""); err != nil {
		return err
	}

	action := "user.joined"
	if again {
		action = "user.password_changed"
	}
	return tx.Audit(u.OrganizationID, v.actor(u), action, "user", u.ID)
}
