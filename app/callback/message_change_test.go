package callback

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// revoke words the deletion of a message.
func revoke(wamid, original string) string {
	return written(wamid, "revoke", fmt.Sprintf(`"revoke":{"original_message_id":%q}`, original))
}

// edit words the change of a text.
func edit(wamid, original, body string) string {
	return written(wamid, "edit", fmt.Sprintf(`"edit":{"original_message_id":%q,"message":{"type":"text","text":{"body":%q}}}`, original, body))
}

func TestARevokedMessageKeepsItsContent(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.1", "oops"))
	for range 3 {
		l.hear(revoke("wamid.r", "wamid.1"))
	}
	l.hear(revoke("wamid.r2", "wamid.1")) // it cannot be deleted twice
	m := l.said()[0]
	l.is.True(m.IsRevoked)
	l.is.Equal(string(m.Content), `{"body":"oops"}`)
	l.is.Equal(len(l.said()), 1)
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.revoked"})
	goldenEvent(t, "message_revoked", l.typed("message.revoked")[0])
	l.is.Equal(l.conversation().Unread, 1)
}

func TestAnEditedMessageKeepsEveryVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		l.hear(hello("wamid.1", "tomorow"))
		l.hear(edit("wamid.e1", "wamid.1", "tomorrow"))
		time.Sleep(time.Second)
		l.hear(edit("wamid.e2", "wamid.1", "tomorrow at nine"), edit("wamid.e3", "wamid.1", "tomorrow at ten"))
		l.is.Equal(l.conversation().Updated, storage.Now()) // which shows it
		time.Sleep(time.Second)
		l.hear(edit("wamid.e1", "wamid.1", "tomorrow"), edit("wamid.e3", "wamid.1", "tomorrow at ten")) // repeats
		l.is.True(l.conversation().Updated < storage.Now())
		m := l.said()[0]
		l.is.Equal(len(l.said()), 1)
		l.is.Equal(string(m.Content), `{"body":"tomorrow at ten"}`)
		l.is.Equal(*m.Body, "tomorrow at ten")
		l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.edited", "message.edited", "message.edited"})
		reported := l.typed("message.edited")
		goldenEvent(t, "message_edited", reported[0])
		goldenEvent(t, "message_edited_again", reported[2])
		storagetest.View(t, l.server.DB, func(rx *storage.Rx) error {
			earlier, err := rx.MessageEdits(m)
			l.is.NoErr(err)
			l.is.Equal(len(earlier), 3)
			l.is.Equal(string(earlier[0].Content), `{"body":"tomorow"}`) // the first version is kept
			return nil
		})
	})
}

func TestACaptionIsEditedToo(t *testing.T) {
	l := newLine(t)
	l.hear(written("wamid.1", "image", `"image":{"id":"77","mime_type":"image/jpeg","sha256":"x","caption":"Lok"}`))
	l.hear(written("wamid.e", "edit", `"edit":{"original_message_id":"wamid.1","message":{"type":"image","image":{"id":"77","mime_type":"image/jpeg","sha256":"x","caption":"Look"}}}`))
	m := l.said()[0]
	l.is.Equal(m.Type, "image")
	l.is.Equal(*m.Body, "Look")
	var reported struct{ Data map[string]any }
	l.is.NoErr(json.Unmarshal(l.typed("message.edited")[0].Payload, &reported))
	l.is.Equal(reported.Data["new_content"], "Look")
	l.is.Equal(reported.Data["original_content"], "Lok")
}

