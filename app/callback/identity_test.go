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

// contact stores somebody as the API or a send would.
func (l *line) contact(phone, bsuid string) storage.Contact {
	l.t.Helper()
	c := storage.Contact{AccountID: l.account.ID}
	if phone != "" {
		c.PhoneNumber = &phone
	}
	if bsuid != "" {
		c.BSUID = &bsuid
	}
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error { return tx.InsertContact(&c) })
	return c
}

func (l *line) byBSUID(bsuid string) (t storage.Thread) {
	l.t.Helper()
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) { t, err = rx.ThreadByBSUID(l.account.ID, bsuid); return err })
	return t
}

// from posts a text of somebody, whom profile describes.
func (l *line) from(who, profile, wamid string) {
	l.t.Helper()
	l.post(news("messages", "messages", profile, writtenBy(who, wamid, "text", `"text":{"body":"hi"}`)))
}

func TestSomebodyWithoutANumberIsKnownByID(t *testing.T) {
	l := newLine(t)
	l.from(`"from_user_id":"US.1","from_parent_user_id":"US.ENT.9"`, `{"profile":{"name":"Ana","username":"Ana.R"},"user_id":"US.1","parent_user_id":"US.ENT.9"}`, "wamid.1")
	l.from(`"from_user_id":"US.1"`, `{"profile":{"name":"Ana","username":"ana_r"},"user_id":"US.1"}`, "wamid.2")
	c := l.byBSUID("US.1")
	l.is.Equal(c.PhoneNumber, nil)
	l.is.Equal(*c.ParentBSUID, "US.ENT.9")
	l.is.Equal(*c.Username, "ana_r") // names are changed as people please
	l.is.Equal(*c.Name, "Ana")
	l.is.Equal(l.count("contacts"), 1)
	goldenEvent(t, "message_received_bsuid", l.typed("message.received")[0])
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "message.received"}) // a username is in no event

	l.post(news("messages", "messages", "", writtenBy(`"from_user_id":"US.1"`, "wamid.e", "edit", `"edit":{"original_message_id":"wamid.1","message":{"type":"text","text":{"body":"ho"}}}`),
		writtenBy(`"from_user_id":"US.1"`, "wamid.r", "revoke", `"revoke":{"original_message_id":"wamid.1"}`)))
	l.is.Equal(len(l.typed("message.edited")), 1)
	l.is.Equal(len(l.typed("message.revoked")), 1)

	l.from(`"from":"15550001111","from_user_id":"US.1"`, `{"profile":{"name":"Ana"},"wa_id":"15550001111","user_id":"US.1"}`, "wamid.3")
	l.is.Equal(*l.byBSUID("US.1").PhoneNumber, "+15550001111") // learned
	l.is.Equal(len(l.typed("contact.identity_updated")), 0)
	l.is.Equal(l.count("contacts"), 1)
	l.is.Equal(l.said()[0].PhoneNumber, nil)
}

func TestASenderMayBeNamedOnlyInTheProfile(t *testing.T) {
	l := newLine(t)
	l.post(news("messages", "messages", anasProfile, `{"id":"wamid.1","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`))
	l.is.Equal(*l.thread("+15550001111").Name, "Ana Ruiz")
	l.post(news("messages", "messages", anasProfile+","+storagetest.Swap(t, anasProfile, "1111", "2222"), `{"id":"wamid.2","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`))
	l.post(news("messages", "messages", "", `{"id":"wamid.3","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`))
	l.post(news("messages", "messages", "", `{"from":"0","from_user_id":"7","id":"wamid.4","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`))
	l.is.Equal(l.kept(), []string{"unknown sender", "unknown sender", "unknown sender"})
	l.is.Equal(l.count("contacts"), 1)
}

