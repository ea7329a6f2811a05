package storage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"confab/storage/sqlite"
)

const tokenMACSize = aes.BlockSize // so that it can start the key stream

// Tokens makes and reads the small texts that clients are given to bring back: cursors
// of lists, and positions among the events. A token is a MAC over a value and a scope, and
// the value, encrypted: no client can forge one, use it elsewhere, or read in it how
// much others do. The same value always has the same token.
type Tokens struct {
	mac    []byte
	cipher cipher.Block
}

// NewTokens makes tokens under a key: see DeriveKey.
func NewTokens(key []byte) *Tokens {
	block, err := aes.NewCipher(sqlite.DeriveKey(key, "token cipher"))
	if err != nil {
		panic("token cipher: " + err.Error()) // only for keys of a wrong length
	}
	return &Tokens{mac: sqlite.DeriveKey(key, "token mac"), cipher: block}
}

// Seal makes the token of a value.
func (t *Tokens) Seal(scope string, value []byte) string {
	token := t.sum(scope, value)
	return base64.RawURLEncoding.EncodeToString(append(token, t.crypt(token, value)...))
}

// Open reads the value of a token; false for one that Seal did not make for this scope.
func (t *Tokens) Open(scope, token string) ([]byte, bool) {
	if strings.ContainsAny(token, "\r\n") { // which the decoder would overlook
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < tokenMACSize {
		return nil, false
	}

	value := t.crypt(raw[:tokenMACSize], raw[tokenMACSize:])
	return value, hmac.Equal(raw[:tokenMACSize], t.sum(scope, value))
}

// crypt encrypts a value, or decrypts it: both are the same. The MAC starts the key
// stream, so that no two values share one.
func (t *Tokens) crypt(mac, value []byte) []byte {
	out := make([]byte, len(value))
	cipher.NewCTR(t.cipher, mac[:tokenMACSize]).XORKeyStream(out, value)
	return out
}

func (t *Tokens) sum(scope string, value []byte) []byte {
	h := hmac.New(sha256.New, t.mac)
	h.Write(binary.AppendUvarint(nil, uint64(len(scope))))
	h.Write([]byte(scope))
	h.Write(value)
	return h.Sum(nil)[:tokenMACSize]
}
