package jobs_test

import (
	"cmp"
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
	"confab/jobs/rules"
	"confab/storage"
	"confab/storage/storagetest"
)

const ana, bo = "15550001111", "15550002222"

// ruling is a world whose runner runs, in which a provider gives each message an id of its own.
// It begins on a Monday at nine, UTC, two days after the clock does.
func ruling(t *testing.T, test func(w *world)) {
	t.Helper()
	bubble(t, func(w *world) {
		w.periodic = []string{"rules.idle"}
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if c.body == "" {
				return answered(200, `{"success":true}`), nil
			}
			return acceptedTo(n, c)
		}
		monday := time.Date(2000, 1, 3, 9, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(monday))
		test(w)
	})
}

// rule stores a rule: on message_received and once per spell, unless the body says otherwise.
func (w *world) rule(name, body string) string {
	w.t.Helper()
	var in struct {
		On      string                 `json:"on"`
		If      storage.RuleConditions `json:"if"`
		Then    storage.RuleActions    `json:"then"`
		OncePer string                 `json:"once_per"`
		Stop    bool                   `json:"stop"`
	}
	w.is.NoErr(json.Unmarshal([]byte(body), &in))
	r := storage.Rule{
		OrganizationID: w.tenant.Organization.ID, Name: name, Enabled: true, On: cmp.Or(in.On, storage.OnMessageReceived), If: in.If,
		Then: in.Then, Templates: make(storage.RuleTemplates, len(in.Then)), OncePer: cmp.Or(in.OncePer, storage.OncePerSpell), Stop: in.Stop,
	}
	for i, a := range in.Then {
		if a.Reply != nil && a.Reply.Template != nil {
			r.Templates[i] = &storage.RuleTemplate{Name: "sale", Language: "en_US", Wire: a.Reply.Template, Body: new("Come in.")}
		}
	}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.InsertRule(&r) })
	return r.ID
}

// says lets somebody write, and waits until everything has been done about it.
func (w *world) says(from, text string) {
	w.t.Helper()
	w.said++
	w.callback("messages", fmt.Sprintf(`"messages":[{"from":%q,"id":"wamid.in.%d","timestamp":"%d","type":"text","text":{"body":%q}}]`,
		from, w.said, time.Now().Unix(), text))
	synctest.Wait()
}

// fired lists what rules did since it was last asked: the rule's name, and each action with
// why it was refused.
func (w *world) fired() (all []string) {
	w.t.Helper()
	rows := storagetest.Select[string](w.t, w.dir, `
		SELECT coalesce(r.name, 'gone') || (
			SELECT group_concat(' ' || (value ->> 'action') || coalesce(': ' || (value ->> 'reason'), ''), ',' ORDER BY key) FROM json_each(f.actions))
		FROM rule_firings f LEFT JOIN rules r ON r.id = f.rule_id
		ORDER BY f.id`)
	all = rows[w.firings:]
	w.firings = len(rows)
	return all
}

// replies are the texts that were sent since it was last asked.
func (w *world) replies() (all []string) {
	calls := w.provider.calls()
	for _, c := range calls[w.answered:] {
		var sent struct{ Text struct{ Body string } }
		w.is.NoErr(json.Unmarshal([]byte(c.body), &sent))
		all = append(all, sent.Text.Body)
	}
	w.answered = len(calls)
	return all
}

// setThread changes the conversation of ana as somebody at the API does.
func (w *world) setThread(change func(*storage.Conversation)) {
	w.t.Helper()
	w.onThread(func(tx *storage.Tx, s event.Subject, c storage.Conversation) error {
		after := c
		change(&after)
		return messaging.UpdateConversation(tx, s, event.By{Type: event.ByKey, ID: new("key_1")}, c, after)
	})
}

func (w *world) onThread(do func(*storage.Tx, event.Subject, storage.Conversation) error) {
	w.t.Helper()
	id := w.thread("+" + ana).ConversationID
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		c, err := tx.Conversation(w.account.ID, id)
		if err != nil {
			return err
		}
		return do(tx, messaging.SubjectOf(w.account), c.Conversation)
	})
	synctest.Wait()
}

func (w *world) resolve() {
	w.setThread(func(c *storage.Conversation) { c.Status = storage.ConversationResolved })
}

// setHours sets the hours of the number.
func (w *world) setHours(hours string) {
	var h storage.Hours
	w.is.NoErr(h.Scan(hours))
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.SetHours(w.account.ID, h) })
}

