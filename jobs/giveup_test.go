package jobs_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestAnIDThatTheProviderGivesTwiceDoesNotSendTwice(t *testing.T) {
	bubble(t, func(w *world) { // whose provider answers wamid.1 to everything
		w.start()
		first, second := w.text(), w.text()
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(w.message(first).Status, storage.MessageSent)
		w.is.Equal(w.message(second).Status, storage.MessageSent)
	})
}

func TestTheAddresseeIsTheOneThatWasAccepted(t *testing.T) {
	bubble(t, func(w *world) {
		id := w.text()
		contact := w.message(id).ContactID
		storagetest.Exec(t, w.dir, `UPDATE contacts SET phone_number = NULL, bsuid = 'US.1' WHERE id = ?`, contact)
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.Equal(strings.Contains(w.provider.calls()[0].body, `"to":"+15550001111"`), true)
		w.is.Equal(*w.message(id).To(), "+15550001111")
	})
}

func TestATokenThatCannotBeReadEndsTheMessageAndDegradesTheAccount(t *testing.T) {
	bubble(t, func(w *world) {
		storagetest.Exec(t, w.dir, `UPDATE accounts SET access_token = x'00'`)
		id := w.text()
		w.start()
		time.Sleep(time.Second)
		m := w.message(id)
		w.is.Equal(m.Status, storage.MessageFailed)
		w.is.Equal(*m.ErrorCode, "auth_expired")
		w.is.Equal(len(w.provider.calls()), 0)
		storagetest.View(t, w.db, func(rx *storage.Rx) error {
			s, err := rx.Sender(w.account.ID)
			w.is.Equal(s.Status, storage.AccountDegraded)
			return err
		})
	})
}

// A database that cannot be read, such as that of a server that stops, says nothing of a token.
func TestATokenThatCannotBeReadForNowIsReadLater(t *testing.T) {
	bubble(t, func(w *world) {
		rename := func(from, to string) {
			storagetest.Exec(t, w.dir, `ALTER TABLE accounts RENAME COLUMN `+from+` TO `+to)
		}
		id := w.text()
		rename("access_token", "gone")
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(w.message(id).Status, storage.MessageQueued)

		rename("gone", "access_token")
		time.Sleep(time.Hour)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.Equal(w.detail(w.account).Status, storage.AccountConnected)
	})
}

func TestASendJobThatIsGivenUpEndsItsMessage(t *testing.T) {
	bubble(t, func(w *world) {
		id := w.text()
		storagetest.Exec(t, w.dir, `UPDATE jobs SET crashes = 11`)
		w.start()
		time.Sleep(time.Second)
		m := w.message(id)
		w.is.Equal(m.Status, storage.MessageFailed)
		w.is.Equal(*m.ErrorCode, "upstream_error")
	})
}

func TestAnUnknownOutcomeOfTheLastTryWaitsForACallbackToo(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.SendRetries = nil
		w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
		id := w.text()
		w.start()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		w.is.True(w.message(id).Status != storage.MessageFailed) // a callback may still come
		time.Sleep(time.Minute)
		w.is.Equal(w.message(id).Status, storage.MessageFailed)
		w.is.Equal(len(w.provider.calls()), 1)
	})
}

func TestAMessageOfARemovedAccountFails(t *testing.T) {
	for name, accept := range map[string]func(w *world) (id string){
		"before there is a server": (*world).text,
		"between two tries": func(w *world) string {
			w.provider.answer = busy
			w.start()
			return w.text()
		},
		"before its turn": func(w *world) string {
			w.options.MessagesPerSecond = 0.01
			w.start()
			w.text()
			synctest.Wait()
			return w.text()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				id := accept(w)
				synctest.Wait()
				calls := len(w.provider.calls())
				storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.RemoveAccount(w.account.ID, "removed") })
				if w.stop == nil {
					w.start()
				}
				time.Sleep(time.Hour)
				m := w.message(id)
				w.is.Equal(m.Status, storage.MessageFailed)
				w.is.Equal(*m.ErrorCode, "upstream_error")
				w.is.Equal(*m.ErrorMessage, "The account was removed.")
				w.is.Equal(len(w.provider.calls()), calls) // nothing goes out any more
				w.is.Equal(w.jobs(), 0)
			})
		})
	}
}
