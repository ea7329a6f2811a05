package jobs_test

import (
	"context"
	"encoding/json"
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

// saleContent is a template message with a field in it.
const saleContent = `{"name":"sale","language":"en_US","components":[{"type":"body","parameters":[{"type":"text","text":"Hi {{name}}!"}]}]}`

// broadcasting is a world at 80 messages a second, in which a provider gives each message an
// id of its own.
func broadcasting(t *testing.T, test func(w *world)) {
	t.Helper()
	bubble(t, func(w *world) {
		w.provider.answer = acceptedTo
		w.options.MessagesPerSecond = 80
		w.template("MARKETING")
		test(w)
	})
}

// acceptedTo accepts a call, and knows its recipient by the number that it names.
func acceptedTo(n int, c call) (*http.Response, error) {
	var sent struct{ To string }
	err := json.Unmarshal([]byte(c.body), &sent)
	return answered(200, fmt.Sprintf(`{"messaging_product":"whatsapp","contacts":[{"input":%q,"wa_id":%q}],"messages":[{"id":"wamid.%d"}]}`,
		sent.To, strings.TrimPrefix(sent.To, "+"), n)), err
}

// template stores the template of the broadcasts.
func (w *world) template(category string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		t := storage.Template{
			AccountID: w.account.ID, Name: "sale", Language: "en_US", Status: "approved", Category: category, ParameterFormat: "POSITIONAL",
			Components: storage.JSON(`[{"type":"BODY","text":"{{1}} Come in."}]`),
		}
		return tx.InsertTemplate(&t)
	})
}

// people are recipients with a name each.
func people(n int) (all []storage.BroadcastRecipient) {
	for i := range n {
		phone := fmt.Sprintf("+1555%07d", i)
		r := storage.BroadcastRecipient{PhoneNumber: &phone}
		r.SetFields(map[string]string{"name": fmt.Sprintf("P%d", i)}, []string{"name"})
		all = append(all, r)
	}
	return all
}

// draft is a broadcast that is not stored.
func (w *world) draft(change ...func(*storage.Broadcast)) storage.Broadcast {
	body := "Hi {{name}}! Come in."
	b := storage.Broadcast{
		AccountID: w.account.ID, Name: "Sale", Content: storage.JSON(saleContent), TemplateName: "sale", TemplateLanguage: "en_US",
		Body: &body, AudienceType: storage.AudienceRecipients,
	}
	for _, c := range change {
		c(&b)
	}
	return b
}

// broadcast makes a broadcast as the API does.
func (w *world) broadcast(to []storage.BroadcastRecipient, change ...func(*storage.Broadcast)) storage.Broadcast {
	w.t.Helper()
	b := w.draft(change...)
	next := func(limit int) ([]storage.BroadcastRecipient, error) {
		some := to[:min(limit, len(to))]
		to = to[len(some):]
		return some, nil
	}
	w.is.NoErr(jobs.StoreRecipients(context.Background(), w.db, &b, next))
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.PublishBroadcast(tx, &b) })
	return b
}

// now is a broadcast as it is now.
func (w *world) now(b storage.Broadcast) (now storage.Broadcast) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { now, err = rx.BroadcastByNumber(b.Number); return err })
	return now
}

// move moves a broadcast to another state.
func (w *world) move(b storage.Broadcast, move func(*storage.Tx, *storage.Broadcast) error) (moved storage.Broadcast) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) (err error) {
		if moved, err = tx.CurrentBroadcast(b.Number); err != nil {
			return err
		}
		return move(tx, &moved)
	})
	return moved
}

// recipients are the recipients of a broadcast.
func (w *world) recipients(b storage.Broadcast) (all []storage.BroadcastRecipient) {
	w.t.Helper()
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		if b, err = rx.BroadcastByNumber(b.Number); err == nil {
			all, _, err = rx.BroadcastRecipients(b, "", 0, 100_000)
		}
		return err
	})
	return all
}