func TestTheNameFollowsTheProfileUnlessItIsOurs(t *testing.T) {
	l := newLine(t)
	named := func(name string) string { return storagetest.Swap(t, anasProfile, "Ana Ruiz", name) }
	l.from(ana, named("Ana"), "wamid.1")
	l.from(ana, named("Ana Ruiz"), "wamid.2")
	l.from(ana, named("Ana Ruiz"), "wamid.3")
	for i, nothing := range []string{"", "15550001111", "+15550001111", "US.13491208655302741918"} { // is said
		l.from(ana, named(nothing), fmt.Sprint("wamid.4.", i))
	}
	l.is.Equal(*l.thread("+15550001111").Name, "Ana Ruiz")
	l.is.Equal(len(l.typed("contact.updated")), 1)
	goldenEvent(t, "contact_updated_name", l.typed("contact.updated")[0])

	storagetest.Exec(t, l.dir, `UPDATE contacts SET name = 'Boss', name_is_ours = 1`)
	l.from(ana, named("Ana R."), "wamid.5")
	l.is.Equal(*l.thread("+15550001111").Name, "Boss")
	l.is.Equal(len(l.typed("contact.updated")), 1)
	l.from(ana, named(strings.Repeat("é", 300)), "wamid.6")
	storagetest.Exec(t, l.dir, `UPDATE contacts SET name_is_ours = 0`)
	l.from(ana, named(strings.Repeat("é", 300)), "wamid.7")
	l.is.Equal(len([]rune(*l.thread("+15550001111").Name)), 200)
}

func TestWritingIsConsent(t *testing.T) {
	l := newLine(t)
	l.contact("+15550001111", "")
	l.is.True(!l.thread("+15550001111").OptedIn)
	l.hear(hello("wamid.1", "hi"))
	l.is.True(l.thread("+15550001111").OptedIn)
}

func TestABSUIDThatIsAnotherIsTold(t *testing.T) {
	l := newLine(t)
	l.contact("+15550001111", "US.1")
	l.from(`"from":"15550001111","from_user_id":"US.2"`, "", "wamid.1")
	l.is.Equal(*l.thread("+15550001111").BSUID, "US.2")
	reported := l.typed("contact.identity_updated")
	l.is.Equal(len(reported), 1)
	goldenEvent(t, "contact_identity_updated_bsuid", reported[0])
}

// rotated words an update of an id; more is further keys with a comma after them.
func rotated(more, before, after string) string {
	return fmt.Sprintf(`{%s"detail":"User ID changed","user_id":{"previous":%q,"current":%q},"timestamp":"1750030073"}`, more, before, after)
}

func (l *line) update(items ...string) {
	l.t.Helper()
	l.post(news("user_id_update", "user_id_update", "", items...))
}

func TestAnUpdateOfAnIDIsAppliedOnce(t *testing.T) {
	l := newLine(t)
	l.contact("+15550001111", "US.1")
	for range 3 {
		l.update(rotated(`"wa_id":"15550001111","parent_user_id":{"previous":"US.ENT.1","current":"US.ENT.2"},`, "US.1", "US.2"))
	}
	c := l.byBSUID("US.2")
	l.is.Equal(*c.PhoneNumber, "+15550001111")
	l.is.Equal(*c.ParentBSUID, "US.ENT.2")
	l.is.Equal(l.kinds(), []string{"contact.identity_updated"})
	l.update(rotated("", "US.404", "US.405"), `{}`, `null`, rotated("", "", "US.6"), rotated("", "US.2", "nonsense"))
	l.is.Equal(l.kinds(), []string{"contact.identity_updated"})
	l.is.Equal(l.kept(), []string{"unreadable identity", "unreadable identity", "unreadable identity", "unreadable identity"})
	l.is.Equal(l.count("contacts"), 1) // no contact is made up
}

func TestAnUpdateByNumberTeachesTheID(t *testing.T) {
	l := newLine(t)
	l.contact("+15550001111", "")
	l.update(rotated(`"wa_id":"15550001111",`, "US.2", "US.2")) // which is no other
	l.is.Equal(*l.thread("+15550001111").BSUID, "US.2")
	l.is.Equal(len(l.events()), 0)
}

func TestARotationIsToldEvenIfNobodyKnewTheIDBefore(t *testing.T) {
	l := newLine(t)
	l.contact("+15550001111", "")
	for range 2 {
		l.update(rotated(`"wa_id":"15550001111",`, "US.1", "US.2"))
	}
	l.is.Equal(*l.thread("+15550001111").BSUID, "US.2")
	l.is.Equal(l.kinds(), []string{"contact.identity_updated"})
	goldenEvent(t, "contact_identity_updated_unknown", l.typed("contact.identity_updated")[0])
}

// TestAChangeOfNumberIsToldOnce where the news of the id, which names the number
// too, comes before the news of the number.
func TestAChangeOfNumberIsToldOnce(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.1", "hi"))
	l.update(rotated(`"wa_id":"15550003333",`, "US.13491208655302741918", "US.3"))
	l.post(news("messages", "messages", "", moved("wamid.s", `{"wa_id":"15550003333","type":"user_changed_number"}`)))
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "contact.identity_updated"})
	l.is.Equal(*l.thread("+15550003333").BSUID, "US.3")
}