func TestAChangeOfSomebodyElsesMessageIsKept(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.out")
	l.hear(revoke("wamid.r", "wamid.out"), edit("wamid.e", "wamid.out", "x")) // people change only what they wrote
	l.is.Equal(l.kept(), []string{"unknown message", "unknown message"})
	for _, item := range []string{
		written("wamid.r", "revoke", ""), written("wamid.r", "revoke", `"revoke":{}`), written("wamid.r", "revoke", `"revoke":[]`),
		written("wamid.e", "edit", ""), written("wamid.e", "edit", `"edit":{"original_message_id":"wamid.out"}`),
		written("wamid.e", "edit", `"edit":{"original_message_id":"wamid.out","message":{"type":"text","text":{}}}`),
		written("wamid.e", "edit", `"edit":{"original_message_id":"wamid.out","message":{"type":"location","location":{}}}`),
		revoke("wamid.r", "wamid.\n"), revoke("wamid.\n", "wamid.out"), edit("wamid.e", strings.Repeat("w", 513), "x"),
	} {
		l.hear(item)
	}
	l.is.Equal(strings.Count(strings.Join(l.kept(), ","), "unreadable message"), 10)
	l.is.Equal(l.parked(), 0)
	l.is.Equal(len(l.events()), 0)
}

func TestAChangeThatIsFasterThanItsMessageWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		for range 2 { // and comes twice
			l.hear(edit("wamid.e1", "wamid.1", "tomorrow"))
			time.Sleep(time.Second)
			l.hear(edit("wamid.e2", "wamid.1", "tomorrow at ten"), revoke("wamid.r", "wamid.1"))
		}
		l.is.Equal(l.parked(), 3)
		l.is.Equal(len(l.events()), 0)
		for range 2 {
			l.hear(hello("wamid.1", "tomorow"))
			l.hear(edit("wamid.e1", "wamid.1", "tomorrow"), revoke("wamid.r", "wamid.1"))
		}
		l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.edited", "message.edited", "message.revoked"})
		m := l.said()[0]
		l.is.Equal(string(m.Content), `{"body":"tomorrow at ten"}`)
		l.is.True(m.IsRevoked)
		var reported struct{ Data map[string]any }
		l.is.NoErr(json.Unmarshal(l.typed("message.edited")[1].Payload, &reported))
		l.is.Equal(reported.Data["original_content"], "tomorow")
		l.is.Equal(reported.Data["contact_phone_number"], "+15550001111")
		described(t, l.typed("message.edited")[1])
		described(t, l.typed("message.revoked")[0])
		l.is.Equal(l.parked(), 0)
		l.is.Equal(len(l.kept()), 0)
	})
}

func TestWhatTheBusinessChangesBeforeItsMessageIsHereWaitsToo(t *testing.T) {
	l := newLine(t)
	sent := l.outbound(l.account, "")
	for _, wamid := range []string{"wamid.echo", "wamid.file", "wamid.api"} {
		l.hearEchoes(echo("wamid.r."+wamid, "revoke", fmt.Sprintf(`"revoke":{"original_message_id":%q}`, wamid)))
		l.hear(revoke("wamid.other."+wamid, wamid)) // which a person cannot
		l.report(ourNumber, status(wamid, "delivered", ""))
	}
	l.hearEchoes(echo("wamid.echo", "text", `"text":{"body":"no"}`), echo("wamid.file", "image", files["image"].content))
	l.settle(sent, "wamid.api")
	for _, m := range l.said() {
		l.is.True(m.IsRevoked)
		l.is.Equal(m.Status, storage.MessageDelivered)
	}
	l.is.Equal(len(l.said()), 3)
	l.is.Equal(len(l.typed("message.status")), 3)
	l.is.Equal(len(l.typed("message.revoked")), 0)
	l.is.Equal(l.parked(), 0)
}

func TestAStatusOfWhatSomebodyWroteIsDropped(t *testing.T) {
	l := newLine(t)
	l.report(ourNumber, status("wamid.1", "read", ""))
	l.hear(hello("wamid.1", "hi"))
	l.is.Equal(l.said()[0].Status, storage.MessageDelivered)
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received"})
	l.is.Equal(l.parked(), 0)
}

// echo words a message that the business sent to ana from its phone.
func echo(wamid, kind, more string) string {
	return fmt.Sprintf(`{"from":"15550100200","to":"15550001111","to_user_id":"US.13491208655302741918","id":%q,"timestamp":"1750030073","type":%q,%s}`, wamid, kind, more)
}

func (l *line) hearEchoes(items ...string) {
	l.t.Helper()
	l.post(news("smb_message_echoes", "message_echoes", anasProfile, items...))
}