// reasons are why recipients got nothing, "" for those who did.
func (w *world) reasons(b storage.Broadcast) (all []string) {
	for _, r := range w.recipients(b) {
		reason := ""
		if r.Reason != nil {
			reason = *r.Reason
		}
		all = append(all, reason)
	}
	return all
}

// told counts the events of a type.
func (w *world) told(kind string) (n int) {
	for _, e := range w.events() {
		if strings.HasPrefix(e, kind+" ") {
			n++
		}
	}
	return n
}

func TestABroadcastGoesToEachRecipientOnce(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(200))
		time.Sleep(10 * time.Second)

		b = w.now(b)
		w.is.Equal(b.Status, storage.BroadcastCompleted)
		w.is.Equal(b.BroadcastCounts, storage.BroadcastCounts{Total: 200, Sent: 200})
		w.is.Equal(b.Open, int64(0))
		w.is.True(b.CompletedAt > b.StartedAt)

		seen := make(map[string]bool)
		for _, c := range w.provider.calls() {
			seen[c.tag()] = true
		}
		w.is.Equal(len(seen), 200)
		w.is.Equal(len(w.provider.calls()), 200)
		took := w.provider.calls()[199].at.Sub(w.provider.calls()[0].at)
		w.is.True(took > 2*time.Second && took < 4*time.Second) // 80 a second

		w.is.Equal(w.told("broadcast.started"), 1)
		w.is.Equal(w.told("broadcast.completed"), 1)
		w.is.Equal(w.told("contact.created"), 200)
		m := w.message(*w.recipients(b)[0].MessageID)
		w.is.True(slices.Contains(w.events(), "message.sent broadcast_msg:"+m.ID+":sent"))
		w.is.Equal(*m.Body, "Hi P0! Come in.")
		w.is.Equal(m.Source, storage.SourceBroadcast)

		// The conversation that it made is resolved, and not at the front.
		storagetest.View(t, w.db, func(rx *storage.Rx) error {
			c, err := rx.Conversation(w.account.ID, m.ConversationID)
			if err == nil && (c.Status != storage.ConversationResolved || c.LastMessageAt != 0) {
				err = fmt.Errorf("it is %s, last at %s", c.Status, c.LastMessageAt)
			}
			return err
		})
	})
}

func TestNoMoreThanASecondsWorthIsMadeAhead(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(2000))
		for range 10 {
			time.Sleep(700 * time.Millisecond)
			w.is.True(w.now(b).Open <= 80+64) // and those whose call is under way
		}
	})
}

// A direct send does not wait for the broadcast, however long that is.
func TestADirectSendOvertakesABroadcast(t *testing.T) {
	for name, rate := range map[string]float64{"80 a second": 80, "no limit": 0} {
		t.Run(name, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				w.options.MessagesPerSecond = rate
				w.start()
				b := w.broadcast(people(1500))
				w.provider.answer = func(n int, c call) (*http.Response, error) {
					time.Sleep(100 * time.Millisecond)
					return acceptedTo(n, c)
				}
				time.Sleep(500 * time.Millisecond)
				w.is.True(w.now(b).Waiting > 0)

				asked := time.Now()
				id := w.text()
				time.Sleep(time.Second)
				i := slices.IndexFunc(w.provider.calls(), func(c call) bool { return c.tag() == id })
				w.is.True(i >= 0)
				w.is.True(w.provider.calls()[i].at.Sub(asked) <= 500*time.Millisecond)
			})
		})
	}
}

// While direct sends take all slots of the number, the broadcast gets none, and goes on
// afterwards.
func TestABroadcastYieldsToDirectSends(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.options.MessagesPerSecond = 10
		w.start()
		for i := range 100 {
			w.queue(fmt.Sprintf("+1999%07d", i), "text", `{"body":"hi"}`)
		}
		b := w.broadcast(people(20))
		time.Sleep(8 * time.Second)
		w.is.Equal(w.now(b).Waiting, int64(20))
		time.Sleep(20 * time.Second)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 20, Sent: 20})
	})
}

