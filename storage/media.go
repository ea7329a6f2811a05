package storage

import "net/url"

// Media is a file that an account can send, or that came with a message.
type Media struct {
	ID        string  `db:"id" json:"id"`
	AccountID int64   `db:"account_id" json:"-"`
	Origin    string  `db:"origin" json:"-"`
	URLToken  string  `db:"url_token" json:"-"`
	MIMEType  string  `db:"mime_type" json:"mime_type"`
	Size      int64   `db:"size" json:"size"`
	SHA256    string  `db:"sha256" json:"sha256"`
	Filename  *string `db:"filename" json:"filename"`
	URL       string  `db:"-" json:"url"` // with the token; set only to be shown
	CreatedAt Time    `db:"created_at" json:"created_at"`
}

// Where media comes from.
const (
	OriginLibrary = "library" // uploaded to be sent
	OriginMessage = "message" // received with a message
)

// States of a message's media.
const (
	MediaFetching = "fetching" // on its way here from the provider
	MediaReady    = "ready"
	MediaFailed   = "failed" // it could not be fetched
)

// MediaTokenSize is how many random bytes a hosted URL carries.
const MediaTokenSize = 24

const (
	mediaColumns = `media.id, media.account_id, media.origin, media.url_token, media.sha256,
		media.mime_type, media.size, media.filename, media.created_at`
	selectMedia = `SELECT ` + mediaColumns + ` FROM media `
)

// MediaPath is where a file is hosted, below the public URL.
func MediaPath(token string, filename *string) string {
	if filename == nil {
		return "/media/" + token
	}
	return "/media/" + token + "/" + url.PathEscape(*filename)
}

// Media finds media of an account that was not deleted.
func (rx *Rx) Media(account int64, id string) (Media, error) {
	return get[Media](rx, selectMedia+`WHERE media.id = ? AND media.account_id = ? AND media.deleted_at = 0`, id, account)
}

// TeamMedia finds media of any number of a team that was not deleted.
func (rx *Rx) TeamMedia(team int64, id string) (Media, error) {
	return get[Media](rx, selectMedia+`JOIN accounts a ON a.id = media.account_id
		WHERE media.id = ? AND media.deleted_at = 0 AND a.team_id = ? AND a.deleted_at = 0`, id, team)
}

// OutgoingMedia is media that a number sends, with the provider's id of it.
type OutgoingMedia struct {
	Media
	ProviderID *string `db:"provider_media_id"` // nil if this number has not uploaded it
	ExpiresAt  Time    `db:"expires_at"`
}

// MediaToSend finds media for a number that sends it, also when it was deleted a
// moment ago: a message that was accepted before that still goes out.
func (rx *Rx) MediaToSend(account int64, id string) (OutgoingMedia, error) {
	return get[OutgoingMedia](rx, `
		SELECT `+mediaColumns+`, u.provider_media_id, coalesce(u.expires_at, 0) AS expires_at
		FROM media
		JOIN accounts owner ON owner.id = media.account_id
		JOIN accounts sender ON sender.id = ? AND sender.team_id = owner.team_id
		LEFT JOIN media_uploads u ON u.media_id = media.id AND u.account_id = sender.id
		WHERE media.id = ?`, account, id)
}

// MediaByToken finds media by the token in its URL, all that a visitor needs to know.
func (rx *Rx) MediaByToken(token string) (Media, error) {
	return get[Media](rx, selectMedia+`WHERE media.url_token = ? AND media.deleted_at = 0`, token)
}

// MediaUses reports whether any row names a file's content.
func (rx *Rx) MediaUses(sum string) (bool, error) {
	return rx.exists(`SELECT 1 FROM media WHERE sha256 = ? LIMIT 1`, sum)
}

// InsertMedia stores new media, whose file is kept already, and fills in id, token and time.
func (tx *Tx) InsertMedia(m *Media) error {
	m.ID, m.URLToken, m.CreatedAt = tx.NewID(PrefixMedia), randomText(MediaTokenSize), tx.Order
	return tx.InsertRow("media", "id, account_id, origin, url_token, sha256, mime_type, size, filename, created_at", m)
}

// MarkMediaFetched makes media the message's own.
func (tx *Tx) MarkMediaFetched(m *Message, file Media) error {
	m.SetMedia(file)
	m.UpdatedAt = tx.Order
	return tx.hintMessage(tx.UpdateRow("messages", "media_id, media_status, updated_at", "number, id", m), m)
}

// MarkMediaFailed records that the media of a message could not be fetched.
func (tx *Tx) MarkMediaFailed(m *Message) error {
	m.MediaStatus, m.UpdatedAt = new(MediaFailed), tx.Order
	return tx.hintMessage(tx.UpdateRow("messages", "media_status, updated_at", "number, id", m), m)
}

// MarkMediaUploaded records by which id, and until when, the provider has a file of a number.
func (tx *Tx) MarkMediaUploaded(account int64, id, providerID string, expires Time) error {
	return tx.Run(`
		INSERT INTO media_uploads (media_id, account_id, provider_media_id, expires_at)
		VALUES (?, ?, ?, ?)
		ON CONFLICT (media_id, account_id) DO UPDATE SET provider_media_id = excluded.provider_media_id, expires_at = excluded.expires_at`,
		id, account, providerID, expires)
}

// MarkMediaDeleted takes media out of the library. Its row stays for messages that were accepted.
func (tx *Tx) MarkMediaDeleted(account int64, id string) error {
	return tx.ExecOne(`
		UPDATE media
		SET deleted_at = ?
		WHERE id = ? AND account_id = ? AND deleted_at = 0`, tx.Now, id, account)
}

// DetachMedia takes media off up to limit messages and returns off how many, so
// that DeleteMedia, which would do it for all at once, stays short.
func (tx *Tx) DetachMedia(id string, limit int) (int64, error) {
	return tx.Exec(`
		UPDATE messages
		SET media_id = NULL
		WHERE number IN (SELECT number FROM messages WHERE media_id = ? LIMIT ?)`, id, limit)
}

// DeleteMedia removes the row of media. It does nothing when there is none.
func (tx *Tx) DeleteMedia(account int64, id string) error {
	return tx.Run(`DELETE FROM media WHERE id = ? AND account_id = ?`, id, account)
}

// MarkObjectUnused records that from now on no row names the object of a hash.
func (tx *Tx) MarkObjectUnused(sum string) error {
	return tx.Run(`
		INSERT INTO unused_objects (sha256, since) VALUES (?, ?)
		ON CONFLICT (sha256) DO UPDATE SET since = excluded.since`, sum, tx.Now)
}

// NoticeUnusedObjects records objects that no row names, unless they are known to be unused.
func (tx *Tx) NoticeUnusedObjects(sums []string) error {
	return tx.Run(`
		INSERT OR IGNORE INTO unused_objects (sha256, since)
		SELECT value, ? FROM json_each(?)`, tx.Now, jsonList(sums))
}

// UnusedObjects lists up to limit hashes, after one, of objects that are unused since a time.
func (rx *Rx) UnusedObjects(since Time, after string, limit int) ([]string, error) {
	return list[string](rx, `
		SELECT sha256 FROM unused_objects
		WHERE since <= ? AND sha256 > ?
		ORDER BY sha256
		LIMIT ?`, since, after, limit)
}

// ForgetUnusedObject forgets an object that was deleted, or that a row names again.
func (tx *Tx) ForgetUnusedObject(sum string) error {
	return tx.Run(`DELETE FROM unused_objects WHERE sha256 = ?`, sum)
}
