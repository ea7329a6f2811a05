package password

import (
	"context"
	"errors"
	"slices"
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
	hash, err := h.Hash(t.Context(), limit.Holder{}, "correct horse")
	is.NoErr(err)
	is.True(strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$"))
	other, err := h.Hash(t.Context(), limit.Holder{}, "correct horse")
	is.NoErr(err)
	is.True(hash != other) // a salt each
	matches := func(password string, hash *string) bool {
		same, err := h.Matches(t.Context(), limit.Holder{}, password, hash, func() error { return nil })
		is.NoErr(err)
		return same
	}
	is.True(matches("correct horse", &hash))
	is.True(!matches("correct horsf", &hash))
	is.True(!matches("", nil)) // no one's

	refused := errors.New("no more tries")
	_, err = h.Matches(t.Context(), limit.Holder{}, "correct horse", &hash, func() error { return refused })
	is.Equal(err, refused)
	broken := "$2a$10$x"
	_, err = h.Matches(t.Context(), limit.Holder{}, "correct horse", &broken, func() error { return nil })
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
		known := limit.Organization(1, "")
		_, err := h.slots.Acquire(t.Context(), limit.Stranger("192.0.2.1"), 1, nil)
		is.NoErr(err)
		_, err = h.Hash(t.Context(), limit.Stranger("198.51.100.1"), "x")
		is.Equal(err, ErrBusy) // strangers do not take both
		_, err = h.slots.Acquire(t.Context(), known, 1, nil)
		is.NoErr(err)
		began := time.Now()
		_, err = h.Hash(t.Context(), known, "x")
		is.Equal(err, ErrBusy)
		is.Equal(time.Since(began), 5*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = h.Hash(ctx, known, "x")
		is.Equal(err, context.Canceled)
	})
}

// A caller that changes its password in a loop delays only itself.
func TestThoseWhoHashTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		h := NewHasher()
		var held []*limit.Permit
		for range atOnce {
			slot, err := h.slots.Acquire(t.Context(), limit.Organization(1, ""), 1, nil)
			is.NoErr(err)
			held = append(held, slot)
		}
		var order []string
		hash := func(who limit.Holder) {
			go func() {
				_, err := h.Hash(t.Context(), who, "x")
				is.NoErr(err)
				order = append(order, who.Group)
			}()
			synctest.Wait()
		}
		for range 10 {
			hash(limit.Organization(1, "loop"))
		}
		hash(limit.Stranger("192.0.2.1"))
		held[0].Release() // from now on one at a time
		synctest.Wait()
		is.Equal(len(order), 11)
		is.True(slices.Index(order, "192.0.2.0/24") <= 1)
	})
}