func TestAPauseHoldsRetriesToo(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131000), nil }
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(30 * time.Second)
		w.is.Equal(len(w.provider.calls()), 10)

		moved := w.move(b, jobs.PauseBroadcast)
		w.is.Equal(moved.Status, storage.BroadcastPaused)
		w.is.Equal(*moved.PausedReason, "requested")
		time.Sleep(30 * time.Minute)
		w.is.Equal(len(w.provider.calls()), 10) // the retries were due after a minute

		w.provider.answer = acceptedTo
		w.is.Equal(w.move(b, jobs.ResumeBroadcast).Status, storage.BroadcastRunning)
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 10, Sent: 10})
		w.is.Equal(w.now(b).Status, storage.BroadcastCompleted)
		w.is.Equal(w.told("broadcast.started"), 1)
	})
}

func TestACancelledBroadcastSkipsWhoeverWaits(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(500))
		time.Sleep(2 * time.Second)
		cancelled := w.move(b, jobs.CancelBroadcast)
		w.is.Equal(cancelled.Status, storage.BroadcastCancelled)
		w.is.Equal(cancelled.Waiting, int64(0))
		w.is.Equal(cancelled.Skipped+cancelled.Sent, int64(500))

		time.Sleep(time.Hour)
		sent := len(w.provider.calls())
		b = w.now(b)
		w.is.Equal(b.BroadcastCounts, storage.BroadcastCounts{Total: 500, Sent: int64(sent), Skipped: int64(500 - sent)})
		w.is.Equal(b.Open, int64(0)) // the messages that were made have ended
		last := w.recipients(b)[499]
		w.is.Equal(last.Status, storage.RecipientSkipped)
		w.is.Equal(*last.Reason, "broadcast_cancelled")
		w.is.Equal(w.told("broadcast.completed"), 0)
	})
}

// What was made ahead ends too, whether or not its account may send again.
func TestACancelEndsWhatWaitsForItsAccount(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(401, 190), nil }
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
		w.is.True(w.now(b).Open > 0)

		w.move(b, jobs.CancelBroadcast)
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).Open, int64(0))
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 10, Skipped: 10})
		w.is.Equal(w.jobs(), 0)
	})
}

// A message that waits for a slot of its number takes its recipient's once.
func TestABroadcastThatWaitsLeavesItsRecipientToOthers(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.options.MessagesPerSecond, w.options.PairLimit = 10, true
		w.start()
		w.queue("+19990000000", "text", `{"body":"hi"}`)
		b := w.broadcast(people(1))
		for i := range 400 { // as many as the number may send
			w.queue(fmt.Sprintf("+1999%07d", i), "text", `{"body":"hi"}`)
			time.Sleep(100 * time.Millisecond)
		}
		w.is.Equal(w.now(b).Waiting, int64(1))

		id := w.queue("+15550000000", "text", `{"body":"hi"}`)
		time.Sleep(time.Second)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
		w.is.Equal(w.now(b).Sent, int64(1))
	})
}

// What waits while its file is uploaded is not past the check: a cancel counts for it.
func TestACancelCountsDuringAnUpload(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if strings.HasSuffix(c.path, "/media") {
				time.Sleep(10 * time.Second)
			}
			return uploadsThenSends(n, c)
		}
		m := w.file("image/png", "\x89PNG")
		w.start()
		b := w.broadcast(people(5), func(b *storage.Broadcast) { b.Content = pictured(m) })
		time.Sleep(5 * time.Second)
		w.move(b, jobs.CancelBroadcast)
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 5, Skipped: 5})
	})
}

// pictured is a template message with a file in its header.
func pictured(m storage.Media) storage.JSON {
	return storage.JSON(`{"name":"sale","language":"en_US","components":[{"type":"header","parameters":[{"type":"image","image":{"id":"` + m.ID + `"}}]}]}`)
}

