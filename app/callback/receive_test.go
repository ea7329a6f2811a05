package callback

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/rules"
	"confab/storage"
	"confab/storage/storagetest"
)

func TestTheSameCallbackFiveTimesIsOneMessageAndOneEvent(t *testing.T) {
	for name, message := range map[string]string{
		"text":        hello("wamid.1", "hi"),
		"reaction":    written("wamid.1", "reaction", `"reaction":{"message_id":"wamid.out","emoji":"x"}`),
		"unsupported": written("wamid.1", "unsupported", `"unsupported":{"type":"unknown"}`),
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			for range 5 {
				l.hear(message)
			}
			l.hear(message, message)
			l.is.Equal(l.kinds(), []string{"contact.created", "message.received"})
			l.is.Equal(l.count("messages"), 1)
			l.is.Equal(l.count("conversations"), 1)
			if name != "reaction" {
				l.is.Equal(l.conversation().Unread, 1)
			}
		})
	}
}

// TestFiftyFirstMessagesAtOnceMakeOneContact posts the first words of a new person
// at the same moment, each in a callback of its own.
func TestFiftyFirstMessagesAtOnceMakeOneContact(t *testing.T) {
	is := is.New(t)
	l := newLine(t)
	l.server.WriteError = nil
	var group sync.WaitGroup
	for i := range 50 {
		server := *l.server // post gives each its own WriteError
		group.Go(func() {
			body := `{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[` +
				news("messages", "messages", anasProfile, hello(fmt.Sprint("wamid.", i), "hi")) + `]}]}`
			if status, refused := post(t, &server, body, sign(body)); status != 200 || refused != nil {
				t.Errorf("%d %v", status, refused)
			}
		})
	}
	group.Wait()
	is.Equal(l.count("contacts"), 1)
	is.Equal(l.count("conversations"), 1)
	is.Equal(l.count("messages"), 50)
	is.Equal(l.conversation().Unread, 50)
	is.Equal(len(l.typed("contact.created")), 1)
	is.Equal(len(l.typed("message.received")), 50)
}

func TestAMessageReopensAResolvedConversationAndNoOther(t *testing.T) {
	for before, after := range map[string]string{"resolved": "open", "pending": "pending", "open": "open"} {
		t.Run(before, func(t *testing.T) {
			l := newLine(t)
			l.hear(hello("wamid.1", "hi"))
			storagetest.Exec(t, l.dir, `UPDATE conversations SET status = ?, unread_count = 0`, before)
			l.hear(written("wamid.2", "reaction", `"reaction":{"message_id":"wamid.out","emoji":"x"}`))
			l.is.Equal(l.conversation().Status, before) // a reaction is nothing to answer
			l.is.Equal(l.conversation().Unread, 0)
			l.hear(hello("wamid.3", "hi"))
			l.is.Equal(l.conversation().Status, after)
			l.is.Equal(l.conversation().Unread, 1)
			reported := l.typed("message.received")
			l.is.True(strings.Contains(string(reported[2].Payload), `"conversation":{"status":"`+after+`","assigned_to":null}`))
		})
	}
}

func TestAConversationKnowsWhenSomebodyLastWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		at := func(wamid, kind, content string, when time.Time) string {
			return storagetest.Swap(t, written(wamid, kind, content), "1750030073", fmt.Sprint(when.Unix()))
		}
		began := storage.Now()
		l.hear(at("wamid.1", "text", `"text":{"body":"hi"}`, time.Now()))
		l.is.Equal(l.conversation(), state{"open", 1, began, began, began})

		time.Sleep(10*time.Minute + 300*time.Millisecond)
		l.hear(at("wamid.2", "reaction", `"reaction":{"message_id":"wamid.out","emoji":"x"}`, time.Now()))
		l.is.Equal(l.conversation(), state{"open", 1, began, storage.Now(), storage.Now()})

		time.Sleep(time.Hour)
		late, came := time.Now().Add(-20*time.Minute), storage.Now()
		l.hear(at("wamid.3", "text", `"text":{"body":"sent long ago"}`, late))
		l.is.Equal(l.conversation(), state{"open", 2, came, storage.At(late.Truncate(time.Second)), came}) // the window counts from then

		l.hear(at("wamid.4", "text", `"text":{"body":"sent even longer ago"}`, late.Add(-time.Hour)))
		l.is.Equal(l.conversation().Inbound, storage.At(late.Truncate(time.Second)))
	})
}

