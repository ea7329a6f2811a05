package jobs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestAnIdleRuleFiresAfterSilence(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("asks", `{"on":"conversation_idle","if":{"idle_minutes":60},"then":[{"reply":{"text":"Still there?"}}]}`)
		w.rule("closes", `{"on":"conversation_idle","if":{"idle_minutes":120},"then":[{"resolve":true}]}`)
		w.start()
		w.says(ana, "hi")
		time.Sleep(50 * time.Minute)
		w.says(ana, "hi") // it begins anew
		time.Sleep(59 * time.Minute)
		w.is.Equal(len(w.fired()), 0)
		time.Sleep(7 * time.Minute) // they are asked every five minutes
		w.is.Equal(w.fired(), []string{"asks reply"})
		w.is.Equal(w.replies(), []string{"Still there?"})

		time.Sleep(time.Hour) // the reply of a rule breaks no silence
		w.is.Equal(w.fired(), []string{"closes resolve"})
		time.Sleep(24 * time.Hour)
		w.is.Equal(len(w.fired()), 0) // it is resolved

		w.says(ana, "hi") // another spell
		time.Sleep(130 * time.Minute)
		w.is.Equal(w.fired(), []string{"asks reply", "closes resolve"})
	})
}

func TestAConversationThatSleepsOrIsWrittenInIsNotIdle(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("often", `{"on":"conversation_idle","if":{"idle_minutes":30},"once_per":"message","then":[{"note":"x"}]}`)
		w.rule("daily", `{"on":"conversation_idle","if":{"idle_minutes":30},"once_per":"day","then":[{"note":"x"}]}`)
		w.start()
		w.says(ana, "hi")
		w.setThread(func(c *storage.Conversation) { c.Status = storage.ConversationPending })
		time.Sleep(36 * time.Minute)
		w.is.Equal(w.fired(), []string{"often note", "daily note"}) // a pending one too
		time.Sleep(2 * time.Hour)
		w.is.Equal(len(w.fired()), 0)
		time.Sleep(24 * time.Hour)
		w.is.Equal(w.fired(), []string{"daily note"})

		w.says(ana, "hi")
		w.snooze(storagetest.Select[string](t, w.dir, `SELECT max(id) FROM messages`)[0], w.db.Now().Add(100*time.Minute))
		time.Sleep(95 * time.Minute)
		w.is.Equal(len(w.fired()), 0) // it sleeps
		time.Sleep(15 * time.Minute)
		w.is.Equal(w.fired(), []string{"often note"})

		// A message of ours breaks the silence as well, a later one when its time has come.
		w.says(ana, "hi")
		w.later(40 * time.Minute)
		time.Sleep(20 * time.Minute)
		w.text()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			return tx.MarkMessageWritten(w.thread("+"+ana).ConversationID, "text", storage.SourceAPI)
		})
		time.Sleep(45 * time.Minute) // 25 after the later one
		w.is.Equal(len(w.fired()), 0)
		time.Sleep(12 * time.Minute)
		w.is.Equal(w.fired(), []string{"often note"})
	})
}

// What an idle rule sent after the backup was made is not known any more: it is not sent again.
func TestAnIdleRuleSendsNothingThatWasDueBeforeARestore(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("asks", `{"on":"conversation_idle","if":{"idle_minutes":60},"then":[{"reply":{"text":"Still there?"}},{"note":"quiet"}]}`)
		w.rule("daily", `{"on":"conversation_idle","if":{"idle_minutes":60},"once_per":"day","then":[{"reply":{"text":"Today?"}}]}`)
		w.says(ana, "hi")
		time.Sleep(50 * time.Minute)
		w.says("15551000002", "hi")
		time.Sleep(30 * time.Minute)
		w.is.NoErr(storage.HoldRestored(storage.DatabaseFile(w.dir)))
		w.start()
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.fired(), []string{"asks reply: message_overdue, note", "daily reply: message_overdue"})
		time.Sleep(30 * time.Minute) // the other was not due yet
		w.is.Equal(w.fired(), []string{"asks reply, note", "daily reply"})
		w.is.Equal(slices.Sorted(slices.Values(w.replies())), []string{"Still there?", "Today?"})

		time.Sleep(24 * time.Hour) // and it is another day
		w.is.Equal(w.fired(), []string{"daily reply", "daily reply"})
	})
}

// However many conversations are quiet that do not match, the one that does is found.
func TestAnIdleRuleReadsPastWhatDoesNotMatch(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("closes", `{"on":"conversation_idle","if":{"idle_minutes":30,"text":{"match":"contains","any":["thanks"]}},"then":[{"resolve":true}]}`)
		for i := range 500 { // as many as are read at once
			w.says(fmt.Sprintf("1555100%04d", i), "no")
		}
		w.says(ana, "Thanks!")
		w.start()
		time.Sleep(40 * time.Minute)
		w.is.Equal(w.fired(), []string{"closes resolve"})
	})
}

