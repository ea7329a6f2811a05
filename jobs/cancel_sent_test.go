package jobs_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
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
				w.is.True(!w.handlers.Calls.Cancel(id)) // the call is under way

				letGo := w.holdWriter()
				close(letAnswer)
				time.Sleep(5 * time.Second)
				w.is.Equal(w.message(id).Status, storage.MessageQueued) // as far as it is stored
				w.is.True(!w.handlers.Calls.Cancel(id))

				letGo()
				synctest.Wait()
				w.is.True(w.message(id).Status != storage.MessageQueued)
				w.is.True(w.handlers.Calls.Cancel(id)) // its status refuses it now
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
		w.is.True(!w.handlers.Calls.Cancel(id))

		letGo()
		synctest.Wait()
		w.is.True(w.handlers.Calls.Cancel(id))
		w.handlers.Calls.EndCancel(id)
	})
}
