package jobs_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"confab/storage/storagetest"
)

// A message that the provider accepts, and an event that an endpoint takes, are among the
// busiest transactions.
func TestSendingAndDeliveringKeepToTheirBudget(t *testing.T) {
	deliveries(t, func(w *delivering) {
		w.text() // rows read once are in memory after this
		synctest.Wait()

		w.provider.answer = func(int, call) (*http.Response, error) { return accepted("wamid.2"), nil }
		done := storagetest.Statements(t, w.db, w.dir, func() {
			w.text()
			synctest.Wait()
		})
		w.is.Equal(done[len(done)-2:], [][]string{
			{"DELETE jobs 5", "UPDATE messages 4", "INSERT events 5", "INSERT jobs 6", "INSERT deliveries 9", "INSERT message_hours 2"},
			{"DELETE jobs 5", "UPDATE deliveries 5", "INSERT delivery_hours 2"},
		})
	})
}