// bot makes a key of a bot.
func (w *world) bot(name string) (k storage.Key) {
	k = storage.Key{OrganizationID: w.tenant.Organization.ID, Agent: &name}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) (err error) { _, err = tx.InsertKey(&k); return err })
	return k
}

// handOver lets somebody hold the conversation of ana.
func (w *world) handOver(to storage.Holder) {
	w.onThread(func(tx *storage.Tx, s event.Subject, c storage.Conversation) error {
		return messaging.HandOver(tx, s, event.By{Type: event.ByKey, ID: new("key_1")}, c, to, nil)
	})
}

// held is who holds the conversation of ana.
func (w *world) held() string {
	var h storage.Holder
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) { h, err = rx.HolderOf(w.thread("+" + ana).ConversationID); return err })
	return strings.TrimSpace(h.Type + " " + storage.OrEmpty(h.ID))
}

// handed lists the changes of holders that were told: from whom, to whom and by what.
func (w *world) handed() (all []string) {
	for _, e := range w.stored() {
		if e.Type != "conversation.handed_over" {
			continue
		}
		var told struct {
			Data struct{ From, To, By struct{ Type string } }
		}
		w.is.NoErr(json.Unmarshal(e.Payload, &told))
		all = append(all, fmt.Sprint(told.Data.From.Type, " ", told.Data.To.Type, " ", told.Data.By.Type))
	}
	return all
}

func TestAHoldEndsByItself(t *testing.T) {
	ruling(t, func(w *world) {
		user, key := w.user("Ada"), w.bot("bot")
		w.start()
		w.says(ana, "hi")
		echo := func(id string) {
			w.callback("smb_message_echoes", fmt.Sprintf(`"message_echoes":[{"from":"1555100200300","to":%q,"id":%q,"timestamp":"1","type":"text","text":{"body":"hi"}}]`, ana, id))
			synctest.Wait()
		}
		echo("wamid.e1")
		w.is.Equal(w.held(), "user") // whoever has the phone
		time.Sleep(25 * time.Hour)
		w.is.Equal(w.held(), "user") // it never ends, unless the organization says so

		w.setOrganization(func(o *storage.Organization) { o.HandoverReturnMinutes = 60 })
		echo("wamid.e2")
		time.Sleep(50 * time.Minute)
		echo("wamid.e3") // they still write
		w.says(ana, "thanks")
		time.Sleep(50 * time.Minute)
		w.is.Equal(w.held(), "user")
		time.Sleep(10 * time.Minute)
		w.is.Equal(w.held(), "none") // to the minute,
		time.Sleep(6 * time.Minute)  // and it is told

		w.handOver(messaging.User(&user.ID))
		w.is.Equal(w.held(), "user "+user.ID)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.DisableUser(user.ID) })
		w.is.Equal(w.held(), "none") // at once
		time.Sleep(6 * time.Minute)  // and it is told

		w.handOver(messaging.Agent("bot"))
		time.Sleep(3 * time.Hour)
		w.is.Equal(w.held(), "agent bot") // only people are forgotten
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { _, err := tx.RevokeKey(key.OrganizationID, key.ID); return err })
		w.is.Equal(w.held(), "none")
		time.Sleep(6 * time.Minute)

		w.bot("bot")
		w.handOver(messaging.Agent("bot"))
		w.resolve()
		w.is.Equal(w.held(), "none")
		w.is.Equal(w.handed(), []string{
			"none user user", "user none system", "none user key", "user none system", "none agent key", "agent none system",
			"none agent key", "agent none key",
		})
	})
}