// label makes a label of the number's team.
func (w *world) label(name string) string {
	l := storage.Label{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Name: name, Color: "#000000"}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.InsertLabel(&l) })
	return l.ID
}

func (w *world) user(name string) storage.User {
	u := storage.User{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Name: name}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	return u
}

func TestRulesRunInTheirOrderAndOncePerSpell(t *testing.T) {
	ruling(t, func(w *world) {
		label := w.label("Sales")
		first := w.rule("first", `{"then":[{"reply":{"text":"Hello {{first_name|there}}"}},{"add_label":"`+label+`"}]}`)
		w.rule("second", `{"then":[{"note":"Look"}],"stop":true,"once_per":"message"}`)
		w.rule("third", `{"then":[{"resolve":true}]}`)
		w.start()

		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"first reply, add_label", "second note"}) // and there the row ends
		w.is.Equal(w.replies(), []string{"Hello there"})
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"second note"})

		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			all, err := tx.RulesOf(w.tenant.Organization.ID)
			if err != nil {
				return err
			}
			return tx.ReorderRules(all[0].OrganizationID, []string{all[2].ID, all[0].ID, all[1].ID})
		})
		w.says(ana, "hi") // which the third resolves, that is now the first; it is of the same spell for the others
		w.is.Equal(w.fired(), []string{"third resolve", "second note"})
		w.says(ana, "hi") // of the next one
		w.is.Equal(w.fired(), []string{"third resolve", "first reply, add_label", "second note"})

		// What a rule sends says so, and answers nobody.
		sent := storagetest.Select[string](t, w.dir, `SELECT source || ' ' || rule_id FROM messages WHERE direction = 'outbound'`)
		w.is.Equal(sent, []string{"rule " + first, "rule " + first})
		said := w.thread("+" + ana)
		w.is.Equal(said.Status, storage.ConversationResolved)
	})
}

// A reply of a rule moves nothing and is no answer: who waits goes on waiting.
func TestAReplyOfARuleAnswersNobody(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("away", `{"then":[{"reply":{"text":"Away"}}]}`)
		w.start()
		w.says(ana, "hi")
		w.is.Equal(w.replies(), []string{"Away"})

		c := w.conversationOf(storagetest.Select[string](t, w.dir, `SELECT id FROM messages WHERE source = 'rule'`)[0])
		w.is.True(c.WaitingSince != 0)
		w.is.Equal(c.LastMessageAt, c.LastInboundAt)
		w.is.Equal(storagetest.Select[string](t, w.dir, `SELECT format('%d %d %d', spell_in, spell_out, spell_replied_at) FROM conversations`), []string{"1 0 0"})
		w.is.Equal(c.Holder().Type, storage.HolderNone)
	})
}

// Each rule of the table fires only in the steps that it names.
func TestEveryConditionMustHold(t *testing.T) {
	ruling(t, func(w *world) {
		label, user := w.label("VIP"), w.user("Ada")
		storagetest.Connect(t, w.db, w.tenant, "400500600")
		w.setHours(`{"timezone":"UTC","weekly":{"mon":[["09:00","10:00"]]}}`)
		for _, name := range []string{
			`"hours":"open"`, `"hours":"closed"`, `"first_contact":true`, `"first_contact":false`, `"assigned":true`, `"assigned":false`,
			`"holder":"none"`, `"holder":"user"`, `"holder":"agent"`, `"label_id":"` + label + `"`,
			`"phone_number_ids":["100200300"]`, `"phone_number_ids":["400500600"]`,
			`"text":{"match":"contains","any":["refund"]}`, `"text":{"match":"contains","any":["refund"]},"hours":"open"`,
		} {
			w.rule(strings.NewReplacer(`"`, "", label, "L").Replace(name), `{"if":{`+name+`},"once_per":"message","then":[{"note":"x"}]}`)
		}
		w.start()
		holds := func(names ...string) {
			t.Helper()
			for i := range names {
				names[i] += " note"
			}
			w.is.Equal(w.fired(), names)
		}

		w.says(ana, "Refund!")
		holds("hours:open", "first_contact:true", "assigned:false", "holder:none", "phone_number_ids:[100200300]",
			"text:{match:contains,any:[refund]}", "text:{match:contains,any:[refund]},hours:open")
		time.Sleep(time.Hour)
		w.says(ana, "a refund")
		holds("hours:closed", "first_contact:false", "assigned:false", "holder:none", "phone_number_ids:[100200300]",
			"text:{match:contains,any:[refund]}")

		w.setThread(func(c *storage.Conversation) { c.AssigneeID = &user.ID })
		w.onThread(func(tx *storage.Tx, s event.Subject, c storage.Conversation) error {
			if _, err := tx.SetConversationLabel(c.ID, label, true); err != nil {
				return err
			}
			return messaging.HandOver(tx, s, event.By{Type: event.BySystem}, c, messaging.User(&user.ID), nil)
		})
		w.says(ana, "hello")
		holds("hours:closed", "first_contact:false", "assigned:true", "holder:user", "label_id:L", "phone_number_ids:[100200300]")
	})
}

