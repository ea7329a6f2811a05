package storage

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"strings"
	"time"
)

const (
	// invitationLife is how long a link may be used, and signInLinkLife one that signs in.
	invitationLife = 72 * time.Hour
	signInLinkLife = 10 * time.Minute
	// endedInvitationLife is how long the page of a link that has ended says so.
	endedInvitationLife = 30 * 24 * time.Hour
)

// Why somebody cannot be invited.
var (
	// ErrCanSignIn means that the person can sign in: a forgotten password needs a reset.
	ErrCanSignIn = errors.New("somebody with this address can sign in already")
	// ErrInvitedElsewhere means that another organization has invited the address.
	ErrInvitedElsewhere = errors.New("this address is invited to another organization")
	// ErrUserDisabled means that the person has to be enabled first.
	ErrUserDisabled = errors.New("this person is disabled")
	// ErrNoAddress means that the person has no address to sign in with.
	ErrNoAddress = errors.New("this person has no e-mail address")
)

// AmbiguousUserError means that several users have an address.
type AmbiguousUserError struct{ IDs []string }

func (e *AmbiguousUserError) Error() string {
	return "several people have this address: " + strings.Join(e.IDs, ", ")
}

func newToken() (token string, hash [sha256.Size]byte) {
	token = randomText(32)
	return token, TokenHash(token)
}

// TokenHash is the stored form of the secret of a link, an invitation or a session.
func TokenHash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// UserInvitation is a link to choose a password, or to sign in, with what its page shows.
type UserInvitation struct {
	UserID           string `db:"user_id"`
	UserName         string `db:"user_name"`
	UserEmail        string `db:"user_email"`
	HasPassword      bool   `db:"has_password"` // so it is for a new one
	HasFactor        bool   `db:"has_factor"`
	OrganizationID   int64  `db:"organization_id"`
	OrganizationName string `db:"organization_name"`
	ExpiresAt        Time   `db:"expires_at"`
	EndedAt          Time   `db:"ended_at"`
}

// Usable reports whether the link can be used at a time.
func (i UserInvitation) Usable(now Time) bool { return i.EndedAt == 0 && now < i.ExpiresAt }

// UserInvitation finds the invitation with a token, one that has ended too.
func (rx *Rx) UserInvitation(token string) (UserInvitation, error) { return rx.findLink(token, false) }

// SignInLink finds the link with a token by which a user signs in, one that has ended too.
func (rx *Rx) SignInLink(token string) (UserInvitation, error) { return rx.findLink(token, true) }

func (rx *Rx) findLink(token string, signsIn bool) (UserInvitation, error) {
	hash := TokenHash(token)
	return get[UserInvitation](rx, `
		SELECT i.user_id, u.name AS user_name, coalesce(u.email, '') AS user_email, u.password_hash IS NOT NULL AS has_password,
			EXISTS (SELECT 1 FROM user_codes c WHERE c.user_id = u.id)
				OR EXISTS (SELECT 1 FROM user_passkeys p WHERE p.user_id = u.id) AS has_factor,
			u.organization_id, o.name AS organization_name, i.expires_at, i.ended_at
		FROM user_invitations i JOIN users u ON u.id = i.user_id JOIN organizations o ON o.id = u.organization_id
		WHERE i.token_hash = ? AND i.signs_in = ?`, hash[:], signsIn)
}

// Invitee is whom to invite. Role and TeamID may be zero: then they stay as they are,
// and a new user is an agent of the given default team.
type Invitee struct {
	OrganizationID int64
	Name           string
	Email          string
	Role           string
	TeamID         int64
	DefaultTeamID  int64
}

// InviteUser finds or makes the user with an address in an organization, and makes a
// link by which it chooses a password. The address is then taken: no one else on this
// server can be invited with it, until the invitation has ended unused.
//
// A user invited before gets a new link; the one user of the organization who has the
// address and no sign-in is the one that is meant. The errors are those above.
func (tx *Tx) InviteUser(in Invitee) (u User, token string, err error) {
	u, err = tx.findInvitee(in)
	switch {
	case errors.Is(err, ErrNotFound):
		u = User{OrganizationID: in.OrganizationID, TeamID: cmp.Or(in.TeamID, in.DefaultTeamID), Name: in.Name, Email: &in.Email}
		err = tx.InsertUser(&u)
	case err == nil && u.CanSignIn():
		err = ErrCanSignIn
	}
	if err != nil {
		return u, "", err
	}

	u.Name, u.Email, u.Role, u.TeamID = in.Name, &in.Email, cmp.Or(in.Role, u.Role), cmp.Or(in.TeamID, u.TeamID)
	token, err = tx.inviteAgain(&u)
	if errors.Is(err, ErrConflict) {
		err = ErrInvitedElsewhere
	}
	return u, token, err
}

