// Package ticket makes what a browser is given to bring back within some minutes: how far
// somebody has come in signing in, or a secret that is not stored yet. A ticket is sealed
// under the master key for one purpose, so that no one can read it, change it or use it
// elsewhere.
package ticket

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"confab/storage"
)

// maxText is longer than any ticket.
const maxText = 8 << 10

// envelope is what is sealed.
type envelope struct {
	Until storage.Time `json:"until"`
	Value any          `json:"value"`
}

// Seal makes a ticket of a value, good for a while.
func Seal(db *storage.DB, purpose string, life time.Duration, value any) (string, error) {
	whole, err := json.Marshal(envelope{db.Now().Add(life), value})
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

	e := envelope{Value: value}
	return json.Unmarshal(whole, &e) == nil && db.Now() < e.Until
}