func TestOncePerDayAndPerMessage(t *testing.T) {
	ruling(t, func(w *world) {
		w.setHours(`{"timezone":"America/Los_Angeles"}`)
		w.rule("day", `{"then":[{"note":"x"}],"once_per":"day"}`)
		w.rule("message", `{"then":[{"note":"x"}],"once_per":"message"}`)
		w.start()
		w.says(ana, "hi") // at one in the night there
		w.is.Equal(w.fired(), []string{"day note", "message note"})
		time.Sleep(22 * time.Hour)
		w.says(ana, "hi") // the next day in UTC, at eleven at night there
		w.is.Equal(w.fired(), []string{"message note"})
		time.Sleep(time.Hour)
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"day note", "message note"})

		time.Sleep(2 * time.Hour)
		for range 12 {
			w.says(ana, "hi")
		}
		w.is.Equal(len(w.fired()), 10) // an hour
		w.says(bo, "hi")
		w.is.Equal(len(w.fired()), 2) // in another conversation
		time.Sleep(time.Hour + time.Second)
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"message note"})
	})
}

func TestAConversationIsOpenedByTheFirstMessageOfASpell(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("opened", `{"on":"conversation_opened","once_per":"message","then":[{"note":"x"}]}`)
		w.start()
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"opened note"})
		w.says(ana, "hi")
		w.resolve()
		w.is.Equal(len(w.fired()), 0)
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"opened note"})

		w.queue("+"+bo, "text", `{"body":"first"}`)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			return tx.MarkMessageWritten(w.thread("+"+bo).ConversationID, "text", storage.SourceAPI)
		})
		w.says(bo, "hi") // who was written to
		w.is.Equal(len(w.fired()), 0)
	})
}

// What is refused counts too, and what comes after it is done.
func TestWhatIsRefusedIsRecordedAndCounts(t *testing.T) {
	ruling(t, func(w *world) {
		elsewhere := storage.Team{OrganizationID: w.tenant.Organization.ID, Name: "Elsewhere"}
		other := storage.Label{OrganizationID: w.tenant.Organization.ID, Name: "Theirs", Color: "#000000"}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			if err := tx.InsertTeam(&elsewhere); err != nil {
				return err
			}
			other.TeamID = elsewhere.ID
			return tx.InsertLabel(&other)
		})
		w.rule("tries", `{"then":[{"reply":{"text":"Hi {{name}}"}},{"add_label":"`+other.ID+`"},{"hand_over":{"to":{"type":"agent","id":"bot"}}},{"note":"x"}]}`)
		w.start()
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"tries reply: missing_parameter, add_label: label_of_other_team, hand_over: agent_gone, note"})
		w.says(ana, "hi")
		w.is.Equal(len(w.fired()), 0)

		w.setOrganization(func(o *storage.Organization) { o.Subscription = storage.SubscriptionInactive })
		w.rule("sends", `{"then":[{"reply":{"text":"Hi"}}]}`)
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"sends reply: subscription_inactive"})
		w.is.Equal(len(w.replies()), 0)
	})
}