// Whether a bot may write is checked again when the time of its later send comes.
func TestALaterSendOfABotFailsWhereSomebodyElseHolds(t *testing.T) {
	ruling(t, func(w *world) {
		user, key := w.user("Ada"), w.bot("bot")
		later := func() (id string) {
			storagetest.Update(t, w.db, func(tx *storage.Tx) error {
				to := w.thread("+" + ana)
				m := storage.Message{
					AccountID: w.account.ID, ConversationID: to.ConversationID, ContactID: to.ID, Direction: storage.Outbound, Type: "text",
					Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"hi"}`), PhoneNumber: to.PhoneNumber,
					ScheduledAt: tx.Now.Add(time.Hour),
				}
				if err := tx.InsertMessage(&m); err != nil {
					return err
				}
				id = m.ID
				return jobs.EnqueueSend(tx, key, m, json.RawMessage(`{"body":"hi"}`))
			})
			return id
		}
		w.start()
		w.says(ana, "hi")
		sent := later()
		w.is.Equal(w.held(), "none") // until it is sent
		time.Sleep(61 * time.Minute)
		w.is.Equal(w.message(sent).Status, storage.MessageSent)
		w.is.Equal(w.held(), "agent bot")

		refused := later()
		w.handOver(messaging.User(&user.ID))
		time.Sleep(61 * time.Minute)
		w.is.Equal(w.message(refused).Status, storage.MessageFailed)
		w.is.Equal(*w.message(refused).ErrorCode, "conversation_held")
		w.is.Equal(w.held(), "user "+user.ID)
	})
}

// A person's hold wins over a bot's when two conversations become one, and else the older.
func TestAPersonsHoldWinsAMerge(t *testing.T) {
	for name, c := range map[string]struct {
		byID, byNumber storage.Holder
		want           string
	}{
		"a person wins":    {messaging.Agent("bot"), messaging.User(nil), "user"},
		"wherever they be": {messaging.User(nil), messaging.Agent("bot"), "user"},
		"the older wins":   {messaging.Agent("other"), messaging.Agent("bot"), "agent other"},
		"somebody wins":    {storage.Holder{Type: storage.HolderNone}, messaging.Agent("bot"), "agent bot"},
	} {
		t.Run(name, func(t *testing.T) {
			ruling(t, func(w *world) {
				w.bot("bot")
				w.bot("other")
				w.writes(`"from_user_id":"US.1"`, "wamid.a")
				storagetest.Update(t, w.db, func(tx *storage.Tx) error {
					id := storagetest.Select[string](t, w.dir, `SELECT id FROM conversations`)[0]
					return tx.SetHolder(id, &c.byID)
				})
				time.Sleep(time.Second)
				w.says(ana, "hi")
				w.handOver(c.byNumber)
				w.writes(`"from":"15550001111","from_user_id":"US.1"`, "wamid.b")
				w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM conversations`), []int{1})
				w.is.Equal(w.held(), c.want)
			})
		})
	}
}

// another is a second installation, in the same bubble.
func (w *world) another() *world {
	w.t.Helper()
	other := &world{t: w.t, is: w.is, dir: w.t.TempDir(), provider: &played{}, began: w.began, options: w.options}
	db, err := storage.Open(storagetest.Options(w.t, other.dir))
	w.is.NoErr(err)
	w.t.Cleanup(func() { w.is.NoErr(db.Close()) })
	other.db, other.options.DB, other.options.Files = db, db, storagetest.Files(w.t, other.dir)
	other.tenant = storagetest.Seed(w.t, db, "Umbrella")
	other.account = storagetest.Connect(w.t, db, other.tenant, "100200300")
	return other
}

// deliverTo lets the provider of a world bring what it is given to another world, as the message
// of somebody with a number.
func (w *world) deliverTo(other *world, from string) {
	w.provider.answer = func(n int, c call) (*http.Response, error) {
		var sent struct{ Text struct{ Body string } }
		if err := json.Unmarshal([]byte(c.body), &sent); err != nil {
			return nil, err
		}
		other.callback("messages", fmt.Sprintf(`"messages":[{"from":%q,"id":"wamid.%s.%d","timestamp":"%d","type":"text","text":{"body":%q}}]`,
			from, from, n, time.Now().Unix(), sent.Text.Body))
		return acceptedTo(n, c)
	}
}

// Two installations that answer by themselves, and write to each other, stop.
func TestTwoAwayMessagesComeToAnEnd(t *testing.T) {
	for oncePer, most := range map[string]int{storage.OncePerSpell: 1, storage.OncePerDay: 1, storage.OncePerMessage: 10} {
		t.Run(oncePer, func(t *testing.T) {
			ruling(t, func(w *world) {
				other := w.another()
				w.deliverTo(other, ana)
				other.deliverTo(w, bo)
				for _, one := range []*world{w, other} {
					one.setHours(`{"timezone":"UTC","weekly":{}}`)
					one.rule("away", `{"if":{"hours":"closed"},"then":[{"reply":{"text":"We are closed."}}],"once_per":"`+oncePer+`"}`)
					one.start()
				}

				w.queue("+"+bo, "text", `{"body":"Are you open?"}`)
				time.Sleep(2 * time.Hour)
				w.is.Equal(len(other.fired()), most)
				w.is.Equal(len(w.fired()), most)
				w.is.Equal(len(w.replies()), 1+most)
				w.is.Equal(len(other.replies()), most)
			})
		})
	}
}
