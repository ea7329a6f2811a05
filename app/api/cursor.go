package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"confab/storage"
)

const (
	cursorVersion = 1
	cursorMACSize = 16
)

// cursorCodec makes and reads cursors. A cursor is a position in a list and a MAC over
// it, bound to the list, the organization and the filters: a client can neither forge
// one nor use it with another list.
type cursorCodec struct{ key []byte }

func newCursorCodec(key []byte) *cursorCodec { return &cursorCodec{key: key} }

// encode makes the cursor of the page that begins after the given row.
func (c *cursorCodec) encode(scope string, after storage.After) string {
	payload := []byte{cursorVersion}
	payload = binary.AppendVarint(payload, int64(after.Key))
	payload = append(payload, after.ID...)
	return base64.RawURLEncoding.EncodeToString(append(payload, c.mac(scope, payload)...))
}

// decode reads a cursor; false for one that encode did not make for this scope.
func (c *cursorCodec) decode(scope, cursor string) (storage.After, bool) {
	if strings.ContainsAny(cursor, "\r\n") { // which the decoder would overlook
		return storage.After{}, false
	}

	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= cursorMACSize {
		return storage.After{}, false
	}

	payload, mac := raw[:len(raw)-cursorMACSize], raw[len(raw)-cursorMACSize:]
	if !hmac.Equal(mac, c.mac(scope, payload)) || payload[0] != cursorVersion {
		return storage.After{}, false
	}

	key, n := binary.Varint(payload[1:])
	if n <= 0 {
		return storage.After{}, false
	}
	return storage.After{Key: storage.Time(key), ID: string(payload[1+n:])}, true
}

func (c *cursorCodec) mac(scope string, payload []byte) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write(binary.AppendUvarint(nil, uint64(len(scope))))
	h.Write([]byte(scope))
	h.Write(payload)
	return h.Sum(nil)[:cursorMACSize]
}
