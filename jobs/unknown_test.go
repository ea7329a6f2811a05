package jobs_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestATimedOutSendThatACallbackSettlesIsNotSentAgain(t *testing.T) {
	for _, reported := range []string{"sent", "delivered", "read", "failed"} {
		t.Run(reported, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
				w.start()
				id := w.text()
				time.Sleep(11 * time.Second)
				w.is.Equal(w.message(id).Status, storage.MessagePending)
				w.report("wamid.lost", reported, id)
				w.report("wamid.lost", reported, id)
				time.Sleep(time.Hour)
				w.is.Equal(len(w.provider.calls()), 1)
				w.is.Equal(w.message(id).Status, reported)
				w.is.Equal(*w.message(id).ProviderID, "wamid.lost")
				w.is.Equal(w.events(), []string{"message.sent " + id + ":sent", "message.status wamid.lost"})
				w.is.Equal(w.jobs(), 0)
			})
		})
	}
}

func TestACallbackMayOvertakeTheAnswer(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(_ int, c call) (*http.Response, error) {
			w.report("wamid.1", "delivered", c.tag()) // before the send's own commit
			return accepted("wamid.1"), nil
		}
		w.start()
		id := w.text()
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageDelivered)
		w.is.Equal(w.events(), []string{"message.sent " + id + ":sent", "message.status wamid.1"})
		w.is.Equal(w.jobs(), 0)
	})
}

func TestAnUntaggedCallbackThatOvertakesTheAnswerIsParked(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) {
			w.report("wamid.1", "read", "")
			w.report("wamid.1", "sent", "")
			w.report("wamid.1", "read", "")
			return accepted("wamid.1"), nil
		}
		w.start()
		id := w.text()
		synctest.Wait()
		w.is.Equal(w.message(id).Status, storage.MessageRead)
		w.is.Equal(w.events(), []string{"message.sent " + id + ":sent", "message.status wamid.1", "message.status wamid.1"})
		w.is.Equal(len(storagetest.Select[string](w.t, w.dir, `SELECT provider_id FROM parked_statuses`)), 0)
	})
}

func TestASecondCopysCallbackDoesNotMoveTheMessage(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				return hang(c) // and yet it was accepted, as wamid.first
			}
			return accepted("wamid.second"), nil
		}
		w.start()
		id := w.text()
		time.Sleep(5 * time.Minute)
		w.is.Equal(*w.message(id).ProviderID, "wamid.second")
		w.report("wamid.first", "failed", id)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.Equal(w.events(), []string{"message.sent " + id + ":sent"})
	})
}

func TestAGivenUpMessageStaysFailedWhateverComesLater(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
		w.start()
		id := w.text()
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 5)
		w.report("wamid.late", "delivered", id)
		w.is.Equal(w.message(id).Status, storage.MessageFailed)
		w.is.Equal(*w.message(id).ProviderID, "wamid.late")
		w.is.Equal(w.events(), []string{"message.status " + id, "message.status wamid.late"}) // it was not "sent": it failed
		w.report("wamid.late", "failed", id)
		w.is.Equal(*w.message(id).ErrorMessage, "The provider could not be reached.") // the reason that was reported first
		w.is.Equal(len(w.events()), 3)
	})
}

func TestATimedOutSendWaitsForCallbacksAfterARestart(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(_ int, c call) (*http.Response, error) { return hang(c) }
		w.start()
		id := w.text()
		time.Sleep(11 * time.Second)
		w.stop()
		time.Sleep(time.Hour) // its retry is long due, and its callback has waited all the time
		w.start()
		time.Sleep(10 * time.Second)
		w.report("wamid.lost", "sent", id)
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.Equal(w.events(), []string{"message.sent " + id + ":sent", "message.status wamid.lost"})
	})
}

func TestAnUnknownOutcomeIsNotRepeatedWithinTheWindowWhateverTheSchedule(t *testing.T) {
	bubble(t, func(w *world) {
		w.options.SendRetries = []time.Duration{time.Second, time.Second}
		w.provider.answer = func(n int, _ call) (*http.Response, error) {
			if n == 1 {
				return answered(502, "<html>"), nil // a gateway timed out, and the message may be through
			}
			return accepted("wamid.1"), nil
		}
		w.start()
		w.text()
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(w.provider.pauses()[0].Round(time.Second), 30*time.Second)
	})
}