// TestAPersonIsFoundByWhoItWas: the sender of such a message may be the person as it is now.
func TestAPersonIsFoundByWhoItWas(t *testing.T) {
	for name, c := range map[string]struct{ from, system string }{
		"id":               {`"from_user_id":"US.2"`, `{"body":"x","previous_user_id":"US.1","user_id":"US.2","type":"user_changed_user_id"}`},
		"id of the sender": {`"from_user_id":"US.2"`, `{"body":"x","previous_user_id":"US.1","type":"user_changed_user_id"}`},
		"parent": {`"from_user_id":"US.2","from_parent_user_id":"US.ENT.2"`,
			`{"body":"x","previous_user_id":"US.404","previous_parent_user_id":"US.ENT.1","user_id":"US.2","parent_user_id":"US.ENT.2","type":"user_changed_user_id"}`},
		"number": {`"from":"15550003333","from_user_id":"US.2"`,
			`{"body":"x","previous_user_id":"US.1","wa_id":"15550003333","user_id":"US.2","type":"user_changed_number"}`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.from(`"from_user_id":"US.1","from_parent_user_id":"US.ENT.1"`, `{"profile":{"name":"Ana"},"user_id":"US.1","parent_user_id":"US.ENT.1"}`, "wamid.1")
			for range 2 {
				l.post(news("messages", "messages", "", writtenBy(c.from, "wamid.s", "system", `"system":`+c.system)))
			}
			l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "contact.identity_updated"})
			l.is.Equal(*l.byBSUID("US.2").Name, "Ana")
			if name == "number" {
				l.is.Equal(*l.byBSUID("US.2").PhoneNumber, "+15550003333")
			}
			l.is.Equal(l.count("contacts"), 1)
			l.is.Equal(l.kept(), nil)
		})
	}
}

func TestACardOnRequestJoinsTheNumberToItsPerson(t *testing.T) {
	card := func(origin string) string {
		return `"contacts":[{"name":{"formatted_name":"Ana"},"phones":[{"phone":"+1 555-000-1111","wa_id":"15550001111"}],"origin":"` + origin + `"}]`
	}
	l := newLine(t)
	l.contact("+15550001111", "") // who was written to by number before
	who, profile := `"from_user_id":"US.1"`, `{"profile":{"name":"Ana","username":"ana"},"user_id":"US.1"}`
	l.from(who, profile, "wamid.1")
	l.post(news("messages", "messages", profile, writtenBy(who, "wamid.2", "contacts", card("other"))))
	l.is.Equal(l.byBSUID("US.1").PhoneNumber, nil) // of somebody else, for all we know
	l.is.Equal(l.count("contacts"), 2)

	for range 2 {
		l.post(news("messages", "messages", profile, writtenBy(who, "wamid.3", "contacts", card("contact_request"))))
	}
	l.is.Equal(*l.byBSUID("US.1").PhoneNumber, "+15550001111")
	l.is.Equal(l.count("contacts"), 1) // the two are one person
	l.is.Equal(l.count("messages"), 3)
}

// moved words a change of number.
func moved(wamid, content string) string { return written(wamid, "system", `"system":`+content) }

func TestAChangeOfNumberIsApplied(t *testing.T) {
	for name, content := range map[string]string{
		"now":   `{"body":"x","wa_id":"15550003333","type":"user_changed_number"}`,
		"older": `{"body":"x","new_wa_id":"15550003333","type":"user_changed_number"}`,
		"by id": `{"body":"x","wa_id":"15550003333","user_id":"US.2","parent_user_id":"US.ENT.2","type":"user_changed_user_id"}`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.hear(hello("wamid.1", "hi"))
			for range 3 {
				l.post(news("messages", "messages", "", moved("wamid.s", content)))
			}
			l.is.Equal(l.kinds(), []string{"contact.created", "message.received", "contact.identity_updated"})
			c := l.thread("+15550003333")
			l.is.Equal(*c.Name, "Ana Ruiz")
			l.is.Equal(len(l.said()), 1)
			l.is.Equal(*l.said()[0].To(), "+15550001111") // where it came from then
			var reported struct {
				Data struct {
					Reason            string
					Previous, Current map[string]any
				}
			}
			l.is.NoErr(json.Unmarshal(l.typed("contact.identity_updated")[0].Payload, &reported))
			l.is.Equal(reported.Data.Reason, "phone_number_changed")
			l.is.Equal(reported.Data.Previous["phone_number"], "+15550001111")
			l.is.Equal(reported.Data.Current["phone_number"], "+15550003333")
			goldenEvent(t, "contact_identity_updated_"+strings.ReplaceAll(name, " ", "_"), l.typed("contact.identity_updated")[0])
		})
	}
}

