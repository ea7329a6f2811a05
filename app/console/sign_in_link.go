package console

import (
	"errors"
	"net/http"

	"confab/storage"
)

// findSignInLink finds a link that signs in. It answers itself, and returns false, if there
// is none that can be used.
func (v *visit) findSignInLink(token string) (l storage.UserInvitation, ok bool, err error) {
	l, err = storage.Query(v.r.Context(), v.DB, func(rx *storage.Rx) (storage.UserInvitation, error) { return rx.SignInLink(token) })
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return l, false, v.showError(http.StatusNotFound, "This link is not valid", "Check that you opened the whole link.")
	case err == nil && !l.Usable(v.DB.Now()):
		return l, false, v.showEndedLink()
	}
	return l, err == nil, err
}

func (v *visit) showEndedLink() error {
	return v.showError(http.StatusGone, "This link is no longer valid",
		"It works once, within 10 minutes. Whoever sent it can make a new one with 'confab users link'.")
}

// showSignInLink handles GET link/TOKEN. It changes nothing: scanners of mails open links, too.
func (v *visit) showSignInLink(token string) error {
	l, ok, err := v.findSignInLink(token)
	if ok {
		v.writePage(http.StatusOK, page{Title: v.say("Sign in"), Link: &l})
	}
	return err
}

// useSignInLink handles POST link/TOKEN.
func (v *visit) useSignInLink(token string) error {
	l, ok, err := v.findSignInLink(token)
	if !ok {
		return err
	}

	err = v.startSession(storage.User{ID: l.UserID}, func(tx *storage.Tx, now storage.User) error {
		l, err := tx.SignInLink(token)
		if err != nil {
			return err
		}
		if !l.Usable(tx.Now) {
			return errEnded // used at the same time
		}
		return tx.EndSignInLink(token)
	})

	switch {
	case errors.Is(err, errEnded) || errors.Is(err, errWrong):
		return v.showEndedLink()
	case err != nil:
		return err
	}
	return v.redirect(http.StatusSeeOther, homePage)
}
