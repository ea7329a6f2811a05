// Package ticket makes what a browser is given to bring back within some minutes: how far
// somebody has come in signing in, or a secret that is not stored yet. A ticket is sealed
// under the master key for one purpose, so that no one can read it, change it or use it
// elsewhere.
package ticket

import (
	"encoding/base64"
	"encoding/json"
	"sync"
	"time"

	"confab/storage"
)

// maxText is longer than any ticket.
const maxText = 8 << 10

// envelope is what is sealed.
type envelope struct {
	Until storage.Time    `json:"until"`
	Value json.RawMessage `json:"value"`
}

// Seal makes a ticket of a value, good for a while.
func Seal(db *storage.DB, purpose string, life time.Duration, value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	whole, err := json.Marshal(envelope{storage.Now().Add(life), text})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(db.Seal("ticket: "+purpose, whole)), nil
}

// Open reads a ticket into value; false for one that Seal did not make for this purpose, or
// whose time is over.
func Open(db *storage.DB, purpose, text string, value any) bool {
	if len(text) > maxText {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	whole, err := db.Unseal("ticket: "+purpose, sealed)
	if err != nil {
		return false
	}

	var e envelope
	return json.Unmarshal(whole, &e) == nil && storage.Now() < e.Until && json.Unmarshal(e.Value, value) == nil
}

// maxUsed is how many tickets are remembered. More are not used within the time that one is
// good for.
const maxUsed = 10_000

// Used remembers which tickets were used, for those that are good for one use.
type Used struct {
	mu    sync.Mutex
	all   map[string]bool
	order []string // the oldest first
}

// First reports whether a ticket, by some id of it, is used for the first time.
func (u *Used) First(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all[id] {
		return false
	}

	if u.all == nil {
		u.all = make(map[string]bool)
	}
	if len(u.order) >= maxUsed {
		delete(u.all, u.order[0])
		u.order = u.order[1:]
	}
	u.all[id] = true
	u.order = append(u.order, id)
	return true
}
