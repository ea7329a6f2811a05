package jobs_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestSomeCodesChangeTheAccount(t *testing.T) {
	for code, want := range map[int]struct{ status, code, later string }{
		190:    {storage.AccountDegraded, "auth_expired", "upstream_error"},
		131005: {storage.AccountDegraded, "permission_revoked", "upstream_error"},
		133010: {storage.AccountDegraded, "upstream_error", "upstream_error"},
		33:     {storage.AccountDisconnected, "upstream_error", "upstream_error"},
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			bubble(t, func(w *world) {
				id := w.refused(code)
				w.is.Equal(*w.message(id).ErrorCode, want.code)
				s := w.sender()
				w.is.Equal(s.Status, want.status)

				next := w.text() // accepted just before, and not sent to a provider that says no
				synctest.Wait()
				w.is.Equal(*w.message(next).ErrorCode, want.later)
				w.is.Equal(len(w.provider.calls()), 1)
				about, told := w.failure()
				w.is.Equal(about, next)
				w.is.Equal(told, -1) // our own refusal
			})
		})
	}
}

// The provider reports a restriction by callback. A message that it refuses for
// one fails alone.
func TestARefusedMessageRestrictsNoAccount(t *testing.T) {
	for code, want := range map[int]string{368: "policy_violation", 131031: "account_locked", 131037: "account_restricted", 131042: "account_restricted"} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(n int, _ call) (*http.Response, error) {
					if n == 1 {
						return refusing(403, code), nil
					}
					return accepted("wamid.after"), nil
				}
				w.start()
				id := w.text()
				synctest.Wait()
				w.is.Equal(*w.message(id).ErrorCode, want)
				w.is.Equal(*w.message(id).ErrorProviderCode, code)
				s := w.sender()
				w.is.Equal(s.Status, storage.AccountConnected)
				w.is.True(!s.Restricted)

				next := w.text()
				synctest.Wait()
				w.is.Equal(w.message(next).Status, storage.MessageSent)
			})
		})
	}
}

func TestAStoppedContactIsRemembered(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, 131050), nil }
		w.start()
		id := w.text()
		synctest.Wait()
		w.is.Equal(*w.message(id).ErrorCode, "marketing_blocked_by_user")
		storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
			c, err := rx.Contact(w.account.ID, w.message(id).ContactID)
			w.is.True(c.MarketingOptedOut)
			return err
		})
	})
}

func TestWhatMayNotBeSentAnyMoreFailsWithoutACall(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		code   string
	}{
		"suspended organization": {func(w *world) { w.setOrganization(func(o *storage.Organization) { o.SuspendedAt = storage.Now() }) }, "organization_suspended"},
		"inactive subscription": {func(w *world) {
			w.setOrganization(func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
		}, "subscription_inactive"},
		"suspended customer":   {func(w *world) { w.setCustomer("suspended") }, "customer_suspended"},
		"archived customer":    {func(w *world) { w.setCustomer("archived") }, "customer_suspended"},
		"disconnected account": {func(w *world) { w.setAccount(storage.AccountDisconnected) }, "upstream_error"},
		"onboarding account":   {func(w *world) { w.setAccount(storage.AccountOnboarding) }, "whatsapp_number_not_verified"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				id := w.text() // accepted in better times
				c.change(w)
				w.start()
				synctest.Wait()
				m := w.message(id)
				w.is.Equal(m.Status, storage.MessageFailed)
				w.is.Equal(*m.ErrorCode, c.code)
				w.is.True(m.ErrorProviderCode == nil)
				about, told := w.failure()
				w.is.Equal(about, id)
				w.is.Equal(told, -1)
				w.is.Equal(w.events(), []string{"message.status " + id})
				w.is.Equal(len(w.provider.calls()), 0)
				w.is.Equal(w.jobs(), 0)
			})
		})
	}
}

func TestAnActiveCustomersNumberSends(t *testing.T) {
	bubble(t, func(w *world) {
		w.setCustomer("active")
		w.start()
		id := w.text()
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	})
}

func TestACoolingAccountMakesLaterMessagesWait(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, _ call) (*http.Response, error) {
			if n == 1 {
				return refusing(400, 131048), nil
			}
			return accepted("wamid.after"), nil
		}
		w.start()
		first := w.text()
		synctest.Wait()
		w.is.Equal(*w.message(first).ErrorCode, "account_rate_limited")
		w.is.Equal(*w.message(first).ErrorProviderCode, 131048)

		time.Sleep(time.Minute)
		later := w.text()
		time.Sleep(13*time.Minute + 59*time.Second)
		w.is.Equal(w.message(later).Status, storage.MessageQueued)
		w.is.Equal(len(w.provider.calls()), 1)
		time.Sleep(2 * time.Second)
		w.is.Equal(w.message(later).Status, storage.MessageSent) // fifteen minutes after the refusal
	})
}

func TestMessagesThatWaitTooLongForTheirAccountFail(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, 80007), nil }
		w.start()
		first := w.text() // its retries keep the account cooling
		time.Sleep(time.Minute)
		later := w.text()
		time.Sleep(14*time.Minute + 59*time.Second)
		w.is.Equal(w.message(later).Status, storage.MessageQueued)
		time.Sleep(2 * time.Second)
		m := w.message(later)
		w.is.Equal(m.Status, storage.MessageFailed)
		w.is.Equal(*m.ErrorCode, "account_rate_limited")
		w.is.True(m.ErrorProviderCode == nil)
		about, told := w.failure()
		w.is.Equal(about, later)
		w.is.Equal(told, -1)
		time.Sleep(time.Hour)
		w.is.True(len(w.provider.calls()) > 1)
		for _, c := range w.provider.calls() {
			w.is.Equal(c.tag(), first) // nothing else was tried
		}
		w.is.Equal(*w.message(first).ErrorProviderCode, 80007)
	})
}

func (w *world) setOrganization(change func(*storage.Organization)) {
	w.t.Helper()
	o := w.tenant.Organization
	change(&o)
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.UpdateOrganization(&o) })
}

func (w *world) setAccount(status string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(w.account.ID, status, "a test") })
}

// setCustomer makes the account a customer's.
func (w *world) setCustomer(status string) {
	w.t.Helper()
	storagetest.Exec(w.t, w.dir, `
		INSERT INTO customers (id, organization_id, team_id, name, status, created_at, updated_at)
		VALUES ('cus_1', ?, ?, 'Customer', ?, 1, 1)`, w.tenant.Organization.ID, w.tenant.Team.ID, status)
	storagetest.Exec(w.t, w.dir, `UPDATE accounts SET customer_id = 'cus_1' WHERE id = ?`, w.account.ID)
}
