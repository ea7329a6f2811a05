package storage

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"
)

const (
	// SessionLife is how long a session lasts, and SessionIdle how long without a request.
	SessionLife = 30 * 24 * time.Hour
	SessionIdle = 7 * 24 * time.Hour
	// maxUserSessions bounds the sessions of one user: the next sign-in ends the oldest.
	maxUserSessions = 50
	// maxUserAgent bounds what a browser can store with its name.
	maxUserAgent = 255
)

// UserSession is a browser in which a user is signed in.
type UserSession struct {
	ID         string `db:"id" json:"id"`
	UserID     string `db:"user_id" json:"user_id"`
	UserAgent  string `db:"user_agent" json:"user_agent"`
	IP         string `db:"ip" json:"ip"`
	IsCurrent  *bool  `db:"-" json:"current,omitempty"` // it is the one that asks; set only to be shown
	CreatedAt  Time   `db:"created_at" json:"created_at"`
	LastSeenAt Time   `db:"last_seen_at" json:"last_seen_at"`
}

// Expired reports whether the session has ended by itself at a time.
func (s UserSession) Expired(now Time) bool {
	return now >= s.CreatedAt.Add(SessionLife) || now >= s.LastSeenAt.Add(SessionIdle)
}

const userSessionColumns = `id, user_id, user_agent, ip, created_at, last_seen_at`

// SignedIn is a session, its user, and the organization of that.
type SignedIn struct {
	Session      UserSession
	User         User
	Organization Organization
}

// SignedIn finds the session with a token's hash, for every request of the console. It may have expired, and
// its user may be disabled.
func (db *DB) SignedIn(ctx context.Context, hash [sha256.Size]byte) (SignedIn, error) {
	return db.caches.signedIn.fetch(ctx, db, hash)
}

func (rx *Rx) readSignedIn(hash [sha256.Size]byte) (s SignedIn, err error) {
	err = rx.Get(&s.Session, `
		SELECT `+userSessionColumns+`
		FROM user_sessions
		WHERE token_hash = ?`, hash[:])
	if err != nil {
		return s, err
	}

	if s.User, err = rx.UserByID(s.Session.UserID); err != nil {
		return s, err
	}

	s.Organization, err = rx.OrganizationByID(s.User.OrganizationID)
	return s, err
}

// UserSessions lists the sessions of a user that have not expired, oldest first.
func (rx *Rx) UserSessions(user string) ([]UserSession, error) {
	now := rx.db.Now()
	return list[UserSession](rx, `
		SELECT `+userSessionColumns+`
		FROM user_sessions
		WHERE user_id = ? AND created_at > ? AND last_seen_at > ?
		ORDER BY id`, user, now.Add(-SessionLife), now.Add(-SessionIdle))
}

// InsertUserSession signs a user in, and returns the cookie's token, which is not stored.
func (tx *Tx) InsertUserSession(s *UserSession) (token string, err error) {
	token, hash := newToken()
	s.ID, s.CreatedAt, s.LastSeenAt = tx.NewID(PrefixSession), tx.Now, tx.Now
	s.UserAgent = strings.ToValidUTF8(s.UserAgent[:min(len(s.UserAgent), maxUserAgent)], "")

	err = tx.Run(`
		INSERT INTO user_sessions (id, token_hash, user_id, user_agent, ip, created_at, last_seen_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, s.ID, hash[:], s.UserID, s.UserAgent, s.IP, s.CreatedAt, s.LastSeenAt)
	if err != nil {
		return "", err
	}

	return token, tx.Run(`
		DELETE FROM user_sessions
		WHERE id IN (SELECT id FROM user_sessions WHERE user_id = ? ORDER BY id DESC LIMIT -1 OFFSET ?)`, s.UserID, maxUserSessions)
}

// DeleteUserSession ends a session of a user.
func (tx *Tx) DeleteUserSession(user, id string) error {
	return tx.updateUser(user, `DELETE FROM user_sessions WHERE id = ? AND user_id = ?`, id, user)
}

// DeleteUserSessions ends the sessions of a user, but for one, and counts them.
func (tx *Tx) DeleteUserSessions(user, but string) (int64, error) {
	n, err := tx.Exec(`DELETE FROM user_sessions WHERE user_id = ? AND id <> ?`, user, but)
	return n, tx.hint(err, HintUser, Scope{}, user)
}

// MarkSessionSeen records when a session was last used. Times only move forward.
func (tx *Tx) MarkSessionSeen(id string, at Time) error {
	return tx.Run(`
		UPDATE user_sessions
		SET last_seen_at = ?
		WHERE id = ? AND last_seen_at < ?`, at, id, at)
}

// DeleteOldUserSessions deletes up to limit sessions that have expired.
func (tx *Tx) DeleteOldUserSessions(limit int) (int64, error) {
	return tx.deleteSome("user_sessions", "id", "created_at <= ? OR last_seen_at <= ?",
		tx.Now.Add(-SessionLife), tx.Now.Add(-SessionIdle), limit)
}