// EnsureUser is InviteUser for somebody who then signs in by the address, without a link.
func (tx *Tx) EnsureUser(in Invitee) (User, error) {
	u, err := tx.findInvitee(in)
	switch {
	case errors.Is(err, ErrNotFound):
		u = User{OrganizationID: in.OrganizationID, TeamID: in.DefaultTeamID, Name: in.Name, Email: &in.Email}
		err = tx.InsertUser(&u)
	case err == nil && u.DisabledAt != 0:
		err = ErrUserDisabled
	}
	if err == nil {
		err = tx.takeSignIn(&u)
	}
	if err == nil {
		err = tx.UpdateUser(&u)
	}
	return u, err
}

// findInvitee finds who signs in with an address, or the one of the organization who has it.
func (tx *Tx) findInvitee(in Invitee) (User, error) {
	u, err := tx.UserBySignIn(in.Email)
	switch {
	case err == nil && u.OrganizationID == in.OrganizationID:
		return u, nil
	case err == nil && u.hasSignIn():
		return u, ErrCanSignIn
	case err == nil && u.InvitedUntil > tx.Now:
		return u, ErrInvitedElsewhere
	case IgnoreNotFound(err) != nil:
		return u, err
	}

	var ids []string
	all, err := tx.Users(in.OrganizationID)
	for _, other := range all {
		if other.Email != nil && Fold(*other.Email) == Fold(in.Email) {
			u, ids = other, append(ids, other.ID)
		}
	}
	switch {
	case err == nil && len(ids) == 0:
		err = ErrNotFound
	case len(ids) > 1:
		err = &AmbiguousUserError{ids}
	}
	return u, err
}

// ResetUser makes a link to a new password. The old one works until then.
func (tx *Tx) ResetUser(u *User) (token string, err error) {
	if u.Email == nil {
		return "", ErrNoAddress
	}
	return tx.inviteAgain(u)
}

// inviteAgain stores a user with its address taken, and makes its only link.
func (tx *Tx) inviteAgain(u *User) (token string, err error) {
	if u.DisabledAt != 0 {
		return "", ErrUserDisabled
	}
	if err := tx.takeSignIn(u); err != nil {
		return "", err
	}
	if err := tx.UpdateUser(u); err != nil {
		return "", err
	}
	token, u.InvitedUntil, err = tx.insertLink(u.ID, false, invitationLife)
	return token, err
}

// InsertSignInLink makes the link by which a user signs in once. An earlier one ends.
func (tx *Tx) InsertSignInLink(u User) (token string, until Time, err error) {
	if u.DisabledAt != 0 {
		return "", 0, ErrUserDisabled
	}
	return tx.insertLink(u.ID, true, signInLinkLife)
}

func (tx *Tx) insertLink(user string, signsIn bool, life time.Duration) (token string, until Time, err error) {
	_, err = tx.Exec(`
		UPDATE user_invitations
		SET ended_at = ?
		WHERE user_id = ? AND ended_at = 0 AND signs_in = ?`, tx.Now, user, signsIn)
	if err != nil {
		return "", 0, err
	}

	token, hash := newToken()
	until = tx.Now.Add(life)
	_, err = tx.Exec(`
		INSERT INTO user_invitations (token_hash, user_id, created_at, expires_at, signs_in)
		VALUES (?, ?, ?, ?, ?)`, hash[:], user, tx.Now, until, signsIn)
	return token, until, err
}

// EndSignInLink ends a link that was used.
func (tx *Tx) EndSignInLink(token string) error {
	hash := TokenHash(token)
	return tx.ExecOne(`UPDATE user_invitations SET ended_at = ? WHERE token_hash = ? AND ended_at = 0`, tx.Now, hash[:])
}

// EndUserInvitations ends the links of a user that can still be used, those that sign in too.
func (tx *Tx) EndUserInvitations(user string) error {
	return tx.Run(`UPDATE user_invitations SET ended_at = ? WHERE user_id = ? AND ended_at = 0`, tx.Now, user)
}

// DeleteOldUserInvitations deletes up to limit links that ended long ago.
func (tx *Tx) DeleteOldUserInvitations(limit int) (int64, error) {
	return tx.deleteSome("user_invitations", "token_hash", "expires_at < ?", tx.Now.Add(-endedInvitationLife), limit)
}
