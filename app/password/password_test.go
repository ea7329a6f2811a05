package password

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
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
		is.NoErr(h.acquire(t.Context()))
		is.NoErr(h.acquire(t.Context()))
		began := time.Now()
		_, err := h.Hash(t.Context(), "x")
		is.Equal(err, ErrBusy)
		is.Equal(time.Since(began), 5*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		is.Equal(h.acquire(ctx), context.Canceled)
	})
}

func TestThoseWhoFailWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w := NewThrottle()
		for range 5 {
			w.Fail("a")
			is.Equal(w.Wait("a"), 0*time.Second)
		}
		for _, want := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			w.Fail("a")
			is.Equal(w.Wait("a"), time.Duration(want)*time.Second)
			is.Equal(w.Wait("b"), 0*time.Second)
			time.Sleep(time.Duration(want) * time.Second)
			is.Equal(w.Wait("a"), 0*time.Second) // nobody is locked out for good
		}
		w.Clear("a")
		w.Fail("a")
		is.Equal(w.Wait("a"), 0*time.Second)
		for range 6 {
			w.Fail("a")
		}
		time.Sleep(remembered + time.Second)
		w.Fail("a")
		is.Equal(w.Wait("a"), 0*time.Second) // what is long ago does not count
	})
}

func TestTheThrottleIsBounded(t *testing.T) {
	is := is.New(t)
	w := NewThrottle()
	for range 8 {
		w.Fail("attacker")
	}
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range maxEntries {
				w.Fail(fmt.Sprint(n, i))
			}
		})
	}
	group.Wait()
	is.True(len(w.all) <= maxEntries)
	is.True(w.Wait("attacker") > 0) // those who wait are forgotten last
}