func TestTheEventNamesLabelsAndAssignee(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.1", "hi"))
	user := storage.User{OrganizationID: l.tenant.Organization.ID, TeamID: l.tenant.Team.ID, Name: "Bo"}
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
		label := storage.Label{OrganizationID: l.tenant.Organization.ID, TeamID: l.tenant.Team.ID, Name: "VIP", Color: "red"}
		if err := tx.InsertLabel(&label); err != nil {
			return err
		}
		if err := tx.InsertUser(&user); err != nil {
			return err
		}
		thread, err := tx.ThreadByPhone(l.account.ID, "+15550001111")
		if err != nil {
			return err
		}
		_, err = tx.SetConversationLabel(thread.ConversationID, label.ID, true)
		return err
	})
	storagetest.Exec(t, l.dir, `UPDATE conversations SET assignee_id = ?`, user.ID)
	l.hear(hello("wamid.2", "hi"))
	goldenEvent(t, "message_received_labeled", withoutUser(l.typed("message.received")[1], user.ID))
}

// withoutUser gives a user an id that is the same in every run.
func withoutUser(e storage.Event, id string) storage.Event {
	e.Payload = []byte(strings.ReplaceAll(string(e.Payload), id, "01JQ0Z8M4T9V2X3W5Y6A7B8C9E"))
	return e
}

func TestAMessageThatCouldNotBeShownIsUpgraded(t *testing.T) {
	l := newLine(t)
	l.hear(written("wamid.1", "unsupported", `"errors":[{"code":131060,"title":"This message is unavailable."}],"unsupported":{"type":"unknown"}`))
	first := l.said()[0]
	l.hear(written("wamid.1", "text", `"text":{"body":"the real thing"},"context":{"id":"wamid.out"}`))
	l.hear(hello("wamid.1", "not again"))
	l.hear(written("wamid.1", "unsupported", `"unsupported":{"type":"unknown"}`))
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.received"})
	m := l.said()[0]
	l.is.Equal(len(l.said()), 1)
	l.is.Equal(m.ID, first.ID)
	l.is.Equal(m.Type, "text")
	l.is.Equal(*m.Body, "the real thing")
	l.is.Equal(string(m.Content), `{"body":"the real thing"}`)
	l.is.True(strings.Contains(string(m.Context), "wamid.out"))
	l.is.Equal(l.conversation().Unread, 1) // it was counted before
	reported := l.typed("message.received")[1]
	l.is.Equal(reported.EventID, "wamid.1")
	l.is.True(strings.Contains(string(reported.Payload), first.ID))
}

// TestAWordThatIsShownLateOptsOut: what a message says may be known only the second time.
func TestAWordThatIsShownLateOptsOut(t *testing.T) {
	l := newLine(t)
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error {
		words := rules.DefaultOptOut()
		words.Enabled = new(true)
		return tx.SetOptOut(l.account.ID, words)
	})
	l.hear(written("wamid.1", "unsupported", `"errors":[{"code":131060,"title":"This message is unavailable."}],"unsupported":{"type":"unknown"}`))
	l.hear(hello("wamid.1", "STOP"))
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.received", "contact.consent_changed"})
}

func TestStatusesMessagesAndErrorsMayShareAChange(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.out")
	l.post(`{"field":"messages","value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550100200","phone_number_id":"` + ourNumber + `"},"contacts":[` + anasProfile + `],
		"statuses":[` + status("wamid.out", "read", "") + `],"messages":[` + hello("wamid.in", "hi") + `],"errors":[{"code":130429,"title":"Rate limit hit"}]}}`)
	l.is.Equal(l.message(id).Status, storage.MessageRead)
	l.is.Equal(l.kinds(), []string{"message.status", "contact.updated", "message.received"})
	value := valueOf(l, l.typed("message.received")[0].Payload)
	l.is.Equal(value["statuses"], nil)
	l.is.Equal(value["errors"], nil)
	l.is.Equal(l.kept(), []string{"reported error"})
}