func TestARuleIsDisabledWhenWhatItNeedsIsGone(t *testing.T) {
	ruling(t, func(w *world) {
		w.periodic = nil
		label, user := w.label("VIP"), w.user("Ada")
		q := storage.QuickReply{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Shortcut: "hi", Text: "Hi"}
		other := storagetest.Connect(t, w.db, w.tenant, "400500600")
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.InsertQuickReply(&q) })
		w.rule("label", `{"then":[{"remove_label":"`+label+`"}]}`)
		w.rule("user", `{"then":[{"assign":"`+user.ID+`"}]}`)
		w.rule("quick reply", `{"then":[{"reply":{"quick_reply_id":"`+q.ID+`"}}]}`)
		w.rule("condition", `{"if":{"label_id":"`+label+`"},"then":[{"note":"x"}]}`)
		w.rule("quiet", `{"on":"conversation_idle","if":{"label_id":"`+label+`","idle_minutes":5},"then":[{"note":"x"}]}`)
		w.rule("template", `{"then":[{"reply":{"template":{"name":"sale","language":"en_US"}}}]}`)
		w.rule("number", `{"if":{"phone_number_ids":["400500600"]},"then":[{"note":"x"}]}`)
		w.rule("stays", `{"then":[{"note":"x"}]}`)
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			if err := tx.DeleteLabel(w.tenant.Organization.ID, label); err != nil {
				return err
			}
			if err := tx.DeleteQuickReply(w.tenant.Organization.ID, q.ID); err != nil {
				return err
			}
			return tx.DisableUser(user.ID)
		})
		w.disconnect(other)
		w.start()
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"label remove_label: label_gone", "user assign: user_gone", "quick reply reply: quick_reply_gone",
			"template reply: template_gone", "stays note"})

		off := func() []string {
			return storagetest.Select[string](t, w.dir, `SELECT disabled_reason FROM rules WHERE NOT enabled ORDER BY position`)
		}
		w.is.Equal(off(), []string{"label_gone", "user_gone", "quick_reply_gone", "label_gone", "template_gone"})
		w.stop()
		w.periodic = []string{"rules.idle"} // which looks for numbers, and for labels of idle rules
		w.start()
		w.is.Equal(off(), []string{"label_gone", "user_gone", "quick_reply_gone", "label_gone", "label_gone", "template_gone", "number_gone"})
	})
}

// Nothing but what a person writes asks rules.
func TestARuleAnswersNoOneButPeople(t *testing.T) {
	ruling(t, func(w *world) {
		w.says(ana, "hi")
		w.template("UTILITY")
		w.rule("answers", `{"then":[{"reply":{"text":"Hi"}}],"once_per":"message"}`)
		w.start()
		for name, do := range map[string]func(){
			"a reaction": func() {
				w.callback("messages", `"messages":[{"from":"15550001111","id":"wamid.r","timestamp":"1","type":"reaction","reaction":{"message_id":"wamid.in.1","emoji":"x"}}]`)
			},
			"a change of number": func() {
				w.callback("messages", `"messages":[{"from":"15550001111","id":"wamid.s","timestamp":"1","type":"system","system":{"type":"user_changed_number","body":"hi"}}]`)
			},
			"an echo": func() {
				w.callback("smb_message_echoes", `"message_echoes":[{"from":"1555100200300","to":"15550001111","id":"wamid.e","timestamp":"1","type":"text","text":{"body":"hi"}}]`)
			},
			"a standby message": func() {
				w.callback("standby", `"messages":[{"from":"15550001111","id":"wamid.b","timestamp":"1","type":"text","text":{"body":"hi"}}]`)
			},
			"a repeat": func() {
				w.callback("messages", `"messages":[{"from":"15550001111","id":"wamid.in.1","timestamp":"1","type":"text","text":{"body":"hi"}}]`)
			},
			"a message of ours": func() { w.text() },
			"a status of it":    func() { w.report("wamid.1", "delivered", "") },
			"a broadcast":       func() { w.broadcast(people(2)) },
			"a message of a deleted rule": func() {
				w.queue("+"+ana, "text", `{"body":"x"}`, func(m *storage.Message) { m.Source = storage.SourceRule })
			},
		} {
			do()
			synctest.Wait()
			if got := w.fired(); len(got) > 0 {
				t.Errorf("%s was answered: %v", name, got)
			}
		}
		w.says(ana, "hi")
		w.is.Equal(w.fired(), []string{"answers reply"}) // and its reply was not
	})
}

// A job that runs again finds its rules fired, and one whose message or rule is gone does nothing.
func TestRulesFireOnceHoweverOftenTheirJobRuns(t *testing.T) {
	ruling(t, func(w *world) {
		w.rule("first", `{"then":[{"reply":{"text":"Hi"}},{"note":"x"}],"once_per":"message"}`)
		w.rule("second", `{"then":[{"note":"x"}]}`)
		w.says(ana, "hi")
		w.says(bo, "hi")
		storagetest.Exec(t, w.dir, `INSERT INTO jobs (kind, lane, args, state, due_at, created_at) SELECT kind, lane, args, state, due_at, created_at FROM jobs WHERE kind = 'rules.run'`)
		deleteMessage(w, storagetest.Select[string](t, w.dir, `SELECT id FROM messages WHERE provider_id = 'wamid.in.2'`)[0])
		w.start()
		w.is.Equal(w.fired(), []string{"first reply, note", "second note"})
		w.is.Equal(w.replies(), []string{"Hi"})
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM notes`), []int{2})
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM jobs WHERE kind = 'rules.run'`), []int{0})
	})
}

