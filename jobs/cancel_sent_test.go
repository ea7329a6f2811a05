package jobs_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// holdWriter keeps everybody else from writing until the returned function is called.
func (w *world) holdWriter() (letGo func()) {
	w.t.Helper()
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- w.db.Update(w.t.Context(), func(*storage.Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	letGo = sync.OnceFunc(func() {
		close(free)
		w.is.NoErr(<-done)
	})
	w.t.Cleanup(letGo) // a test that fails must not hang
	return letGo
}

// The provider has the message before that is stored. A client that cancels it in between would
// get the answer that it was not sent.
func TestAMessageThatTheProviderHasIsNotCancelledBeforeThatIsStored(t *testing.T) {
	for name, answer := range map[string]func(int, call) (*http.Response, error){
		"taken":   each,
		"unknown": func(int, call) (*http.Response, error) { return nil, http.ErrServerClosed },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				begun, letAnswer := make(chan struct{}), make(chan struct{})
				w.provider.answer = func(n int, c call) (*http.Response, error) {
					if n == 1 {
						close(begun)
						<-letAnswer
					}
					return answer(n, c)
				}
				w.start()
				id := w.text()
				<-begun
				w.is.True(!w.handlers.Calls.Cancel(w.t.Context(), id)) // the call is under way

				letGo := w.holdWriter()
				close(letAnswer)
				time.Sleep(5 * time.Second)
				w.is.Equal(w.message(id).Status, storage.MessageQueued) // as far as it is stored
				w.is.True(!w.handlers.Calls.Cancel(w.t.Context(), id))

				letGo()
				synctest.Wait()
				w.is.True(w.message(id).Status != storage.MessageQueued)
				w.is.True(w.handlers.Calls.Cancel(w.t.Context(), id)) // its status refuses it now
			})
		})
	}
}

// A run that does not return in time loses its job, which is stored as one whose call may
// have begun. The message is kept from being cancelled until that is stored too.
func TestAMessageOfALostRunIsNotCancelledBeforeThatIsStored(t *testing.T) {
	bubble(t, func(w *world) {
		begun, letAnswer := make(chan struct{}), make(chan struct{})
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				close(begun)
				<-letAnswer
				return nil, http.ErrServerClosed
			}
			return each(n, c)
		}
		w.start()
		id := w.text()
		<-begun

		letGo := w.holdWriter()
		time.Sleep(time.Hour) // the lease and its grace are over
		close(letAnswer)
		synctest.Wait()
		w.is.True(!w.handlers.Calls.Cancel(w.t.Context(), id))

		letGo()
		synctest.Wait()
		w.is.True(w.handlers.Calls.Cancel(w.t.Context(), id))
		w.handlers.Calls.EndCancel(id)
	})
}

// After a crash it is in no row which calls had begun, until the runner has freed what was running.
// A client that is faster is not told that its message was not sent.
func TestAMessageThatACrashCutOffIsNotCancelledBeforeThatIsStored(t *testing.T) {
	bubble(t, func(w *world) {
		id := w.text()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { // by the process that dies
			_, _, err := tx.ClaimDue("send", 1, time.Minute, func(string) bool { return true })
			return err
		})
		letGo := w.holdWriter()
		w.start()
		told := make(chan bool)
		go func() { told <- w.handlers.Calls.Cancel(w.t.Context(), id) }()
		synctest.Wait()
		select {
		case <-told:
			t.Fatal("it was told before the runner knew")
		default:
		}

		letGo()
		w.is.True(<-told)
		m := w.message(id)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			cancelled, err := jobs.CancelMessage(tx, &m)
			w.is.True(!cancelled) // its call may have begun
			return err
		})
		w.handlers.Calls.EndCancel(id)
	})
}
