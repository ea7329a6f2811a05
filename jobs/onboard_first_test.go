package jobs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// again gives the customer of a signup another link.
func (s *signup) again() {
	s.t.Helper()
	storagetest.Update(s.t, s.db, func(tx *storage.Tx) (err error) {
		s.link = storage.SetupLink{CustomerID: s.customer.ID, ExpiresAt: tx.Now.Add(time.Hour)}
		s.token, err = tx.InsertSetupLink(&s.link)
		return err
	})
}

// Each number of a customer is reported, and which was its first. A subscriber to one number
// hears of that one only.
func TestANumbersOnboardingIsToldToThoseWhoListenToIt(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = steps(nil)
		subscriptions := make(map[string]string)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			for name, numbers := range map[string]storage.Strings{"all": nil, "first": {"700800900"}, "second": {"700800901"}, "other": {"100200300"}} {
				sub := storage.Subscription{
					OrganizationID: w.tenant.Organization.ID, URL: "https://" + name + ".test", Events: storage.Strings{"*"},
					PhoneNumberIDs: numbers, Status: storage.WebhookPaused,
				}
				if _, err := tx.InsertSubscription(&sub); err != nil {
					return err
				}
				subscriptions[sub.ID] = name
			}
			return nil
		})
		w.start()
		s := w.invite()
		w.is.NoErr(s.begin("700800900", "777", "EAAtoken"))
		time.Sleep(time.Second)
		s.again()
		w.is.NoErr(s.begin("700800901", "777", "EAAtoken"))
		time.Sleep(time.Second)

		var firsts []string
		for _, e := range w.stored() {
			if e.Type != "customer.onboarded" {
				continue
			}
			var told struct {
				Data struct {
					PhoneNumberID string `json:"phone_number_id"`
					First         *bool
				}
			}
			w.is.NoErr(json.Unmarshal(e.Payload, &told))
			firsts = append(firsts, fmt.Sprint(told.Data.PhoneNumberID, " ", *told.Data.First))
		}
		w.is.Equal(firsts, []string{"700800900 true", "700800901 false"})

		heard := make(map[string]int)
		for _, id := range storagetest.Select[string](t, w.dir, `SELECT subscription_id FROM deliveries WHERE event_type = 'customer.onboarded'`) {
			heard[subscriptions[id]]++
		}
		w.is.Equal(heard, map[string]int{"all": 2, "first": 1, "second": 1})
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT 1 FROM deliveries WHERE event_type = 'customer.setup_link.consumed'`)), 8) // it names no number
	})
}