func TestWhoMayNotBeSentToIsSkipped(t *testing.T) {
	broadcasting(t, func(w *world) {
		optedOut, named, odd := "+15550000001", "+15550000002", "+15550000003"
		empty := ""
		name := "Ann"
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			for _, c := range []storage.Contact{
				{PhoneNumber: &optedOut, MarketingOptedOut: true, Name: &name}, {PhoneNumber: &named, Name: &name},
				{PhoneNumber: &odd, Metadata: storage.JSON(`{"name":"x"}`)},
			} {
				c.AccountID = w.account.ID
				if err := tx.InsertContact(&c); err != nil {
					return err
				}
				if c.MarketingOptedOut {
					if err := tx.MarkOptedOut(c.ID); err != nil {
						return err
					}
				}
			}
			return nil
		})
		to := func(phone string, fields map[string]string) storage.BroadcastRecipient {
			r := storage.BroadcastRecipient{PhoneNumber: &phone}
			r.SetFields(fields, []string{"name"})
			return r
		}
		bad := storage.BroadcastRecipient{PhoneNumber: &empty}
		bad.Skip(storage.SkippedPhoneNumber)
		w.start()
		b := w.broadcast([]storage.BroadcastRecipient{
			to(optedOut, nil), to(named, nil), to(odd, nil), bad,
			to("+15550000004", nil), to("+15550000005", map[string]string{"name": ""}), to("+15550000006", map[string]string{"name": "a\n"}),
			to("+15550000007", map[string]string{"name": "a     b"}), to("+15550000008", map[string]string{"name": "{{name}}"}), to(named, nil),
		})
		time.Sleep(5 * time.Second)
		w.is.Equal(w.reasons(b), []string{
			"marketing_opted_out", "", "", "invalid_phone_number",
			"missing_parameter", "missing_parameter", "invalid_parameter",
			"invalid_parameter", "",
		})
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 9, Sent: 3, Skipped: 6})
		var bodies []string
		for _, r := range w.recipients(b) {
			if r.MessageID != nil {
				bodies = append(bodies, *w.message(*r.MessageID).Body)
			}
		}
		w.is.Equal(bodies, []string{"Hi Ann! Come in.", "Hi x! Come in.", "Hi {{name}}! Come in."}) // which is not filled in again
	})
}

// Somebody who opts out after the message was made, and before it is sent, gets none.
func TestAnOptOutCountsAtEachSend(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131000), nil }
		w.start()
		b := w.broadcast(people(1))
		time.Sleep(30 * time.Second)
		r := w.recipients(b)[0]
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(*r.ContactID) })
		time.Sleep(time.Hour)
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.Equal(w.reasons(b), []string{"marketing_opted_out"})
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 1, Skipped: 1})
		w.is.Equal(*w.message(*r.MessageID).ErrorCode, "marketing_opted_out")
	})
}

func TestWhatConcernsAllPausesABroadcast(t *testing.T) {
	refuse := func(status, code int) func(*world) {
		return func(w *world) {
			w.provider.answer = func(int, call) (*http.Response, error) { return refusing(status, code), nil }
		}
	}
	exec := func(query string) func(*world) {
		return func(w *world) { storagetest.Exec(w.t, w.dir, query); w.db.DropCaches() }
	}
	for reason, hurt := range map[string]func(*world){
		"organization_suspended":       exec(`UPDATE organizations SET suspended_at = 1`),
		"subscription_inactive":        exec(`UPDATE organizations SET subscription = 'inactive'`),
		"account_restricted":           exec(`UPDATE accounts SET restricted = 1`),
		"upstream_error":               exec(`UPDATE accounts SET status = 'disconnected'`),
		"whatsapp_number_not_verified": exec(`UPDATE accounts SET status = 'onboarding'`),
		"quota_exceeded":               func(w *world) { w.options.MonthlyMessages = map[string]int{"self_hosted": 3} },
		"template_not_found":           refuse(404, 132001),
		"template_paused":              refuse(400, 132015),
		"auth_expired":                 refuse(401, 190),
	} {
		t.Run(reason, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				healthy := w.provider.answer
				hurt(w)
				w.start()
				b := w.broadcast(people(10))
				time.Sleep(10 * time.Minute)
				b = w.now(b)
				w.is.Equal(b.Status, storage.BroadcastPaused)
				w.is.Equal(*b.PausedReason, reason)
				w.is.Equal(b.Failed, int64(0)) // no recipient failed
				tries := storagetest.Select[int](t, w.dir, `SELECT count(*) FROM message_tries`)[0]
				w.is.Equal(int(b.Sent)+tries, len(w.provider.calls())) // what was refused is kept for the trace

				w.provider.answer = healthy
				storagetest.Exec(t, w.dir, `UPDATE organizations SET suspended_at = 0, subscription = 'active'`)
				storagetest.Exec(t, w.dir, `UPDATE accounts SET restricted = 0, status = 'connected'`)
				storagetest.Exec(t, w.dir, `DELETE FROM usage`)
				w.db.DropCaches()
				for range 4 { // a quota of three lasts for so long
					if w.now(b).Status == storage.BroadcastPaused {
						storagetest.Exec(t, w.dir, `DELETE FROM usage`)
						w.move(b, jobs.ResumeBroadcast)
					}
					time.Sleep(time.Minute)
				}
				w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 10, Sent: 10})
			})
		})
	}
}