func TestOtherSystemMessagesMakeNothing(t *testing.T) {
	l := newLine(t)
	l.post(news("messages", "messages", "", moved("wamid.1", `{"type":"customer_identity_changed","identity":{"hash":"x"}}`), moved("wamid.2", `7`),
		written("wamid.3", "system", ""), moved("wamid.4", `{"wa_id":"15550003333","type":"user_changed_number"}`)))
	l.is.Equal(l.kept(), []string{"not handled", "unreadable message", "unreadable message"})
	l.is.Equal(l.count("contacts"), 0)
	l.is.Equal(l.count("messages"), 0)
}

// TestTwoContactsThatAreOneAreMerged lets a person be known by number and, as
// somebody else, by id, until a message names both.
func TestTwoContactsThatAreOneAreMerged(t *testing.T) {
	for _, older := range []string{"number", "id"} {
		t.Run("the "+older+" is older", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(t)
				byNumber, byID := func() { l.from(`"from":"15550001111"`, "", "wamid.n") }, func() { l.from(`"from_user_id":"US.1"`, "", "wamid.i") }
				first, second := byNumber, byID
				if older == "id" {
					first, second = byID, byNumber
				}
				first()
				time.Sleep(time.Second)
				second()
				ids := storagetest.Select[string](t, l.dir, `SELECT id FROM contacts ORDER BY created_at`)
				conversations := storagetest.Select[string](t, l.dir, `SELECT id FROM conversations ORDER BY created_at`)
				l.dress(ids, conversations)
				l.from(`"from":"15550001111","from_user_id":"US.1"`, anasNamed("US.1"), "wamid.both")

				c := l.thread("+15550001111")
				l.is.Equal(c.ID, ids[0]) // the older stays
				l.is.Equal(*c.BSUID, "US.1")
				l.is.Equal(*c.Name, "Ana Ruiz")
				l.is.Equal(*c.Email, "second@example.com")
				l.is.True(c.MarketingOptedOut)
				l.is.Equal(l.count("contacts"), 1)
				l.is.Equal(c.ConversationID, conversations[0])
				l.is.Equal(l.count("conversations"), 1)
				l.is.Equal(l.conversation().Unread, 3)
				l.is.Equal(l.conversation().Status, "open")
				l.is.Equal(l.count("contact_labels"), 2)
				l.is.Equal(l.count("conversation_labels"), 2)
				for _, m := range l.said() {
					l.is.Equal(m.ContactID, c.ID)
					l.is.Equal(m.ConversationID, c.ConversationID)
				}
				l.is.Equal(len(l.said()), 3)
				l.is.Equal(l.kinds()[4:], []string{"contact.identity_updated", "contact.consent_changed", "contact.updated", "message.received"})
				l.is.True(strings.Contains(string(l.typed("contact.updated")[0].Payload), `"changed_fields":["name","email","labels"]`))
				l.is.True(strings.Contains(string(l.typed("message.received")[2].Payload), `"name":"Shared"`))
			})
		})
	}
}

func anasNamed(bsuid string) string {
	return `{"profile":{"name":"Ana Ruiz"},"wa_id":"15550001111","user_id":"` + bsuid + `"}`
}

// dress gives two people what can be moved from one to the other.
func (l *line) dress(contacts, conversations []string) {
	l.t.Helper()
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error {
		for i, name := range []string{"Shared", "Second"} {
			label := storage.Label{OrganizationID: l.tenant.Organization.ID, TeamID: l.tenant.Team.ID, Name: name, Color: "red"}
			if err := tx.InsertLabel(&label); err != nil {
				return err
			}
			for who := range contacts {
				if who < i {
					continue // the second label is the second's alone
				}
				if _, err := tx.SetContactLabel(contacts[who], label.ID, true); err != nil {
					return err
				}
				if _, err := tx.SetConversationLabel(conversations[who], label.ID, true); err != nil {
					return err
				}
			}
		}
		return nil
	})
	storagetest.Exec(l.t, l.dir, `UPDATE conversations SET status = 'resolved' WHERE id = ?`, conversations[0])
	storagetest.Exec(l.t, l.dir, `UPDATE contacts SET email = 'second@example.com', marketing_opted_out = 1 WHERE id = ?`, contacts[1])
}

