package password

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/app/limit"
)

func TestAPasswordIsKnownByItsHash(t *testing.T) {
	is := is.New(t)
	h := NewHasher()
	hash, err := h.Hash(t.Context(), "correct horse")
	is.NoErr(err)
	is.True(strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"))
	other, err := h.Hash(t.Context(), "correct horse")
	is.NoErr(err)
	is.True(hash != other) // a salt each
	matches := func(password string, hash *string) bool {
		same, err := h.Matches(t.Context(), password, hash, func() error { return nil })
		is.NoErr(err)
		return same
	}
	is.True(matches("correct horse", &hash))
	is.True(!matches("correct horsf", &hash))
	is.True(!matches("", nil)) // nobody's

	refused := errors.New("no more tries")
	_, err = h.Matches(t.Context(), "correct horse", &hash, func() error { return refused })
	is.Equal(err, refused)
	broken := "$2a$10$x"
	_, err = h.Matches(t.Context(), "correct horse", &broken, func() error { return nil })
	is.True(err != nil)
}

func TestProblemsOfAPassword(t *testing.T) {
	is := is.New(t)
	for password, ok := range map[string]bool{
		"123456789": false, "1234567890": true, strings.Repeat("ä", 200): true, strings.Repeat("ä", 201): false, "": false,
		"Ada Lovelace": false, " ada lovelace ": false, "ADA@example.com": false, "Ada Lovelace!": true, "\xff\xfe45678901": false,
	} {
		is.Equal(Problem(password, "Ada Lovelace", "ada@example.com") == "", ok) // password
	}
}

func TestOnlyTwoAreHashedAtOnceAndTheRestWaitsFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		h := NewHasher()
		for range atOnce {
			_, err := h.slots.Acquire(t.Context(), limit.Holder{}, 1, nil)
			is.NoErr(err)
		}
		began := time.Now()
		_, err := h.Hash(t.Context(), "x")
		is.Equal(err, ErrBusy)
		is.Equal(time.Since(began), 5*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = h.Hash(ctx, "x")
		is.Equal(err, context.Canceled)
	})
}
