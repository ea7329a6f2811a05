package jobs_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"confab/jobs/provisioning"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestTemplatesFollowTheProvider(t *testing.T) {
	bubble(t, func(w *world) {
		list := []string{template("a", "PENDING", "UTILITY", "A"), template("b", "APPROVED", "MARKETING", "B"), template("c", "IN_APPEAL", "UTILITY", "C")}
		w.provider.answer = asked(func() *http.Response { return shown("CONNECTED", "AVAILABLE") }, func() *http.Response { return templates(list...) })
		w.start()
		w.check(w.account)
		w.is.Equal(w.kept(w.account), []string{"a pending UTILITY A", "b approved MARKETING B", "c pending UTILITY C"})
		list = []string{template("a", "PAUSED", "UTILITY", "A"), template("c", "APPROVED", "marketing", "C2"), template("d", "FLAGGED", "UTILITY", "D")}
		w.check(w.account)
		w.is.Equal(w.kept(w.account), []string{"a rejected UTILITY A", "c approved MARKETING C2", "d approved UTILITY D"})
	})
}

func TestASyncCountsWhatItDoes(t *testing.T) {
	bubble(t, func(w *world) {
		var list []string
		w.provider.answer = asked(nil, func() *http.Response { return templates(list...) })
		w.start()
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		sync := func() string {
			t.Helper()
			s, err := accounts.SyncTemplates(w.t.Context(), w.account.ID)
			w.is.NoErr(err)
			return fmt.Sprint(s.Created, s.Updated, s.Deleted, s.Synced)
		}
		w.is.Equal(sync(), "0 0 0 0")
		for i := range 250 { // more than one transaction takes
			list = append(list, template(fmt.Sprint("t", i), "APPROVED", "UTILITY", "Hi"))
		}
		w.is.Equal(sync(), "250 0 0 250")
		w.is.Equal(len(w.kept(w.account)), 250)
		w.is.Equal(sync(), "0 0 0 250")
		list[7] = template("t7", "PAUSED", "UTILITY", "Hi")
		list = list[:240]
		w.is.Equal(sync(), "0 1 10 240")
		list[7] = storagetest.Swap(t, list[7], `"type":"BODY","text":"Hi"`, `"text" : "Hi",  "type":"BODY"`) // the same, written otherwise
		w.is.Equal(sync(), "0 0 0 240")
		list = append(list, list[3]) // a page that repeats one
		w.is.Equal(sync(), "0 0 0 240")
		var ids struct{ A, B string }
		storagetest.View(t, w.db, func(rx *storage.Rx) error {
			one, err := rx.Template(w.account.ID, "t7", "en_US")
			ids.A = one.ID
			return err
		})
		list[7] = template("t7", "APPROVED", "UTILITY", "Hello")
		w.is.Equal(sync(), "0 1 0 240")
		storagetest.View(t, w.db, func(rx *storage.Rx) error {
			one, err := rx.Template(w.account.ID, "t7", "en_US")
			ids.B = one.ID
			w.is.Equal(one.Content, "Hello")
			return err
		})
		w.is.Equal(ids.A, ids.B) // a template keeps its id
	})
}