func TestFiringsMoveWithAMergeAndAreKeptForThirtyDays(t *testing.T) {
	ruling(t, func(w *world) {
		w.periodic = []string{"retention"}
		w.rule("spell", `{"then":[{"note":"x"}]}`)
		w.start()
		w.writes(`"from_user_id":"US.1"`, "wamid.a")
		w.says(ana, "hi")
		w.is.Equal(len(w.fired()), 2)
		w.writes(`"from":"15550001111","from_user_id":"US.1"`, "wamid.b") // both are one
		synctest.Wait()
		w.is.Equal(len(w.fired()), 0)
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(DISTINCT conversation_id) FROM rule_firings`), []int{1})

		storagetest.Exec(t, w.dir, `UPDATE rule_firings SET created_at = created_at - ?`, (28 * 24 * time.Hour).Milliseconds()) // as if 28 days had passed
		time.Sleep(24 * time.Hour)
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT 1 FROM rule_firings`)), 2)
		time.Sleep(48 * time.Hour)
		w.says(ana, "hi")
		w.is.Equal(len(w.fired()), 0) // nor is it forgotten in the same spell
		w.resolve()
		time.Sleep(2 * time.Hour)
		w.is.Equal(len(storagetest.Select[int](t, w.dir, `SELECT 1 FROM rule_firings`)), 0)
	})
}

func TestTheTraceSaysWhyARuleDidNothing(t *testing.T) {
	ruling(t, func(w *world) {
		w.setHours(`{"timezone":"UTC","weekly":{}}`)
		w.rule("done", `{"then":[{"note":"x"},{"hand_over":{"to":{"type":"agent","id":"no"}}}]}`)
		w.rule("hours", `{"if":{"hours":"open"},"then":[{"note":"x"}]}`)
		w.rule("text", `{"if":{"text":{"match":"equals","any":["no"]}},"then":[{"note":"x"}]}`)
		w.rule("opened", `{"on":"conversation_opened","if":{"first_contact":false},"then":[{"note":"x"}]}`)
		stops := w.rule("stops", `{"stop":true,"once_per":"day","then":[{"note":"x"}]}`)
		w.rule("last", `{"then":[{"note":"x"}]}`)
		w.start()
		w.says(ana, "hi")
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { // it is named all the same
			r, err := tx.Rule(w.tenant.Organization.ID, stops)
			r.Enabled = false
			return cmp.Or(err, tx.UpdateRule(&r))
		})
		w.says(ana, "hi again")
		traced := func(wamid string) (all []string) {
			id := storagetest.Select[string](t, w.dir, `SELECT id FROM messages WHERE provider_id = ?`, wamid)[0]
			storagetest.View(t, w.db, func(rx *storage.Rx) error {
				lines, err := jobs.TraceRules(rx, w.message(id))
				for _, l := range lines {
					why := storage.OrEmpty(l.Unmet)
					for _, a := range l.Actions {
						why += a.Action + " " + a.Outcome + " "
					}
					all = append(all, *l.Name+": "+strings.TrimSpace(why))
				}
				return err
			})
			return all
		}
		w.is.Equal(traced("wamid.in.1"), []string{"done: note done hand_over refused", "stops: note done", "hours: hours", "text: text", "opened: first_contact", "last: stop"})
		w.is.Equal(traced("wamid.in.2"), []string{"last: note done", "done: once_per", "hours: hours", "text: text", "opened: on"})
	})
}

// consents lists how consent was changed, and by what.
func (w *world) consents() (all []string) {
	for _, e := range w.stored() {
		if e.Type != "contact.consent_changed" {
			continue
		}
		var told struct {
			Data struct {
				OptedOut  bool `json:"marketing_opted_out"`
				By        string
				MessageID *string `json:"message_id"`
			}
		}
		w.is.NoErr(json.Unmarshal(e.Payload, &told))
		all = append(all, fmt.Sprint(told.Data.By, " ", told.Data.OptedOut, " ", told.Data.MessageID != nil))
	}
	return all
}

