package storage

import (
	"cmp"
	"slices"
)

// Roles of a user in the console.
const (
	RoleAdmin = "admin" // all that the organization's API keys can do, and people, keys and logs
	RoleAgent = "agent" // the daily work: messages, conversations, contacts
)

// States of a user, as User.Status returns them.
const (
	UserActive   = "active"     // can sign in
	UserInvited  = "invited"    // has a link by which to choose a password
	UserDisabled = "disabled"   // cannot sign in until somebody enables it
	UserNoSignIn = "no_sign_in" // is there to have conversations assigned
)

// User is a person of an organization, who has conversations and may be able to sign in.
type User struct {
	ID             string  `db:"id"`
	OrganizationID int64   `db:"organization_id"`
	TeamID         int64   `db:"team_id"`
	TeamPublicID   string  `db:"team_public_id"`
	Name           string  `db:"name"`
	Email          *string `db:"email"`
	Role           string  `db:"role"`
	SignInEmail    *string `db:"sign_in_email"` // Email without case, while it is taken: see InviteUser
	PasswordHash   *string `db:"password_hash"`
	DisabledAt     Time    `db:"disabled_at"`
	LastSignInAt   Time    `db:"last_sign_in_at"`
	InvitedUntil   Time    `db:"invited_until"` // of the invitation that has not ended; 0 for none
	HasCodes       bool    `db:"has_codes"`     // an app makes one-time codes for it
	HasPasskey     bool    `db:"has_passkey"`
	IsBound        bool    `db:"is_bound"` // to an account at the identity provider
	Available      bool    `db:"available"`
	NotifyAbout    string  `db:"notify_about"`
	Language       *string `db:"language"` // nil: that of the browser
	CreatedAt      Time    `db:"created_at"`
}

// Status is the state of the user at a time.
func (u User) Status(now Time) string {
	switch {
	case u.DisabledAt != 0:
		return UserDisabled
	case u.CanSignIn():
		return UserActive
	case u.InvitedUntil > now:
		return UserInvited
	default:
		return UserNoSignIn
	}
}

// CanSignIn reports whether the user has something to sign in with and is not disabled.
func (u User) CanSignIn() bool { return u.hasSignIn() && u.DisabledAt == 0 }

func (u User) hasSignIn() bool { return u.PasswordHash != nil || u.HasPasskey || u.IsBound }

// HasFactor reports whether the user has a second factor.
func (u User) HasFactor() bool { return u.HasCodes || u.HasPasskey }

// canSignIn is the condition of CanSignIn for a row of users.
const canSignIn = `(u.password_hash IS NOT NULL
		OR EXISTS (SELECT 1 FROM user_passkeys p WHERE p.user_id = u.id)
		OR EXISTS (SELECT 1 FROM user_identities n WHERE n.user_id = u.id)) AND u.disabled_at = 0`

const (
	userColumns = `u.id, u.organization_id, u.team_id, t.public_id AS team_public_id, u.name, u.email, u.role,
		u.sign_in_email, u.password_hash, u.disabled_at, u.last_sign_in_at,
		coalesce((SELECT max(i.expires_at) FROM user_invitations i WHERE i.user_id = u.id AND i.ended_at = 0 AND i.signs_in = 0), 0)
			AS invited_until,
		EXISTS (SELECT 1 FROM user_codes c WHERE c.user_id = u.id) AS has_codes,
		EXISTS (SELECT 1 FROM user_passkeys p WHERE p.user_id = u.id) AS has_passkey,
		EXISTS (SELECT 1 FROM user_identities n WHERE n.user_id = u.id) AS is_bound,
		u.available, u.notify_about, u.language, u.created_at`
	userTables  = `users u JOIN teams t ON t.id = u.team_id`
	selectUsers = `SELECT ` + userColumns + ` FROM ` + userTables + ` `
)

// User finds a user of an organization.
func (rx *Rx) User(organization int64, id string) (User, error) {
	return get[User](rx, selectUsers+`WHERE u.id = ? AND u.organization_id = ?`, id, organization)
}

// Users lists an organization's users, oldest first.
func (rx *Rx) Users(organization int64) ([]User, error) {
	return list[User](rx, selectUsers+`WHERE u.organization_id = ? ORDER BY u.id`, organization)
}

// UserByID finds a user of any organization, for the command line.
func (rx *Rx) UserByID(id string) (User, error) {
	return get[User](rx, selectUsers+`WHERE u.id = ?`, id)
}

// UsersByEmail lists the users of all organizations with an address. It reads every user.
func (rx *Rx) UsersByEmail(email string) ([]User, error) {
	all, err := list[User](rx, selectUsers+`WHERE u.email IS NOT NULL ORDER BY u.id`)
	return slices.DeleteFunc(all, func(u User) bool { return Fold(*u.Email) != Fold(email) }), err
}

// UserBySignIn finds who can sign in with an address, or is invited, without regard to case.
func (rx *Rx) UserBySignIn(email string) (User, error) {
	return get[User](rx, selectUsers+`WHERE u.sign_in_email = ?`, Fold(email))
}

