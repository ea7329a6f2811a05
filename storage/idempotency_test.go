package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

func answer(db *storage.DB, organization int64, key string) (a storage.IdempotentReply, err error) {
	err = db.View(context.Background(), func(rx *storage.Rx) (err error) {
		a, err = rx.IdempotentReply(organization, key)
		return err
	})
	return a, err
}

func TestAnswerIsRememberedForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		given := storage.IdempotentReply{Fingerprint: []byte("f"), Status: 201, RequestID: "req_1", Body: []byte(`{"a":1}`), CreatedAt: storage.Now()}
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.SaveIdempotentReply(1, "k", given) })

		time.Sleep(24*time.Hour - time.Millisecond)
		got, err := answer(db, 1, "k")
		is.NoErr(err)
		is.Equal(got, given)
		is.Equal(update(t, db, func(tx *storage.Tx) (int64, error) { return tx.DeleteOldIdempotentReplies(tx.Now, 10) }), int64(0))

		time.Sleep(time.Millisecond)
		_, err = answer(db, 1, "k")
		is.True(errors.Is(err, storage.ErrNotFound)) // forgotten, though its row is not deleted yet
		second := given
		second.Status, second.CreatedAt = 200, storage.Now()
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.SaveIdempotentReply(1, "k", second) })
		got, err = answer(db, 1, "k")
		is.NoErr(err)
		is.Equal(got, second) // and its key can be used again
	})
}

// A server that starts with a clock two days ahead must not send again what a client asks for again.
func TestAnswerIsRememberedThoughTheClockLeapsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			_, err := tx.LookAtClock(0)
			return errors.Join(err, tx.SaveIdempotentReply(1, "k", storage.IdempotentReply{Fingerprint: []byte("f"), Status: 201, Body: []byte{}}))
		})

		time.Sleep(48 * time.Hour) // nobody looked at the clock meanwhile: as if it leapt
		got, err := answer(db, 1, "k")
		is.NoErr(err)
		is.Equal(got.Status, 201)

		storagetest.Update(t, db, (*storage.Tx).ConfirmClock)
		_, err = answer(db, 1, "k")
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

func TestAnswerBelongsToItsOrganization(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	for _, s := range []storagetest.Tenant{ours, theirs} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.SaveIdempotentReply(s.Organization.ID, "same key", storage.IdempotentReply{Fingerprint: []byte("f"), Body: []byte(s.Organization.Name)})
		})
	}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.SaveIdempotentReply(ours.Organization.ID, "our key", storage.IdempotentReply{Fingerprint: []byte("f"), Body: []byte{}})
	})
	got, err := answer(db, ours.Organization.ID, "same key")
	is.NoErr(err)
	is.Equal(string(got.Body), "ours")
	_, err = answer(db, theirs.Organization.ID, "our key")
	is.True(errors.Is(err, storage.ErrNotFound))
}

func TestAnswerThatIsSealedReadsBack(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		return tx.SaveIdempotentReply(1, "k", storage.IdempotentReply{Fingerprint: []byte("f"), Body: []byte("secret"), Sealed: true})
	})
	got, err := answer(db, 1, "k")
	is.NoErr(err)
	is.Equal(string(got.Body), "secret")
}

func TestAnswerIsNotKeptOfAnEffectThatFailed(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	oops := errors.New("oops")
	err := db.Update(context.Background(), func(tx *storage.Tx) error {
		return errors.Join(tx.SaveIdempotentReply(1, "k", storage.IdempotentReply{Fingerprint: []byte("f"), Body: []byte{}}), oops)
	})
	is.True(errors.Is(err, oops))
	_, err = answer(db, 1, "k")
	is.True(errors.Is(err, storage.ErrNotFound))
}

func TestOldAnswersAreDeletedInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		save := func(first, last int) {
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				for i := first; i <= last; i++ {
					if err := tx.SaveIdempotentReply(1, fmt.Sprint(i), storage.IdempotentReply{Fingerprint: []byte("f"), Body: []byte{}}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		save(1, 5)
		time.Sleep(24 * time.Hour)
		save(6, 7)
		for _, want := range []int64{2, 2, 1, 0} {
			is.Equal(update(t, db, func(tx *storage.Tx) (int64, error) { return tx.DeleteOldIdempotentReplies(tx.Now, 2) }), want)
		}
		var left []string
		storagetest.View(t, db, func(rx *storage.Rx) error { return rx.List(&left, `SELECT key FROM idempotency ORDER BY key`) })
		is.Equal(left, []string{"6", "7"})
	})
}