func TestAContactWithoutWordsAdoptsTheOthersConversation(t *testing.T) {
	l := newLine(t)
	quiet := l.contact("+15550001111", "")
	storagetest.Exec(t, l.dir, `UPDATE contacts SET created_at = 1`)
	l.from(`"from_user_id":"US.1"`, "", "wamid.1")
	conversation := l.byBSUID("US.1").ConversationID
	l.update(rotated(`"wa_id":"15550001111",`, "US.1", "US.2"))
	c := l.byBSUID("US.2")
	l.is.Equal(c.ID, quiet.ID)
	l.is.Equal(c.ConversationID, conversation)
	l.is.Equal(l.said()[0].ContactID, quiet.ID)
	l.is.Equal(l.count("contacts"), 1)
}

func TestSomebodyWrittenToByTheParentIDIsRecognized(t *testing.T) {
	l := newLine(t)
	written := storage.Contact{AccountID: l.account.ID, ParentBSUID: new("US.ENT.9")}
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.InsertContact(&written) })
	l.from(`"from":"15550001111","from_user_id":"US.1","from_parent_user_id":"US.ENT.9"`, "", "wamid.1")
	c := l.thread("+15550001111")
	l.is.Equal(c.ID, written.ID)
	l.is.Equal(*c.BSUID, "US.1")
	l.is.Equal(*c.ParentBSUID, "US.ENT.9")
	l.is.Equal(l.count("contacts"), 1)
}

func TestTheIDOfAParentIsNobodysOwn(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.1") // to ana's number
	l.report(ourNumber, status("wamid.1", "sent", `,"recipient_user_id":"US.ENT.9"`))
	l.from(`"from_user_id":"US.ENT.9"`, "", "wamid.2") // known by nothing else
	l.from(`"from_parent_user_id":"US.ENT.9"`, `{"profile":{"name":"US.ENT.9"},"parent_user_id":"US.ENT.9"}`, "wamid.3")
	l.is.Equal(l.count("contacts"), 2)
	said := l.said()
	l.is.Equal(said[0].ContactBSUID, nil)
	for _, m := range said[1:] {
		l.is.Equal(m.ContactBSUID, nil)
		l.is.Equal(*m.ContactParentBSUID, "US.ENT.9")
		l.is.Equal(m.ContactName, nil) // an id is no name
	}
}

func TestAStatusTeachesTheIDOfWhomWeWroteTo(t *testing.T) {
	l := newLine(t)
	l.outbound(l.account, "wamid.1") // to ana's number
	l.report(ourNumber, status("wamid.1", "sent", `,"recipient_user_id":"US.1","recipient_parent_user_id":"US.ENT.9"`))
	c := l.thread("+15550001111")
	l.is.Equal(*c.BSUID, "US.1")
	l.is.Equal(*c.ParentBSUID, "US.ENT.9")
	l.report(ourNumber, status("wamid.1", "read", `,"recipient_user_id":"US.old"`))
	l.is.Equal(*l.thread("+15550001111").BSUID, "US.1") // a status may be late
	l.is.Equal(l.kinds(), []string{"message.status", "message.status"})
}

func TestAStatusShowsThatTwoAreOne(t *testing.T) {
	l := newLine(t)
	id := l.outbound(l.account, "wamid.1")
	l.from(`"from_user_id":"US.1"`, "", "wamid.2") // somebody without a number, it seems
	l.is.Equal(l.count("contacts"), 2)
	l.report(ourNumber, status("wamid.1", "failed", `,"recipient_user_id":"US.1","errors":[{"code":131050,"title":"No","message":"No","error_data":{"details":"Stopped"}}]`))
	c := l.thread("+15550001111")
	l.is.Equal(*c.BSUID, "US.1")
	l.is.True(c.MarketingOptedOut)
	l.is.True(c.OptedIn)
	l.is.Equal(l.count("contacts"), 1)
	l.is.Equal(l.count("conversations"), 1)
	l.is.Equal(l.message(id).ContactID, c.ID)
	l.is.Equal(len(l.typed("contact.identity_updated")), 1)
	checkWholeness(t, l)
}