func TestACooldownEndsByItself(t *testing.T) {
	broadcasting(t, func(w *world) {
		limited := true
		healthy := w.provider.answer
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if limited {
				return refusing(400, 131048), nil
			}
			return healthy(n, c)
		}
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
		w.is.Equal(*w.now(b).PausedReason, "account_rate_limited")
		limited = false
		time.Sleep(13 * time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
		time.Sleep(3 * time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 10, Sent: 10})
	})
}

// A cooldown ended while its broadcast had been resumed by a person, who met another one: the
// job of the first does not end the second.
func TestACooldownIsNotEndedByAnEarlierOne(t *testing.T) {
	broadcasting(t, func(w *world) {
		healthy := w.provider.answer
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(400, 131048), nil }
		w.start()
		b := w.broadcast(people(10))
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastPaused)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.SetCooldown(w.account.ID, 0) })
		w.move(b, jobs.ResumeBroadcast)
		time.Sleep(time.Minute)
		paused := w.now(b)
		w.is.Equal(paused.Status, storage.BroadcastPaused)

		w.provider.answer = healthy
		time.Sleep(10 * time.Minute) // the first has ended
		w.is.Equal(w.now(b), paused)
		time.Sleep(5 * time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastCompleted)
	})
}

// The outcome of a call is unknown. Where callbacks arrive, one about this message would
// have: it is sent again. Where none does, it is not.
func TestACallWithAnUnknownOutcomeIsNotRepeatedBlindly(t *testing.T) {
	for name, reports := range map[string]bool{"callbacks arrive": true, "none arrives": false} {
		t.Run(name, func(t *testing.T) {
			broadcasting(t, func(w *world) {
				healthy := w.provider.answer
				w.provider.answer = func(n int, c call) (*http.Response, error) {
					if n == 1 {
						return nil, fmt.Errorf("connection reset")
					}
					return healthy(n, c)
				}
				w.start()
				b := w.broadcast(people(2))
				time.Sleep(10 * time.Second)
				if reports {
					w.report("wamid.2", "delivered", *w.recipients(b)[1].MessageID)
				}
				time.Sleep(10 * time.Minute)
				counts := w.now(b).BroadcastCounts
				if reports {
					w.is.Equal(len(w.provider.calls()), 3)
					w.is.Equal(counts, storage.BroadcastCounts{Total: 2, Sent: 1, Delivered: 1})
				} else {
					w.is.Equal(len(w.provider.calls()), 2)
					w.is.Equal(counts, storage.BroadcastCounts{Total: 2, Sent: 1, Failed: 1})
				}
				w.is.Equal(w.now(b).Status, storage.BroadcastCompleted)
			})
		})
	}
}