func TestAnEchoIsASentMessage(t *testing.T) {
	l := newLine(t)
	l.report(ourNumber, status("wamid.1", "delivered", "")) // faster than its message
	for range 3 {
		l.hearEchoes(echo("wamid.1", "text", `"text":{"body":"I will call you"}`))
	}
	l.is.Equal(l.kinds(), []string{"contact.created", "conversation.handed_over", "message.sent", "message.status"})
	goldenEvent(t, "message_sent_echo", l.typed("message.sent")[0])
	m := l.said()[0]
	l.is.Equal(m.Direction, storage.Outbound)
	l.is.Equal(m.Source, "app")
	l.is.Equal(m.Status, storage.MessageDelivered)
	l.is.Equal(m.SentAt, storage.Time(1750030073000))
	l.is.Equal(l.conversation().Unread, 0)
	l.is.Equal(l.conversation().Inbound, storage.Time(0))
	l.is.True(l.conversation().Message > 0)
	l.is.True(!l.thread("+15550001111").OptedIn) // she has not written
	l.report(ourNumber, status("wamid.1", "read", ""))
	l.is.Equal(l.said()[0].Status, storage.MessageRead)
	l.is.Equal(l.count("usage"), 0)

	// It answers who waits.
	waiting := func() []int {
		return storagetest.Select[int](t, l.dir, `SELECT count(*) FROM conversations WHERE waiting_since > 0`)
	}
	l.hear(hello("wamid.2", "When?"))
	l.is.Equal(waiting(), []int{1})
	l.hearEchoes(echo("wamid.3", "text", `"text":{"body":"At five"}`))
	l.is.Equal(waiting(), []int{0})
}

func TestAnEchoToSomebodyWithoutANumber(t *testing.T) {
	l := newLine(t)
	l.post(news("smb_message_echoes", "message_echoes", `{"profile":{"username":"ana.r"},"user_id":"US.1"}`,
		`{"from":"15550100200","to_user_id":"US.1","to_parent_user_id":"US.ENT.9","id":"wamid.1","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`))
	m := l.said()[0]
	l.is.Equal(*m.Recipient, "US.1")
	l.is.Equal(m.To(), nil)
	l.is.Equal(*m.ContactUsername, "ana.r")
	l.is.Equal(*m.ContactParentBSUID, "US.ENT.9")
	goldenEvent(t, "message_sent_echo_bsuid", l.typed("message.sent")[0])
}

func TestWhatTheBusinessChangesOnItsPhoneIsRecorded(t *testing.T) {
	l := newLine(t)
	l.hearEchoes(echo("wamid.1", "text", `"text":{"body":"I will cal you"}`), echo("wamid.2", "text", `"text":{"body":"no"}`))
	l.hearEchoes(echo("wamid.e", "edit", `"edit":{"original_message_id":"wamid.1","message":{"type":"text","text":{"body":"I will call you"}}}`),
		echo("wamid.r", "revoke", `"revoke":{"original_message_id":"wamid.2"}`))
	l.is.Equal(*l.said()[0].Body, "I will call you")
	l.is.True(l.said()[0].EditedAt > 0)
	l.is.True(l.said()[1].IsRevoked)
	l.is.Equal(l.kinds(), []string{"contact.created", "conversation.handed_over", "message.sent", "message.sent"}) // events are of what people do
}

func TestAnEchoThatCannotBeReadIsKept(t *testing.T) {
	l := newLine(t)
	l.hearEchoes(`null`, `{}`, `{"id":"wamid.1","type":"text","text":{"body":"to nobody"}}`, echo("wamid.2", "text", `"text":7`), echo("wamid.3", "text", `"text":{"body":"fine"}`))
	l.is.Equal(l.kept(), []string{"unreadable message", "unreadable message", "unknown recipient", "unreadable message"})
	l.is.Equal(len(l.said()), 1)
	l.post(`{"field":"smb_message_echoes","value":{}}`, storagetest.Swap(t, news("smb_message_echoes", "message_echoes", "", echo("wamid.4", "text", `"text":{"body":"x"}`)), ourNumber, "404"))
	l.is.Equal(l.kept()[4:], []string{"unreadable", "unknown number"})
}