// AnybodyCanSignIn reports whether any user of any organization can sign in.
func (rx *Rx) AnybodyCanSignIn() (yes bool, err error) {
	return get[bool](rx, `SELECT EXISTS (SELECT 1 FROM users u WHERE `+canSignIn+`)`)
}

// OtherAdminCanSignIn reports whether another admin of the user's organization can sign in.
func (rx *Rx) OtherAdminCanSignIn(u User) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM users u
		WHERE u.organization_id = ? AND u.role = 'admin' AND u.id <> ? AND `+canSignIn, u.OrganizationID, u.ID)
}

// InsertUser stores a new user, by default an agent. ErrConflict: the address is another's sign-in.
func (tx *Tx) InsertUser(u *User) error {
	u.ID, u.CreatedAt, u.Role = tx.NewID(""), tx.Order, cmp.Or(u.Role, RoleAgent)
	u.Available, u.NotifyAbout = true, NotifyMine
	err := tx.InsertRow("users", "id, organization_id, team_id, name, email, created_at, role, sign_in_email", u)
	return tx.hint(err, HintUser, Scope{Organization: u.OrganizationID}, u.ID)
}

// UpdateUser stores name, address, role, team and language of a user. The address of one who
// can sign in or is invited stays taken. A new address ends the links that were made for
// the old one: somebody else may read its mail. ErrConflict means that somebody else signs
// in with the address.
func (tx *Tx) UpdateUser(u *User) error {
	if u.SignInEmail != nil && u.Email != nil {
		if err := tx.takeSignIn(u); err != nil {
			return err
		}
	}

	before, err := tx.UserByID(u.ID)
	if err != nil {
		return err
	}
	if Fold(OrEmpty(before.Email)) != Fold(OrEmpty(u.Email)) {
		if err := tx.EndUserInvitations(u.ID); err != nil {
			return err
		}
	}

	err = tx.UpdateRow("users", "name, email, role, team_id, sign_in_email, language", "id", u)
	return tx.hint(err, HintUser, Scope{}, u.ID)
}

// takeSignIn makes the user's address the one that it signs in with: ErrConflict if it is another's, until
// that one's invitation has ended without a password.
func (tx *Tx) takeSignIn(u *User) error {
	wanted := Fold(*u.Email)
	holder, err := tx.UserBySignIn(wanted)
	switch {
	case IgnoreNotFound(err) != nil:
		return err
	case err == nil && holder.ID != u.ID && (holder.hasSignIn() || holder.InvitedUntil > tx.Now):
		return ErrConflict
	case err == nil && holder.ID != u.ID:
		if err := tx.Run(`UPDATE users SET sign_in_email = NULL WHERE id = ?`, holder.ID); err != nil {
			return err
		}
	}

	u.SignInEmail = &wanted
	return nil
}

// updateUser runs a statement that changes what consoles show of one user.
func (tx *Tx) updateUser(user, query string, args ...any) error {
	return tx.hint(tx.ExecOne(query, args...), HintUser, Scope{}, user)
}

// SetPassword stores the hash of a user's new password.
func (tx *Tx) SetPassword(user, hash string) error {
	return tx.updateUser(user, `UPDATE users SET password_hash = ? WHERE id = ?`, hash, user)
}

// MarkSignedIn records that a user signed in now.
func (tx *Tx) MarkSignedIn(user string) error {
	return tx.updateUser(user, `UPDATE users SET last_sign_in_at = ? WHERE id = ?`, tx.Now, user)
}

// DisableUser keeps a user from signing in, and ends its sessions and invitations.
func (tx *Tx) DisableUser(user string) error {
	err := tx.updateUser(user, `
		UPDATE users
		SET disabled_at = CASE disabled_at WHEN 0 THEN ? ELSE disabled_at END
		WHERE id = ?`, tx.Now, user)
	if err != nil {
		return err
	}

	if err := tx.EndUserInvitations(user); err != nil {
		return err
	}
	_, err = tx.DeleteUserSessions(user, "")
	return err
}

// EnableUser lets a disabled user sign in again, with the password it has.
func (tx *Tx) EnableUser(user string) error {
	return tx.updateUser(user, `UPDATE users SET disabled_at = 0 WHERE id = ?`, user)
}

// UserByIdentity finds the user to whom an account at the identity provider is bound.
func (rx *Rx) UserByIdentity(issuer, subject string) (User, error) {
	return get[User](rx, selectUsers+`
		JOIN user_identities b ON b.user_id = u.id
		WHERE b.issuer = ? AND b.subject = ?`, issuer, subject)
}

// BindIdentity binds an account at the identity provider. ErrConflict means one is bound already.
func (tx *Tx) BindIdentity(user, issuer, subject string) error {
	_, err := tx.Exec(`
		INSERT INTO user_identities (issuer, subject, user_id, created_at)
		VALUES (?, ?, ?, ?)`, issuer, subject, user, tx.Now)
	return tx.hint(err, HintUser, Scope{}, user)
}

// UnbindIdentities takes a user's accounts at identity providers away, and counts them.
func (tx *Tx) UnbindIdentities(user string) (int64, error) {
	n, err := tx.Exec(`DELETE FROM user_identities WHERE user_id = ?`, user)
	return n, tx.hint(err, HintUser, Scope{}, user)
}