func TestASyncDoesNotUndoWhatIsNewer(t *testing.T) {
	bubble(t, func(w *world) {
		list := []string{template("a", "PENDING", "UTILITY", "A"), template("b", "APPROVED", "UTILITY", "B")}
		meanwhile := func() {}
		w.provider.answer = asked(nil, func() *http.Response {
			meanwhile()
			return templates(list...)
		})
		w.start()
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		_, err := accounts.SyncTemplates(w.t.Context(), w.account.ID)
		w.is.NoErr(err)
		time.Sleep(time.Second)
		list = []string{template("a", "PENDING", "MARKETING", "A"), template("b", "PAUSED", "UTILITY", "B"), template("c", "PENDING", "UTILITY", "C")}
		meanwhile = func() { // a verdict, and what was submitted
			storagetest.Update(t, w.db, func(tx *storage.Tx) error {
				a, err := tx.Template(w.account.ID, "a", "en_US")
				w.is.NoErr(err)
				a.Status, a.ProviderStatus = storage.TemplateApproved, "APPROVED"
				w.is.NoErr(tx.UpdateTemplate(&a))
				return tx.InsertTemplate(&storage.Template{AccountID: w.account.ID, Name: "c", Language: "en_US", Status: storage.TemplateApproved,
					Category: "UTILITY", ParameterFormat: "POSITIONAL", Content: "C", Components: storage.JSON("[]")})
			})
		}
		_, err = accounts.SyncTemplates(w.t.Context(), w.account.ID)
		w.is.NoErr(err)
		w.is.Equal(w.kept(w.account), []string{"a approved UTILITY A", "b rejected UTILITY B", "c approved UTILITY C"})
	})
}

func TestAnIncompleteListDeletesNothing(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = asked(nil, func() *http.Response { return templates(template("a", "APPROVED", "UTILITY", "A")) })
		w.start()
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		w.is.NoErr(accounts.SyncTemplatesOnce(w.t.Context(), w.account.ID))
		first := true
		w.provider.answer = asked(nil, func() *http.Response {
			if first {
				first = false
				return answered(200, `{"data":[`+template("b", "APPROVED", "UTILITY", "B")+`],"paging":{"cursors":{"after":"x"},"next":"https://provider.test/next"}}`)
			}
			return answered(500, "")
		})
		_, err := accounts.SyncTemplates(w.t.Context(), w.account.ID)
		w.is.True(err != nil)
		w.is.Equal(w.kept(w.account), []string{"a approved UTILITY A"})
	})
}

func TestALookUpIsMadeOnceAMinuteAndOnceForAll(t *testing.T) {
	bubble(t, func(w *world) {
		fail := true
		w.provider.answer = asked(nil, func() *http.Response {
			time.Sleep(time.Second)
			if fail {
				return answered(500, "")
			}
			return templates(template("a", "APPROVED", "UTILITY", "A"))
		})
		w.start()
		other := storagetest.Connect(t, w.db, w.tenant, "100200301")
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		together := func(a storage.Account, n int) (failed int) {
			results := make(chan error, n)
			for range n {
				go func() { results <- accounts.SyncTemplatesOnce(w.t.Context(), a.ID) }()
			}
			for range n {
				if <-results != nil {
					failed++
				}
			}
			return failed
		}
		w.is.Equal(together(w.account, 5), 5) // all hear of the one failure
		w.is.Equal(len(w.provider.calls()), 1)
		fail = false
		w.is.Equal(together(w.account, 5), 0) // which is no answer for a minute
		w.is.Equal(len(w.provider.calls()), 2)
		time.Sleep(58 * time.Second)
		w.is.Equal(together(w.account, 5), 0)
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(together(other, 2), 0) // another account has a minute of its own
		w.is.Equal(len(w.provider.calls()), 3)
		time.Sleep(2 * time.Second)
		w.is.Equal(together(w.account, 5), 0)
		w.is.Equal(len(w.provider.calls()), 4)
		w.is.Equal(w.kept(w.account), []string{"a approved UTILITY A"})
	})
}

func TestAPermissionThatOnlyManagingNeedsDegradesNothing(t *testing.T) {
	bubble(t, func(w *world) {
		w.start()
		accounts := provisioning.NewAccounts(w.db, w.options.Provider)
		for code, after := range map[int]string{200: "connected CONNECTED false", 190: "degraded CONNECTED false"} {
			storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.MarkAccountStatus(w.account.ID, storage.AccountConnected, "") })
			w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, code), nil }
			_, err := accounts.SyncTemplates(w.t.Context(), w.account.ID)
			w.is.True(err != nil)
			w.is.Equal(w.stateOf(w.account), after)
		}
	})
}
