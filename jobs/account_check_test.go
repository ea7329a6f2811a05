package jobs_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// shown is a number as the provider shows it.
func shown(status, health string) *http.Response {
	return answered(200, fmt.Sprintf(`{"id":"1","display_phone_number":"+1 631-555-0100","verified_name":"Lucky Shrub","status":%q,"health_status":{"can_send_message":%q}}`, status, health))
}

// templates is a page of the provider's templates.
func templates(items ...string) *http.Response {
	return answered(200, `{"data":[`+strings.Join(items, ",")+`]}`)
}

// template is one of the provider's templates.
func template(name, status, category, text string) string {
	return fmt.Sprintf(`{"id":"7%s","name":%q,"language":"en_US","status":%q,"category":%q,"components":[{"type":"BODY","text":%q}],"rejected_reason":"NONE"}`, name, name, status, category, text)
}

// asked answers by the edge of the call: a number, or its templates.
func asked(number func() *http.Response, list func() *http.Response) func(int, call) (*http.Response, error) {
	return func(_ int, c call) (*http.Response, error) {
		if strings.HasSuffix(c.path, "/message_templates") {
			return list(), nil
		}
		return number(), nil
	}
}

func (w *world) detail(a storage.Account) (d storage.AccountDetail) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { d, err = rx.AccountDetail(a.ID); return err })
	return d
}

// stateOf is an account in one line: status, provider's status, restricted.
func (w *world) stateOf(a storage.Account) string {
	w.t.Helper()
	d := w.detail(a)
	return fmt.Sprint(d.Status, " ", *d.ProviderStatus, " ", d.Restricted)
}

// check has an account checked and waits for the end of it.
func (w *world) check(a storage.Account) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueAccountCheck(tx, a.ID) })
	synctest.Wait()
}

// kept lists the stored templates, as "name status category content".
func (w *world) kept(a storage.Account) (all []string) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) error {
		rows, err := rx.AllTemplates(a.ID)
		for _, t := range rows {
			all = append(all, fmt.Sprintf("%s %s %s %s", t.Name, t.Status, t.Category, t.Content))
		}
		return err
	})
	slices.Sort(all)
	return all
}

func TestACheckMovesAnAccountAsTheProviderStands(t *testing.T) {
	for _, c := range []struct {
		before         string
		restricted     bool
		status, health string
		after          string
		reason         string
	}{
		{"connected", false, "CONNECTED", "AVAILABLE", "connected CONNECTED false", ""},
		{"connected", false, "CONNECTED", "LIMITED", "connected CONNECTED false", ""},
		{"connected", false, "CONNECTED", "BLOCKED", "connected CONNECTED true", ""},
		{"connected", true, "CONNECTED", "AVAILABLE", "connected CONNECTED false", ""},
		{"connected", true, "CONNECTED", "", "connected CONNECTED true", ""},
		{"connected", false, "FLAGGED", "BLOCKED", "degraded FLAGGED false", "FLAGGED"},
		{"connected", false, "RESTRICTED", "BLOCKED", "degraded RESTRICTED true", "RESTRICTED"},
		{"connected", false, "BANNED", "BLOCKED", "degraded BANNED true", "BANNED"},
		{"connected", false, "DISCONNECTED", "BLOCKED", "degraded DISCONNECTED false", "DISCONNECTED"},
		{"degraded", true, "CONNECTED", "AVAILABLE", "connected CONNECTED false", ""},
		{"degraded", false, "PENDING", "BLOCKED", "degraded PENDING false", "PENDING"},
		{"onboarding", false, "PENDING", "BLOCKED", "onboarding PENDING false", ""},
		{"onboarding", false, "CONNECTED", "AVAILABLE", "connected CONNECTED false", ""},
		{"disconnected", false, "CONNECTED", "AVAILABLE", "connected CONNECTED false", ""},
		{"disconnected", false, "DISCONNECTED", "BLOCKED", "disconnected DISCONNECTED false", "a test"},
	} {
		t.Run(fmt.Sprint(c.before, c.restricted, c.status, c.health), func(t *testing.T) {
			bubble(t, func(w *world) {
				storagetest.Update(t, w.db, func(tx *storage.Tx) error {
					if c.restricted {
						if err := tx.SetRestricted(w.account.ID, true); err != nil {
							return err
						}
					}
					reason := "a test"
					if c.before == "connected" || c.before == "onboarding" {
						reason = ""
					}
					return tx.MarkAccountStatus(w.account.ID, c.before, reason)
				})
				w.provider.answer = asked(func() *http.Response { return shown(c.status, c.health) }, func() *http.Response { return templates() })
				w.start()
				w.check(w.account)
				w.is.Equal(w.stateOf(w.account), c.after)
				d := w.detail(w.account)
				if c.reason == "" {
					w.is.Equal(d.StatusReason, nil)
				} else {
					w.is.True(strings.Contains(*d.StatusReason, c.reason))
				}
				w.is.Equal(*d.Name+" "+*d.PhoneNumber, "Lucky Shrub +16315550100")
			})
		})
	}
}

func TestACheckLearnsFromRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status, code int
		after        string
	}{
		"an expired token":       {401, 190, "degraded CONNECTED false"},
		"a lost permission":      {403, 200, "degraded CONNECTED false"},
		"a number that is gone":  {400, 33, "disconnected CONNECTED false"},
		"a policy":               {403, 368, "connected CONNECTED true"},
		"a word nobody explains": {400, 100, "connected CONNECTED false"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(int, call) (*http.Response, error) { return refusing(c.status, c.code), nil }
				w.start()
				w.check(w.account)
				w.is.Equal(w.stateOf(w.account), c.after)
				time.Sleep(10 * time.Minute)
				w.is.Equal(len(w.provider.calls()), 1) // asking again would change nothing
			})
		})
	}
}

func TestEveryHourAccountsAreCheckedEachForItself(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"account.check_all"}
		broken, gone := storagetest.Connect(t, w.db, w.tenant, "100200301"), storagetest.Connect(t, w.db, w.tenant, "100200302")
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			return tx.MarkAccountStatus(gone.ID, storage.AccountDisconnected, "Removed.")
		})
		last := storagetest.Connect(t, w.db, w.tenant, "100200303")
		w.provider.answer = func(_ int, c call) (*http.Response, error) {
			switch {
			case strings.Contains(c.path, "100200301"):
				return answered(500, "<html>"), nil
			case strings.HasSuffix(c.path, "/message_templates"):
				return templates(template("welcome", "APPROVED", "UTILITY", "Hi")), nil
			case strings.Contains(c.path, "100200303"):
				return shown("FLAGGED", "BLOCKED"), nil
			}
			return shown("CONNECTED", "AVAILABLE"), nil
		}
		w.start()
		w.is.Equal(len(w.provider.calls()), 0) // they were just connected
		time.Sleep(time.Hour + time.Minute)
		w.is.Equal(w.stateOf(w.account), "connected CONNECTED false")
		w.is.Equal(w.stateOf(broken), "connected CONNECTED false")
		w.is.Equal(w.stateOf(gone), "disconnected CONNECTED false")
		w.is.Equal(w.stateOf(last), "degraded FLAGGED false")
		w.is.Equal(w.kept(w.account), []string{"welcome approved UTILITY Hi"})
		count := func(number string) (n int) {
			for _, c := range w.provider.calls() {
				if strings.HasSuffix(c.path, "/"+number) {
					n++
				}
			}
			return n
		}
		w.is.Equal(count("100200300"), 1)
		w.is.Equal(count("100200301"), 3) // tried a few times and left to the next hour
		w.is.Equal(count("100200302"), 0)
		time.Sleep(time.Hour)
		w.is.Equal(count("100200300"), 2)
		w.is.Equal(count("100200301"), 6)
		w.is.Equal(count("100200303"), 2)
	})
}

// TestANumberThatIsDisconnectedBeforeItsTurnStaysSo: a check that nobody asked for connects none.
func TestANumberThatIsDisconnectedBeforeItsTurnStaysSo(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"account.check_all"}
		var last storage.Account
		for n := range 6 { // more than are checked at once
			last = storagetest.Connect(t, w.db, w.tenant, fmt.Sprint(100200301+n))
		}
		w.provider.answer = func(_ int, c call) (*http.Response, error) {
			switch {
			case strings.HasSuffix(c.path, "/message_templates"):
				return templates(), nil
			case strings.HasSuffix(c.path, "/100200300"):
				storagetest.Update(t, w.db, func(tx *storage.Tx) error {
					return tx.MarkAccountStatus(last.ID, storage.AccountDisconnected, "Asked for.")
				})
			}
			time.Sleep(time.Second)
			return shown("CONNECTED", "AVAILABLE"), nil
		}
		w.start()
		time.Sleep(time.Hour + time.Minute)
		w.is.Equal(w.detail(last).Status, storage.AccountDisconnected)
	})
}

func TestACheckIsRepeatedUntilTheProviderAnswers(t *testing.T) {
	bubble(t, func(w *world) {
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			return tx.MarkAccountStatus(w.account.ID, storage.AccountDisconnected, "Removed.")
		})
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n < 6 {
				return answered(503, ""), nil
			}
			if strings.HasSuffix(c.path, "/message_templates") {
				return answered(500, ""), nil // which does not undo the rest
			}
			return shown("CONNECTED", "AVAILABLE"), nil
		}
		w.start()
		w.check(w.account)
		w.is.Equal(w.detail(w.account).Status, storage.AccountDisconnected)
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.detail(w.account).Status, storage.AccountConnected)
	})
}

func TestACheckDoesNotUndoWhatIsNewer(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = asked(func() *http.Response {
			time.Sleep(time.Second)
			storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.SetRestricted(w.account.ID, true) }) // by a callback, meanwhile
			return shown("CONNECTED", "AVAILABLE")
		}, func() *http.Response { return templates() })
		w.start()
		w.check(w.account)
		time.Sleep(time.Minute)
		w.is.True(w.detail(w.account).Restricted)
	})
}

func TestACheckOfARemovedAccountIsNothing(t *testing.T) {
	bubble(t, func(w *world) {
		w.start()
		storagetest.Exec(t, w.dir, `UPDATE accounts SET deleted_at = 1`)
		w.check(w.account)
		w.is.Equal(len(w.provider.calls()), 0)
	})
}