// crashed leaves a send as a process does that dies in mid-call, and
// another one that had not begun.
func crashed(w *world) (begun, waiting string) {
	begun, waiting = w.text(), w.text()
	storagetest.Exec(w.t, w.dir, `
		UPDATE jobs SET state = 'running', runs = 1, leased_until = ?
		WHERE json_extract(args, '$.message') = ?`, storage.Now().Add(time.Minute), begun)
	return begun, waiting
}

func TestAfterACrashWhatMayHaveBeenSentWaitsForACallback(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = each
		begun, waiting := crashed(w)
		w.start()
		w.is.Equal(w.message(waiting).Status, storage.MessageSent) // had not begun: goes out at once
		time.Sleep(29 * time.Second)
		w.is.Equal(w.message(begun).Status, storage.MessageQueued)
		w.is.Equal(len(w.provider.calls()), 1)
		w.report("wamid.mid", "sent", begun)
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 1) // the callback settled it
		w.is.Equal(*w.message(begun).ProviderID, "wamid.mid")
		w.is.Equal(w.events(), []string{"message.sent " + waiting + ":sent", "message.sent " + begun + ":sent", "message.status wamid.mid"})
		w.is.Equal(w.jobs(), 0)
	})
}

func TestAfterACrashAndNoCallbackItIsSentOnce(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = each
		begun, _ := crashed(w)
		w.start()
		time.Sleep(29 * time.Second)
		w.is.Equal(len(w.provider.calls()), 1)
		time.Sleep(2 * time.Second)
		w.is.Equal(w.message(begun).Status, storage.MessageSent)
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 2)
	})
}

func TestASecondCrashDuringTheWaitStartsItAnew(t *testing.T) {
	bubble(t, func(w *world) {
		begun, _ := crashed(w)
		w.provider.answer = each
		w.start()
		time.Sleep(20 * time.Second)
		w.stop()
		time.Sleep(time.Minute) // down for longer than the window: callbacks wait too
		w.start()
		time.Sleep(5 * time.Second)
		w.report("wamid.mid", "sent", begun)
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 1)
	})
}

func TestWhatMayHaveBeenSentIsNotRefusedBeforeACallbackCanTell(t *testing.T) {
	bubble(t, func(w *world) {
		begun, _ := crashed(w)
		w.setOrganization(func(o *storage.Organization) { o.SuspendedAt = storage.Now() })
		w.start()
		time.Sleep(10 * time.Second)
		w.is.Equal(w.message(begun).Status, storage.MessageQueued)
		w.report("wamid.mid", "sent", begun)
		time.Sleep(time.Minute)
		w.is.Equal(w.message(begun).Status, storage.MessageSent)
	})
}

func TestAStopInMidCallIsAnUnknownOutcome(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if n == 1 {
				return hang(c)
			}
			return accepted("wamid.again"), nil
		}
		w.start()
		id := w.text()
		synctest.Wait()
		w.stop() // the grace time is shorter than the call
		w.start()
		time.Sleep(25 * time.Second)
		w.is.Equal(len(w.provider.calls()), 1)
		time.Sleep(10 * time.Second)
		w.is.Equal(len(w.provider.calls()), 2)
		w.is.Equal(*w.message(id).ProviderID, "wamid.again")
	})
}

func TestACallbackThatMatchesNothingIsDroppedAfterADay(t *testing.T) {
	bubble(t, func(w *world) {
		w.periodic = []string{"housekeeping"}
		parked := func() int {
			return len(storagetest.Select[string](w.t, w.dir, `SELECT provider_id FROM parked_statuses`))
		}
		w.start()
		w.report("wamid.unknown", "sent", "")
		time.Sleep(23 * time.Hour)
		w.report("wamid.younger", "sent", "")
		w.is.Equal(parked(), 2)
		time.Sleep(time.Hour + 11*time.Minute) // housekeeping comes by now and then
		w.is.Equal(parked(), 1)
		w.is.Equal(w.events(), nil)
	})
}