// TestAStatusNamesTheNumberOfWhoWasWrittenToByID and shows who has it.
func TestAStatusNamesTheNumberOfWhoWasWrittenToByID(t *testing.T) {
	for name, c := range map[string]struct {
		owner    string // who has the number, as it seems
		contacts int
		bsuid    string // of who has it in the end
	}{
		"nobody":        {"", 1, "US.1"},
		"somebody":      {`"from":"15550001111"`, 1, "US.1"},
		"somebody else": {`"from":"15550001111","from_user_id":"US.2"`, 2, "US.2"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			id := l.outbound(l.account, "wamid.1")
			storagetest.Exec(t, l.dir, `UPDATE contacts SET phone_number = NULL, bsuid = 'US.1'`)
			storagetest.Exec(t, l.dir, `UPDATE messages SET phone_number = NULL`)
			if c.owner != "" {
				l.from(c.owner, "", "wamid.2")
			}
			l.report(ourNumber, status("wamid.1", "sent", `,"recipient_user_id":"US.1"`))
			l.is.Equal(l.count("contacts"), c.contacts)
			l.is.Equal(*l.thread("+15550001111").BSUID, c.bsuid)
			l.is.Equal(*l.message(id).ContactBSUID, "US.1")
			checkWholeness(t, l)
		})
	}
}

func TestAnOldCallbackDoesNotBringAnOldIdentityBack(t *testing.T) {
	l := newLine(t)
	l.hear(hello("wamid.1", "hi"))
	l.post(news("messages", "messages", "", moved("wamid.s", `{"wa_id":"15550003333","type":"user_changed_number"}`)))
	l.update(rotated(`"wa_id":"15550003333",`, "US.13491208655302741918", "US.3"))
	events := len(l.events())
	l.hear(hello("wamid.1", "hi")) // the provider repeats itself
	l.is.Equal(l.count("contacts"), 1)
	l.is.Equal(len(l.events()), events)
}

// preference is a preference as a callback words it.
func preference(who, value string) string {
	return fmt.Sprintf(`{%s,"detail":"x","category":"marketing_messages","value":%q,"timestamp":1750030073}`, who, value)
}

func (l *line) prefer(items ...string) {
	l.t.Helper()
	l.post(news("user_preferences", "user_preferences", anasProfile, items...))
}

func TestMarketingIsStoppedAndResumed(t *testing.T) {
	l := newLine(t)
	byNumber, byID := `"wa_id":"15550001111"`, `"user_id":"US.13491208655302741918"`
	l.prefer(preference(byNumber, "resume")) // of no known person
	l.is.Equal(l.count("contacts"), 0)
	l.hear(hello("wamid.1", "hi"))
	for _, step := range []struct {
		change string
		out    bool
	}{{preference(byNumber, "stop"), true}, {preference(byNumber, "stop"), true}, {preference(byID, "resume"), false}, {preference(byID, "stop"), true}, {preference(byNumber, "signup"), false}} {
		l.prefer(step.change)
		l.is.Equal(l.thread("+15550001111").MarketingOptedOut, step.out)
	}
	const changed = "contact.consent_changed" // which the second stop did not
	l.is.Equal(l.kinds(), []string{"contact.created", "message.received", changed, changed, changed, changed})
	told := func(i int) string { return string(l.typed(changed)[i].Payload) }
	for i, out := range []string{"true", "false", "true", "false"} {
		l.is.True(strings.Contains(told(i), `"marketing_opted_out":`+out+`,"opted_in":true,"by":"provider","message_id":null`))
	}
	l.prefer(preference(byNumber, "later"), `{}`, `null`, storagetest.Swap(t, preference(byNumber, "stop"), "marketing_messages", "calls"))
	l.is.Equal(len(l.kept()), 4)
	l.is.True(!l.thread("+15550001111").MarketingOptedOut)
}

func TestSomebodyWhoStopsMarketingBeforeTheFirstMessageIsRemembered(t *testing.T) {
	l := newLine(t)
	l.prefer(preference(`"wa_id":"15550001111"`, "stop"))
	c := l.thread("+15550001111")
	l.is.True(c.MarketingOptedOut)
	l.is.True(!c.OptedIn)
	l.is.Equal(c.ConversationID, "")
	l.is.Equal(l.kinds(), []string{"contact.created", "contact.consent_changed"})
}