func TestAnOptOutWordStopsMarketingAndAsksNoRule(t *testing.T) {
	ruling(t, func(w *world) {
		words := rules.DefaultOptOut()
		words.Enabled, words.StopReply, words.StartReply = new(true), new("You get no more, {{name|friend}}."), new("Welcome back.")
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.SetOptOut(w.account.ID, words) })
		w.rule("answers", `{"then":[{"reply":{"text":"Hi"}}],"once_per":"message"}`)

		w.says(ana, "إلغاء")
		w.is.True(w.thread("+" + ana).MarketingOptedOut) // with the message, before any job
		w.start()
		w.says(ana, "Stop!")                                          // once more: no second answer
		w.is.Equal(w.replies(), []string{"You get no more, friend."}) // as a rule would say it
		w.is.Equal(len(w.fired()), 0)
		w.is.Equal(storagetest.Select[string](t, w.dir, `SELECT source || coalesce(rule_id, '') FROM messages WHERE direction = 'outbound'`), []string{"rule"})
		w.says(ana, "START")
		w.is.Equal(w.replies(), []string{"Welcome back."})
		w.is.True(!w.thread("+" + ana).MarketingOptedOut)
		w.says(ana, "please stop")
		w.is.Equal(w.replies(), []string{"Hi"})
		w.is.Equal(w.consents(), []string{"word true true", "word false true"})

		// What the provider said, no word takes back.
		w.callback("user_preferences", `"user_preferences":[{"wa_id":"15550001111","detail":"x","category":"marketing_messages","value":"stop","timestamp":1750030073}]`)
		w.is.True(w.thread("+" + ana).MarketingOptedOut)
		w.says(ana, "start")
		w.is.True(w.thread("+" + ana).MarketingOptedOut)
		w.is.Equal(len(w.replies()), 0)
		w.is.Equal(slices.Compact(w.consents()), []string{"word true true", "word false true", "provider true false"})
	})
}

// A rule that cannot fire costs a message no job: by its text, its hours, or what it has done.
func TestARuleThatCannotFireIsNotAsked(t *testing.T) {
	ruling(t, func(w *world) {
		w.setHours(`{"timezone":"UTC","weekly":{"mon":[["09:00","10:00"]]}}`)
		w.rule("away", `{"if":{"hours":"closed"},"then":[{"note":"x"}]}`)
		w.rule("price", `{"if":{"text":{"match":"contains","any":["price"]}},"then":[{"note":"x"}]}`)
		w.rule("quiet", `{"on":"conversation_idle","if":{"idle_minutes":60},"then":[{"note":"x"}]}`)
		asked := func() int {
			return storagetest.Select[int](t, w.dir, `SELECT count(*) FROM jobs WHERE kind = 'rules.run'`)[0]
		}
		w.says(ana, "hi")
		w.is.Equal(asked(), 0)
		time.Sleep(time.Hour)
		w.says(ana, "hi")
		w.is.Equal(asked(), 1) // the number is closed
		w.start()
		w.is.Equal(w.fired(), []string{"away note"})
		w.stop()
		w.says(ana, "hi")
		w.is.Equal(asked(), 0) // it has fired in this spell
		w.resolve()
		w.says(ana, "hi")
		w.is.Equal(asked(), 1)
	})
}

// A quick reply goes out whole, with the buttons or the list below its text.
func TestARuleSendsTheButtonsOfAQuickReply(t *testing.T) {
	ruling(t, func(w *world) {
		q := storage.QuickReply{
			OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Shortcut: "pick", Text: "Pick one, {{name|friend}}",
			Interactive: storage.JSON(`{"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"1","title":"Yes"}}]}}`),
		}
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.InsertQuickReply(&q) })
		w.rule("asks", `{"then":[{"reply":{"quick_reply_id":"`+q.ID+`"}}]}`)
		w.start()
		w.says(ana, "hi")

		var sent struct{ Type, Interactive json.RawMessage }
		w.is.NoErr(json.Unmarshal([]byte(w.provider.calls()[0].body), &sent))
		w.is.Equal(string(sent.Type), `"interactive"`)
		w.is.Equal(string(sent.Interactive), `{"action":{"buttons":[{"reply":{"id":"1","title":"Yes"},"type":"reply"}]},"body":{"text":"Pick one, friend"},"type":"button"}`)
		w.is.Equal(storagetest.Select[string](t, w.dir, `SELECT type || ' ' || body FROM messages WHERE source = 'rule'`), []string{"interactive Pick one, friend"})
	})
}