func TestEntriesAndChangesAreAllTaken(t *testing.T) {
	l := newLine(t)
	other := storagetest.Connect(t, l.server.DB, l.tenant, "999888777")
	theirs := storagetest.Swap(t, news("messages", "messages", anasProfile, hello("wamid.3", "c")), ourNumber, "999888777")
	l.postBody(`{"object":"whatsapp_business_account","entry":[{"id":"waba-1","changes":[` +
		news("messages", "messages", anasProfile, hello("wamid.1", "a")) + `,` + news("messages", "messages", anasProfile, hello("wamid.2", "b")) + `]},
		{"id":"waba-2","changes":[` + theirs + `]},{"id":"waba-3"},{}]}`)
	l.is.Equal(len(l.said()), 2)
	l.is.Equal(l.count("contacts"), 2) // each number knows people by itself
	reported := l.typed("message.received")
	l.is.Equal(len(reported), 3)
	for i, want := range []string{"waba-1", "waba-1", "waba-2"} {
		l.is.Equal(strings.Count(string(reported[i].Payload), `"waba-`), 1) // nothing of the others
		l.is.True(strings.Contains(string(reported[i].Payload), want))
	}
	l.is.Equal(*reported[2].AccountID, other.ID)
}

func TestAMessageForANumberThatNobodyHasIsKept(t *testing.T) {
	l := newLine(t)
	var counted []string
	l.server.OnKept = func(field, reason string) { counted = append(counted, field+": "+reason) }
	l.post(storagetest.Swap(t, news("messages", "messages", anasProfile, hello("wamid.1", "a")), ourNumber, "404"))
	l.is.Equal(l.kept(), []string{"unknown number"})
	l.is.Equal(counted, []string{"messages: unknown number"})
	storagetest.Exec(t, l.dir, `UPDATE accounts SET deleted_at = 1`)
	l.server.DB.Update(t.Context(), func(*storage.Tx) error { return nil })
	fresh := reopen(l)
	fresh.hear(hello("wamid.2", "b"))
	fresh.report(ourNumber, status("wamid.3", "sent", ""))
	l.is.Equal(len(fresh.kept()), 1) // late callbacks for a removed number are dropped
	l.is.Equal(fresh.count("contacts"), 0)
}

// reopen opens the line's database anew, as after a restart.
func reopen(l *line) *line {
	l.t.Helper()
	l.is.NoErr(l.server.DB.Close())
	again := *l
	server := *l.server
	server.DB = storagetest.OpenDir(l.t, l.dir)
	again.server = &server
	return &again
}

func TestWhatIsNotUsedIsKeptAndMakesNothing(t *testing.T) {
	l := newLine(t)
	l.post(news("history", "history", "", `{"metadata":{"phase":0},"threads":[{"id":"15550001111","messages":[`+hello("wamid.old", "hi")+`]}]}`),
		news("smb_app_state_sync", "state_sync", "", `{"type":"contact","contact":{"full_name":"Bo","phone_number":"15550002222"},"action":"add"}`),
		news("standby", "messages", anasProfile, hello("wamid.2", "hi")), // while the provider's own agent holds the conversation
		news("messaging_handovers", "messaging_handovers", "", `{"new_owner":"agent"}`),
		`{"field":"brand_new","value":{"a":1}}`, news("messages", "messages", anasProfile, hello("wamid.1", "hi")))
	l.is.Equal(l.kept(), []string{"not used", "not used", "not used", "not used", "not handled"})
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received"})
	owners := storagetest.Select[int64](t, l.dir, `SELECT coalesce(account_id, 0) FROM raw_callbacks ORDER BY id`)
	l.is.Equal(owners, []int64{l.account.ID, l.account.ID, l.account.ID, l.account.ID, 0}) // what has an account goes with it
}

func TestNothingIsKeptOfWhatWasRemoved(t *testing.T) {
	l := newLine(t)
	everything := []string{
		news("history", "history", "", `{}`), news("brand_new", "messages", "", `{}`), news("messages", "messages", "", `{"id":7}`), news("messages", "statuses", "", `{"id":7}`),
		news("messages", "errors", "", `{"code":130429,"title":"Rate limit hit"}`), news("messages", "messages", anasProfile, hello("wamid.1", "hi")),
		`{"field":"account_update","value":{"event":"ACCOUNT_DELETED"}}`, `{"field":"account_update","value":{"event":"brand_new"}}`,
		`{"field":"message_template_status_update","value":{"event":"APPROVED","message_template_id":1,"message_template_name":"x","message_template_language":"en"}}`,
	}
	storagetest.Exec(t, l.dir, `UPDATE accounts SET deleted_at = 1, waba_id = 'waba-1'`)
	again := reopen(l)
	again.post(everything...)
	l.is.Equal(again.kept(), nil)
	storagetest.Exec(t, l.dir, `UPDATE accounts SET phone_number_id = '999', waba_id = '999'`) // it was another's
	again.post(everything...)
	l.is.Equal(len(again.kept()), len(everything))
	about := storagetest.Select[string](t, l.dir, `SELECT DISTINCT coalesce(phone_number_id, '-') || ' ' || waba_id FROM raw_callbacks ORDER BY 1`)
	l.is.Equal(about, []string{"- waba-1", ourNumber + " waba-1"}) // so that it can go when it is somebody's
}

