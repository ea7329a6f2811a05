// Package password hashes the passwords of people.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"confab/app/limit"
)

// The cost of one hash: what makes guessing slow for someone who has stolen the database.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

const (
	// atOnce bounds the memory and the cores that hashing takes from everybody else.
	atOnce = 2
	// strangersAtOnce leaves the other cores to those who are known, wherever the strangers
	// who guess passwords come from.
	strangersAtOnce = 1
	// patience is how long a request waits for its turn.
	patience = 5 * time.Second
)

// Bounds of a password, in characters.
const (
	minLength = 10
	maxLength = 200
)

// ErrBusy means that too many passwords are being hashed already.
var ErrBusy = limit.ErrExhausted

// Problem says why a new password is refused, as the rest of a sentence that begins
// with it; "" if nothing is. notThese are the person's own names and addresses.
func Problem(password string, notThese ...string) string {
	if n := utf8.RuneCountInString(password); n < minLength || n > maxLength || !utf8.ValidString(password) {
		return fmt.Sprintf("must have %d to %d characters", minLength, maxLength)
	}

	for _, own := range notThese {
		if strings.EqualFold(strings.TrimSpace(password), strings.TrimSpace(own)) {
			return "must not be your own name or address"
		}
	}
	return ""
}

// Hasher hashes passwords, a few at a time.
type Hasher struct {
	slots  *limit.Semaphore
	nobody string // a hash that no password has
}

// NewHasher makes a Hasher.
func NewHasher() *Hasher {
	return &Hasher{
		slots:  limit.NewSemaphore(limit.SemaphoreOptions{Total: atOnce, Strangers: strangersAtOnce, Patience: patience}),
		nobody: encode(make([]byte, saltBytes), make([]byte, hashBytes)),
	}
}

// Hash hashes a new password. Callers are served alternately, by their groups.
func (h *Hasher) Hash(ctx context.Context, who limit.Holder, password string) (string, error) {
	slot, err := h.slots.Acquire(ctx, who, 1, nil)
	if err != nil {
		return "", err
	}
	defer slot.Release()

	salt := make([]byte, saltBytes)
	rand.Read(salt)
	return encode(salt, derive(password, salt)), nil
}

// Matches reports whether a password is the one that was hashed. A nil hash belongs to
// no one: it takes the same time, so that the time does not show whether there is
// a user. begin is called before the hashing, and may still refuse it.
func (h *Hasher) Matches(ctx context.Context, who limit.Holder, password string, hash *string, begin func() error) (bool, error) {
	slot, err := h.slots.Acquire(ctx, who, 1, nil)
	if err != nil {
		return false, err
	}
	defer slot.Release()

	if err := begin(); err != nil {
		return false, err
	}

	stored := h.nobody
	if hash != nil {
		stored = *hash
	}
	salt, want, err := decode(stored)
	if err != nil {
		return false, err
	}

	same := subtle.ConstantTimeCompare(derive(password, salt), want) == 1
	return same && hash != nil, nil
}

// derive computes the hash. The caller has a slot, and keeps it until the 19 MiB that the
// hash took are collected: the collector, which goes by how much is in use, would let
// hundreds of MiB pile up while many people sign in.
func derive(password string, salt []byte) []byte {
	key := argon2.IDKey([]byte(password), salt, passes, memoryKiB, lanes, hashBytes)
	runtime.GC()
	return key
}

// header begins every hash, in the form that other programs use too.
var header = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$", argon2.Version, memoryKiB, passes, lanes)

func encode(salt, hash []byte) string {
	return header + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(hash)
}

func decode(stored string) (salt, hash []byte, err error) {
	rest, ok := strings.CutPrefix(stored, header)
	first, second, _ := strings.Cut(rest, "$")
	if !ok {
		return nil, nil, errors.New("the stored hash of a password has another form")
	}

	salt, err = base64.RawStdEncoding.DecodeString(first)
	if err == nil {
		hash, err = base64.RawStdEncoding.DecodeString(second)
	}
	return salt, hash, err
}
