package jobs_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestALinkThatCannotBeUsedIsNotConsumedLate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *signup, tx *storage.Tx) error
		wait   time.Duration
		want   string
	}{
		"in time": {func(*signup, *storage.Tx) error { return nil }, 58 * time.Minute, complete},
		"expired": {func(*signup, *storage.Tx) error { return nil }, time.Hour,
			"link expired phone_verification_failed, customer pending, account connected"},
		"revoked": {func(s *signup, tx *storage.Tx) error { return tx.RevokeSetupLink(&s.link) }, 0,
			"link revoked phone_verification_failed, customer pending, account connected"},
		"of an archived customer": {func(s *signup, tx *storage.Tx) error { return tx.ArchiveCustomer(&s.customer) }, 0,
			"link active phone_verification_failed, customer archived, account connected"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = steps(otherPINs)
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				w.start()
				time.Sleep(time.Minute)
				w.stop() // nothing else looks at the number
				storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return c.change(s, tx) })
				time.Sleep(c.wait)
				done, err := provisioning.NewAccounts(w.db, w.options.Provider).Register(w.t.Context(), s.account.ID, "246810")
				w.is.NoErr(err)
				storagetest.Update(w.t, w.db, done.Store)
				w.is.Equal(s.state(), c.want)
				w.is.Equal(len(w.types()), strings.Count(c.want, "consumed")*2) // both or none
			})
		})
	}
}

func TestANumberThatIsSignedUpAgainIsOnboardingMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		before    func(tx *storage.Tx, account int64) error
		code      int // what the provider has against it; 0 for nothing
		want, why string
	}{
		"a degraded one is mended": {func(tx *storage.Tx, id int64) error { return tx.MarkDegraded(id, "The token expired.") }, 0, "connected", ""},
		"a degraded one stays so":  {func(tx *storage.Tx, id int64) error { return tx.MarkDegraded(id, "The token expired.") }, 200, "degraded", "The token expired."},
		"with another PIN":         {func(tx *storage.Tx, id int64) error { return tx.MarkDegraded(id, "The token expired.") }, 133005, "degraded", "The token expired."},
		"a disconnected one stays so": {func(tx *storage.Tx, id int64) error { return tx.MarkAccountStatus(id, "disconnected", "") }, 200,
			"disconnected", ""},
		"one that waits for its PIN goes on waiting": {func(tx *storage.Tx, id int64) error { return tx.MarkAccountStatus(id, "onboarding", "Another PIN.") }, 200,
			"onboarding", "Another PIN."},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = steps(nil)
				s := w.invite()
				w.is.NoErr(s.begin("700800900", "777", "t"))
				w.start()
				time.Sleep(time.Minute)
				w.stop()
				storagetest.Exec(w.t, w.dir, `UPDATE setup_links SET status = 'active', consumed_at = 0`)
				storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return c.before(tx, s.account.ID) })
				w.provider.answer = steps(func(_ int, call call) *http.Response {
					if c.code != 0 && strings.HasSuffix(call.path, "/register") {
						return refusing(400, c.code)
					}
					return nil
				})
				w.is.NoErr(s.begin("700800900", "777", "t2"))
				w.is.Equal(s.account.Status, "onboarding")
				w.is.True(strings.HasSuffix(s.state(), "account onboarding, working"))
				w.start()
				time.Sleep(time.Minute)
				storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
					a, err := rx.AccountDetail(s.account.ID)
					w.is.Equal(a.Status, c.want)
					w.is.Equal(a.StatusReason != nil, c.why != "")
					w.is.True(c.why == "" || *a.StatusReason == c.why)
					return err
				})
			})
		})
	}
}

// A request that came between the last call of a signup and its commit would
// register the number once more, and its result would be lost.
func TestANumberIsReservedUntilItsSignupIsStored(t *testing.T) {
	bubble(t, func(w *world) {
		held, store := make(chan struct{}), make(chan struct{})
		answer := steps(nil)
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			<-held
			return answer(n, c)
		}
		s := w.invite()
		w.start()
		w.is.NoErr(s.begin("700800900", "777", "t"))
		go w.db.Update(w.t.Context(), func(*storage.Tx) error { close(held); <-store; return nil })
		synctest.Wait() // the calls are made, and the commit waits for the writer
		w.is.Equal(s.state(), under)
		_, err := w.handlers.Accounts.Register(w.t.Context(), s.account.ID, "246810")
		w.is.Equal(err, provisioning.ErrRegistering)
		close(store)
		synctest.Wait()
		w.is.Equal(s.state(), complete)
		done, err := w.handlers.Accounts.Register(w.t.Context(), s.account.ID, "246810")
		w.is.NoErr(err)
		done.Release()
	})
}
