package storage

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// What a person is notified of.
const (
	NotifyEverything = "everything"
	NotifyMine       = "mine_and_unassigned"
	NotifyMentions   = "mentions"
	NotifyNothing    = "nothing"
)

// NotifyChoices lists all of them.
func NotifyChoices() []string {
	return []string{NotifyEverything, NotifyMine, NotifyMentions, NotifyNothing}
}

const (
	// MaxDevices is how many devices a person may have.
	MaxDevices = 20
	// pushInterval is the least time between two notifications of a conversation on a device.
	pushInterval = 30 * time.Second

	// mayPushAgain is the condition that a row of push_times holds nothing back at the time ?3, with
	// ?4 pushInterval before it. A later one was written by a clock that was ahead.
	mayPushAgain = `(pushed_at <= ?4 OR pushed_at > ?3)`

	vapidKeyName = "vapid_key"
)

// ErrTooMany means that there are as many as there may be.
var ErrTooMany = errors.New("there are as many as there may be")

// PushSubscription is where and how a browser takes push messages, as it says itself. Who knows
// it can send some, so it is sealed and never shown.
type PushSubscription struct {
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// PushDevice is a browser that shows notifications.
type PushDevice struct {
	ID          string `db:"id"`
	UserID      string `db:"user_id"`
	NotifyAbout string `db:"notify_about"` // of its user
	Language    string `db:"language"`     // of its user; "" for none

	Subscription PushSubscription `db:"-"` // only of one that PushDevice found
	Sealed       []byte           `db:"subscription"`
}

func devicePurpose(id string) string { return "push device " + id }

// VAPIDKey opens the key that signs push messages; "" before the first device.
func (rx *Rx) VAPIDKey() (string, error) {
	sealed, err := value[[]byte](rx, `SELECT value FROM meta WHERE name = ?`, vapidKeyName)
	if err != nil {
		return "", IgnoreNotFound(err)
	}
	key, err := rx.db.Unseal(vapidKeyName, sealed)
	return string(key), err
}

// EnsureVAPIDKey opens the key that signs push messages, and stores made if there is none.
func (tx *Tx) EnsureVAPIDKey(made string) (string, error) {
	if key, err := tx.VAPIDKey(); err != nil || key != "" {
		return key, err
	}
	_, err := tx.Exec(`INSERT INTO meta (name, value) VALUES (?, ?)`, vapidKeyName, tx.db.Seal(vapidKeyName, []byte(made)))
	return made, err
}

// HasPushDevices reports whether anybody of an organization has a device.
func (rx *Rx) HasPushDevices(organization int64) (bool, error) {
	return rx.db.caches.devices.find(rx, organization)
}

func (rx *Rx) readHasPushDevices(organization int64) (bool, error) {
	return rx.exists(`SELECT 1 FROM push_devices WHERE organization_id = ?`, organization)
}

const selectPushDevices = `
	SELECT d.id, d.user_id, u.notify_about, coalesce(u.language, '') AS language, d.subscription
	FROM push_devices d JOIN users u ON u.id = d.user_id `

// PushDevice finds a device with its subscription.
func (rx *Rx) PushDevice(id string) (PushDevice, error) {
	d, err := get[PushDevice](rx, selectPushDevices+`WHERE d.id = ? AND u.disabled_at = 0`, id)
	if err != nil {
		return d, err
	}

	text, err := rx.db.Unseal(devicePurpose(d.ID), d.Sealed)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(text, &d.Subscription)
}

// DevicesToNotify lists an organization's devices, or some users', that were not notified just now.
func (rx *Rx) DevicesToNotify(organization int64, conversation string, users []string) ([]PushDevice, error) {
	now := rx.db.Now()
	all, err := list[PushDevice](rx, selectPushDevices+`
		WHERE d.organization_id = ?1 AND u.disabled_at = 0
			AND NOT EXISTS (SELECT 1 FROM push_times WHERE conversation_id = ?2 AND device_id = d.id AND NOT `+mayPushAgain+`)
		ORDER BY d.id`, organization, conversation, now, now.Add(-pushInterval))
	if users != nil {
		all = slices.DeleteFunc(all, func(d PushDevice) bool { return !slices.Contains(users, d.UserID) })
	}
	return all, err
}

// SessionDevices lists the ids of a session's devices.
func (rx *Rx) SessionDevices(session string) ([]string, error) {
	return list[string](rx, `SELECT id FROM push_devices WHERE session_id = ? ORDER BY id`, session)
}

// ClaimPush records that a device is notified of a conversation now; false if it just was.
func (tx *Tx) ClaimPush(device, conversation string) (bool, error) {
	isThere, err := tx.exists(`SELECT 1 FROM conversations v, push_devices d WHERE v.id = ? AND d.id = ?`, conversation, device)
	if err != nil || !isThere {
		return false, err
	}

	n, err := tx.Exec(`
		INSERT INTO push_times (conversation_id, device_id, pushed_at)
		VALUES (?1, ?2, ?3)
		ON CONFLICT DO UPDATE SET pushed_at = excluded.pushed_at WHERE `+mayPushAgain,
		conversation, device, tx.Now, tx.Now.Add(-pushInterval))
	return n > 0, err
}

// IsPushedSince reports whether a device was notified of a conversation once more after a time.
func (rx *Rx) IsPushedSince(device, conversation string, at Time) (bool, error) {
	return rx.exists(`SELECT 1 FROM push_times WHERE conversation_id = ? AND device_id = ? AND pushed_at > ?`, conversation, device, at)
}

// DeleteOldPushTimes deletes up to limit rows that hold nothing back any more.
func (tx *Tx) DeleteOldPushTimes(limit int) (int64, error) {
	return tx.deleteSome("push_times", "conversation_id, device_id", "pushed_at <= ?", tx.Now.Add(-pushInterval), limit)
}

// EnsurePushDevice stores a device of somebody's session, and returns its id. One that the person
// had before belongs to the session from now on: it stays the same device, which knows what it was
// notified of. ErrTooMany means that the person has MaxDevices.
func (tx *Tx) EnsurePushDevice(who SignedIn, s PushSubscription) (id string, err error) {
	hash := sha256.Sum256([]byte(s.Endpoint))
	id, err = tx.pushDeviceID(who.User.ID, hash)
	if errors.Is(err, ErrNotFound) {
		id = tx.NewID(PrefixDevice)
		err = tx.checkDeviceRoom(who.User.ID)
	}
	if err != nil {
		return "", err
	}

	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(`
		INSERT INTO push_devices (id, organization_id, user_id, session_id, endpoint_hash, subscription, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET session_id = excluded.session_id, subscription = excluded.subscription`,
		id, who.User.OrganizationID, who.User.ID, who.Session.ID, hash[:], tx.db.Seal(devicePurpose(id), text), tx.Order)
	return id, err
}

func (rx *Rx) pushDeviceID(user string, hash [sha256.Size]byte) (string, error) {
	return value[string](rx, `SELECT id FROM push_devices WHERE user_id = ? AND endpoint_hash = ?`, user, hash[:])
}

func (rx *Rx) checkDeviceRoom(user string) error {
	n, err := value[int](rx, `SELECT count(*) FROM push_devices WHERE user_id = ?`, user)
	if err == nil && n >= MaxDevices {
		return ErrTooMany
	}
	return err
}

// DeletePushDevice deletes a device of a person by its endpoint, and returns its id.
func (tx *Tx) DeletePushDevice(user, endpoint string) (id string, err error) {
	id, err = tx.pushDeviceID(user, sha256.Sum256([]byte(endpoint)))
	if err != nil {
		return "", err
	}
	return id, tx.ForgetPushDevice(id)
}

// ForgetPushDevice deletes a device that takes no more push messages.
func (tx *Tx) ForgetPushDevice(id string) error {
	return tx.Run(`DELETE FROM push_devices WHERE id = ?`, id)
}

// SetNotifyAbout records what a user is notified of.
func (tx *Tx) SetNotifyAbout(user, about string) error {
	return tx.updateUser(user, `UPDATE users SET notify_about = ? WHERE id = ?`, about, user)
}

// CountUnread counts the open conversations of an account with unread messages.
func (rx *Rx) CountUnread(account int64) (int, error) {
	return rx.countFiltered(account, ConversationFilter{Statuses: []string{ConversationOpen, ConversationPending}, Unread: true})
}
