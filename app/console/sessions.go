package console

import (
	"errors"
	"net/http"

	"confab/app/api/rest"
	"confab/app/limit"
	"confab/storage"
)

// errNoSession is the answer to a request that needs a session and has none.
func errNoSession() error {
	return &rest.Error{Code: rest.SessionRequired, Message: "Sign in to the console first."}
}

// findSession finds who has the cookie of the request, and counts the session as used
// now. The error is errNoSession if there is no session.
func (c *Console) findSession(r *http.Request) (storage.SignedIn, error) {
	who, err := c.lookUpSession(r)
	if err == nil {
		c.API.MarkSeen(who.Session)
		limit.RequestOf(r.Context()).Identify(limit.Organization(who.Organization.ID, who.User.ID))
	}
	return who, err
}

// lookUpSession finds the user of the request's cookie. The error is errNoSession if there is
// none: no cookie, a forged one, a session that has ended, a disabled user.
func (c *Console) lookUpSession(r *http.Request) (storage.SignedIn, error) {
	token := c.cookie(r, sessionCookie)
	if token == "" {
		return storage.SignedIn{}, errNoSession()
	}

	who, err := c.DB.SignedIn(r.Context(), storage.TokenHash(token))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.SignedIn{}, errNoSession()
	case err != nil:
		return storage.SignedIn{}, err
	case who.Session.Expired(c.DB.Now()) || who.User.DisabledAt != 0:
		return storage.SignedIn{}, errNoSession()
	}
	return who, nil
}

// actor is a user as the audit log shows it.
func (v *visit) actor(u storage.User) storage.Actor {
	ip := v.API.ClientIP(v.r)
	return storage.Actor{Type: storage.ActorUser, ID: &u.ID, Name: &u.Name, IP: &ip}
}

// insertSession signs a user in within a transaction, and returns the token of the new
// session. The session that the browser had before ends: someone who put its cookie there
// must not share the new one.
func (v *visit) insertSession(tx *storage.Tx, u storage.User, before storage.SignedIn) (token string, err error) {
	if before.Session.ID != "" {
		if err := storage.IgnoreNotFound(tx.DeleteUserSession(before.User.ID, before.Session.ID)); err != nil {
			return "", err
		}
	}

	s := storage.UserSession{UserID: u.ID, UserAgent: v.r.UserAgent(), IP: v.API.ClientIP(v.r)}
	if token, err = tx.InsertUserSession(&s); err != nil {
		return "", err
	}
	if err := tx.MarkSignedIn(u.ID); err != nil {
		return "", err
	}
	return token, tx.Audit(u.OrganizationID, v.actor(u), "user.signed_in", "session", s.ID)
}

// setSessionCookies gives the browser the cookie of its new session, and remembers that
// the account has signed in here.
func (v *visit) setSessionCookies(u storage.User, token string) {
	v.setCookie(sessionCookie, token, storage.SessionLife)
	v.setCookie(deviceCookie, v.addDevice(v.cookie(v.r, deviceCookie), u.ID), cookieLife)
	if v.cookie(v.r, signedOutCookie) != "" {
		v.setCookie(signedOutCookie, "", 0)
	}
}

// signOut handles POST sign-out.
func (v *visit) signOut() error {
	who, err := v.findSession(v.r)
	if err == nil {
		err = v.DB.Update(v.r.Context(), func(tx *storage.Tx) error {
			if err := storage.IgnoreNotFound(tx.DeleteUserSession(who.User.ID, who.Session.ID)); err != nil {
				return err
			}
			return tx.Audit(who.User.OrganizationID, v.actor(who.User), "user.signed_out", "session", who.Session.ID)
		})
		if err != nil {
			return err
		}
	}

	v.setCookie(sessionCookie, "", 0)
	if v.SandboxUser != nil {
		v.setCookie(signedOutCookie, "1", cookieLife)
	}
	return v.redirect(http.StatusSeeOther, "sign-in")
}
