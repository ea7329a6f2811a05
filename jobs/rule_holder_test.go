package jobs_test

import (
	"testing"
	"time"

	"confab/jobs/messaging"
	"confab/storage"
)

// TestAHoldThatHasEndedCountsForNothing before it is told, too.
func TestAHoldThatHasEndedCountsForNothing(t *testing.T) {
	ruling(t, func(w *world) {
		user := w.user("Ada")
		w.setOrganization(func(o *storage.Organization) { o.HandoverReturnMinutes = 60 })
		w.rule("free", `{"if":{"holder":"none"},"then":[{"note":"x"}],"once_per":"message"}`)
		w.start()
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"free note"})
		time.Sleep(time.Minute)
		w.handOver(messaging.User(&user.ID))
		w.says(ana, "hello")
		w.is.Equal(len(w.fired()), 0)

		time.Sleep(61 * time.Minute)
		w.is.Equal(len(w.handed()), 1) // nobody was told yet
		w.says(ana, "anybody?")
		w.is.Equal(w.fired(), []string{"free note"})
		w.handOver(messaging.User(&user.ID)) // who holds it anew
		time.Sleep(30 * time.Minute)
		w.is.Equal(w.held(), "user "+user.ID)
	})
}