func TestCallbacksGoOnMovingTheCounts(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(3))
		time.Sleep(5 * time.Second)
		for i, r := range w.recipients(b) {
			w.report(*w.message(*r.MessageID).ProviderID, []string{"delivered", "read", "failed"}[i], *r.MessageID)
		}
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 3, Delivered: 1, Read: 1, Failed: 1})
		w.report(*w.message(*w.recipients(b)[1].MessageID).ProviderID, "delivered", *w.recipients(b)[1].MessageID) // too late
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 3, Delivered: 1, Read: 1, Failed: 1})
		w.is.True(w.recipients(b)[2].Reason != nil) // the error that the callback gave
	})
}

func TestAScheduledBroadcastWaitsForItsTime(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		at := w.db.Now().Add(2 * time.Hour)
		b := w.broadcast(people(5), func(b *storage.Broadcast) { b.ScheduledAt = at })
		w.is.Equal(b.Status, storage.BroadcastScheduled)
		time.Sleep(time.Hour)
		w.is.Equal(w.told("broadcast.started"), 0)

		w.move(b, jobs.PauseBroadcast)
		w.is.Equal(w.move(b, jobs.ResumeBroadcast).Status, storage.BroadcastScheduled)
		time.Sleep(59 * time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
		time.Sleep(2 * time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 5, Sent: 5})
	})
}

// Somebody who restarts a machine often does not end a broadcast by it: what gets on is not to
// blame for a crash.
func TestABroadcastThatGetsOnIsForgivenItsCrashes(t *testing.T) {
	broadcasting(t, func(w *world) {
		b := w.broadcast(people(400))
		storagetest.Exec(w.t, w.dir, `UPDATE jobs SET crashes = 9 WHERE kind = 'broadcast.run'`)
		w.start()
		time.Sleep(time.Second)
		w.is.Equal(w.now(b).Status, storage.BroadcastRunning)
		w.is.Equal(storagetest.Select[int](w.t, w.dir, `SELECT crashes FROM jobs WHERE kind = 'broadcast.run'`), []int{0})
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 400, Sent: 400})
		synctest.Wait()
	})
}

// A runner that ends in the midst leaves it to the next one to go on.
func TestABroadcastGoesOnAfterARestart(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.start()
		b := w.broadcast(people(400))
		for range 5 {
			time.Sleep(777 * time.Millisecond)
			w.stop()
			w.start()
		}
		time.Sleep(time.Minute)
		w.is.Equal(w.now(b).BroadcastCounts, storage.BroadcastCounts{Total: 400, Sent: 400})
		seen := make(map[string]bool)
		for _, c := range w.provider.calls() {
			w.is.True(!seen[c.tag()])
			seen[c.tag()] = true
		}
		synctest.Wait()
	})
}

// A broadcast that waits for its last message is not looked at all the time, whatever the clock
// does.
func TestABroadcastThatWaitsForItsLastMessageIsRarelyLookedAt(t *testing.T) {
	set(t, func(w *world, clock *storagetest.Clock) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
		w.options.MessagesPerSecond = 80
		w.template("MARKETING")
		w.start()
		clock.Set(time.Hour)
		w.coolDown(0)
		clock.Set(0)
		b := w.broadcast(people(1))
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.now(b).Waiting, int64(1))
		w.is.True(w.feeds.Load() < 200)
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.now(b).Status, storage.BroadcastCompleted)
	})
}

// Nor is one of which so many messages wait for the provider that no more may be made.
func TestABroadcastThatIsFullIsRarelyLookedAt(t *testing.T) {
	broadcasting(t, func(w *world) {
		w.provider.answer = func(int, call) (*http.Response, error) { return refusing(500, 131016), nil }
		w.options.MessagesPerSecond = 1
		w.start()
		b := w.broadcast(people(100))
		time.Sleep(3 * time.Minute)
		w.is.Equal(w.now(b).Open, int64(60))
		before := w.feeds.Load()
		time.Sleep(5 * time.Minute)
		w.is.True(w.feeds.Load()-before < 200)
		w.is.Equal(w.now(b).Open, int64(60))
	})
}
