package rest

import (
	"encoding/binary"

	"confab/storage"
)

// cursorCodec makes and reads cursors. A cursor is a position in a list, sealed and bound
// to the list, the organization and the filters: a client can neither forge one nor use
// it with another list.
type cursorCodec struct{ tokens *storage.Tokens }

func newCursorCodec(key []byte) *cursorCodec { return &cursorCodec{storage.NewTokens(key)} }

// Encode makes the cursor of the page that begins after the given row.
func (c *cursorCodec) Encode(scope string, after storage.After) string {
	return c.tokens.Seal(scope, append(binary.AppendVarint(nil, int64(after.Key)), after.ID...))
}

// decode reads a cursor; false for one that encode did not make for this scope.
func (c *cursorCodec) decode(scope, cursor string) (storage.After, bool) {
	value, ok := c.tokens.Open(scope, cursor)
	if !ok {
		return storage.After{}, false
	}

	key, n := binary.Varint(value)
	if n <= 0 {
		return storage.After{}, false
	}
	return storage.After{Key: storage.Time(key), ID: string(value[n:])}, true
}
