package jobs_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// tries are the failed tries of a message that are kept.
func (w *world) tries(id string) (all []storage.MessageTry) {
	w.t.Helper()
	m := w.message(id)
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { all, err = rx.MessageTries(m); return err })
	return all
}

func TestFailedTriesAreKeptWithTheirAnswers(t *testing.T) {
	bubble(t, func(w *world) {
		answers := []func() (*http.Response, error){
			func() (*http.Response, error) {
				time.Sleep(210 * time.Millisecond)
				return answered(500, `{"error":{"code":131016,"message":"(#131016) down, token-100200300","error_data":{"details":"Service down."}}}`), nil
			},
			func() (*http.Response, error) { return nil, errors.New("connection reset") },
			func() (*http.Response, error) { return answered(502, "<html>"+strings.Repeat("é", 3000)), nil },
			func() (*http.Response, error) { return accepted("wamid.1"), nil },
		}
		w.provider.answer = func(n int, _ call) (*http.Response, error) { return answers[n-1]() }
		w.start()
		id := w.text()
		synctest.Wait()
		time.Sleep(time.Hour)
		w.is.Equal(w.message(id).Status, storage.MessageSent)

		tries := w.tries(id)
		w.is.Equal(len(tries), 3)
		first := tries[0]
		w.is.Equal([]any{first.Try, *first.HTTPStatus, *first.Code, first.Reason, first.DurationMS}, []any{1, 500, 131016, "Service down.", int64(210)})
		w.is.Equal(first.BeganAt, storage.At(w.began))
		w.is.True(strings.Contains(*first.Answer, `"details":"Service down."`))
		w.is.True(!strings.Contains(*first.Answer, "token-100200300")) // no secret is kept
		w.is.Equal([]any{tries[1].Try, tries[1].HTTPStatus, tries[1].Code, tries[1].Answer}, []any{2, (*int)(nil), (*int)(nil), (*string)(nil)})
		w.is.Equal(tries[1].Reason, "connection reset")
		w.is.True(len(*tries[2].Answer) <= 2048 && strings.HasPrefix(*tries[2].Answer, "<html>é")) // not all of a long one
	})
}

func TestTheTryThatEndsAMessageIsKeptToo(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, 131026), nil }
		w.start()
		id := w.text()
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageFailed)
		tries := w.tries(id)
		w.is.Equal(len(tries), 1)
		w.is.Equal(*tries[0].Code, 131026)

		// They go with their message.
		w.forget(w.message(id))
		w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT count(*) FROM message_tries`), []int{0})
	})
}

// A message that was deleted while it was tried leaves nothing, and none of another
// that has its row by then.
func TestATryOfADeletedMessageIsNotKept(t *testing.T) {
	bubble(t, func(w *world) {
		id := w.text()
		m := w.message(id)
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			gone := m
			gone.ID = w.db.NewID(storage.PrefixMessage)
			if err := tx.InsertMessageTry(gone, storage.MessageTry{Reason: "x"}); err != nil {
				return err
			}
			for range 110 {
				if err := tx.InsertMessageTry(m, storage.MessageTry{Reason: "x"}); err != nil {
					return err
				}
			}
			return nil
		})
		w.is.Equal(len(w.tries(id)), 100) // bounded
	})
}

func TestATryOfABroadcastSaysWhenItBegan(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) {
			time.Sleep(210 * time.Millisecond)
			return refusing(500, 131000), nil
		}
		w.start()
		b := w.broadcast(people(1))
		time.Sleep(10 * time.Second)

		tries := w.tries(*w.recipients(b)[0].MessageID)
		w.is.Equal(len(tries), 1)
		w.is.Equal(tries[0].DurationMS, int64(210))
		w.is.True(tries[0].BeganAt >= storage.At(w.began))
	})
}