func TestTheRestOfABatchIsTakenWhenOnePieceFails(t *testing.T) {
	l := newLine(t)
	storagetest.Exec(t, l.dir, `CREATE TRIGGER broken BEFORE INSERT ON messages WHEN new.provider_id = 'wamid.2' BEGIN SELECT RAISE(ABORT, 'no'); END`)
	l.hear(hello("wamid.1", "a"), hello("wamid.2", "b"), hello("wamid.3", "c"))
	l.is.Equal(len(l.said()), 2)
	l.is.Equal(l.kept(), []string{"failed"})
	l.is.Equal(l.conversation().Unread, 2)
}

// TestOnlyThePieceThatFailsIsKept posts a change that the database refuses item by
// item: the kept callback must not be larger than what came.
func TestOnlyThePieceThatFailsIsKept(t *testing.T) {
	l := newLine(t)
	storagetest.Exec(t, l.dir, `CREATE TRIGGER broken BEFORE INSERT ON messages WHEN new.provider_id LIKE 'wamid.bad%' BEGIN SELECT RAISE(ABORT, 'no'); END`)
	l.hear(hello("wamid.1", "good"))
	var messages []string
	for i := range 20 {
		messages = append(messages, hello(fmt.Sprint("wamid.bad.", i), "bad"), hello(fmt.Sprint("wamid.good.", i), "good"))
	}
	echo := storagetest.Swap(t, hello("wamid.bad.echo", "bad"), `"from"`, `"to"`)
	change := news("messages", "messages", anasProfile, messages...)
	l.post(change, news("smb_message_echoes", "message_echoes", "", echo))
	l.is.Equal(len(l.said()), 21)

	payloads := storagetest.Select[string](t, l.dir, `SELECT payload FROM raw_callbacks WHERE reason = 'failed' ORDER BY id`)
	l.is.Equal(len(payloads), 21)
	if size := len(strings.Join(payloads, "")); size > len(change) {
		t.Errorf("of a change of %d bytes %d are kept", len(change), size)
	}
	l.is.Equal(payloads[0], messages[0]) // as it came
	l.is.Equal(payloads[20], echo)
	owners := storagetest.Select[int64](t, l.dir, `SELECT DISTINCT account_id FROM raw_callbacks`)
	l.is.Equal(owners, []int64{l.account.ID}) // they go with their account
}

func TestWhatStandsBesideAMessageDoesNotHoldItUp(t *testing.T) {
	l := newLine(t)
	for i, odd := range []string{
		`"metadata":{"display_phone_number":15550100200,"phone_number_id":"` + ourNumber + `"}`, `"contacts":{}`, `"contacts":7`, `"errors":{}`, `"errors":"many"`, `"statuses":{}`, `"statuses":null`, `"messaging_product":[]`,
	} {
		value := `"metadata":{"phone_number_id":"` + ourNumber + `"},"messages":[` + hello(fmt.Sprint("wamid.", i), "hi") + `],` + odd
		l.post(`{"field":"messages","value":{` + value + `}}`)
		l.is.Equal(len(l.said()), i+1)
	}
	for i, odd := range []string{`"context":7`, `"context":{"id":[]}`, `"errors":"many"`, `"errors":{}`, `"referral":"x"`} {
		l.hear(written(fmt.Sprint("wamid.odd.", i), "text", `"text":{"body":"hi"},`+odd))
	}
	l.is.Equal(len(l.said()), 13)
	l.is.Equal(l.said()[8].Context, storage.JSON(nil)) // which is none
	l.is.Equal(l.kept(), []string{"reported error", "reported error", "unreadable status"})
}

func TestAnIDThatNoHeaderCanHoldIsNone(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.\t", "x"), hello("wamid.\n", "x"), hello("wamid.é", "x"), hello(strings.Repeat("w", 513), "x"), hello(strings.Repeat("w", 512), "long, but an id"))
	l.is.Equal(len(l.said()), 1)
	l.is.Equal(len(l.kept()), 4)
	l.hearEchoes(echo("wamid.\n", "text", `"text":{"body":"x"}`))
	l.is.Equal(len(l.kept()), 5)
}
