package callback

import (
	"fmt"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

// The forms of a number: as clients write it, and as the provider does.
const sentForm, providerForm = "+5531987654321", "+553187654321"

// sent stores a message to a number, as the API does, with the provider's id unless "",
// and returns its own.
func (l *line) sent(to, wamid string) string {
	l.t.Helper()
	m := storage.Message{AccountID: l.account.ID, Direction: storage.Outbound, Type: "text", Status: storage.MessageQueued,
		Source: storage.SourceAPI, Content: storage.JSON(`{"body":"hi"}`), PhoneNumber: &to}
	storagetest.Update(l.t, l.server.DB, func(tx *storage.Tx) error {
		c, err := tx.ContactByPhone(l.account.ID, to)
		if err != nil {
			c = storage.Contact{AccountID: l.account.ID, PhoneNumber: &to}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
		}
		v, err := tx.EnsureConversation(l.account.ID, c.ID)
		if err != nil {
			return err
		}
		m.ContactID, m.ConversationID = c.ID, v.ID
		if err := tx.InsertMessage(&m); err != nil || wamid == "" {
			return err
		}
		_, err = tx.MarkSent(&m, wamid)
		return err
	})
	return m.ID
}

// reach reports a status of whom a message reached.
func (l *line) reach(wamid, name, phone, bsuid string) {
	l.t.Helper()
	more := ""
	if bsuid != "" {
		more = fmt.Sprintf(`,"recipient_user_id":%q`, bsuid)
	}
	l.report(ourNumber, fmt.Sprintf(`{"id":%q,"status":%q,"timestamp":"1750030073","recipient_id":%q%s}`, wamid, name, phone[1:], more))
}

// writer is somebody who writes.
func writer(phone, bsuid string) string {
	return fmt.Sprintf(`"from":%q,"from_user_id":%q`, phone[1:], bsuid)
}

// finds returns which contact a number finds, "" for none.
func (l *line) finds(phone string) string {
	l.t.Helper()
	var c storage.Contact
	storagetest.View(l.t, l.server.DB, func(rx *storage.Rx) (err error) {
		c, err = rx.ContactByPhone(l.account.ID, phone)
		return storage.IgnoreNotFound(err)
	})
	return c.ID
}

func TestAStatusTeachesHowTheProviderWritesANumber(t *testing.T) {
	for name, bsuid := range map[string]string{"number": "", "number_and_id": "BR.1"} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			id := l.sent(sentForm, "wamid.1")
			contact := l.finds(sentForm)
			for range 3 {
				l.reach("wamid.1", "sent", providerForm, bsuid)
			}
			l.reach("wamid.1", "read", providerForm, bsuid)
			l.is.Equal(*l.thread(providerForm).PhoneNumber, providerForm)
			l.is.Equal([]string{l.finds(sentForm), l.finds(providerForm)}, []string{contact, contact})
			l.is.Equal(*l.message(id).To(), sentForm) // where it went
			l.is.Equal(l.kinds(), []string{"contact.identity_updated", "message.status", "message.status"})
			goldenEvent(t, "contact_identity_updated_"+name, l.typed("contact.identity_updated")[0])
			checkWholeness(t, l)
		})
	}
}

func TestAStatusThatWaitedForItsMessageTeachesToo(t *testing.T) {
	l := newLine(t)
	l.reach("wamid.1", "sent", providerForm, "BR.1")
	l.is.Equal(l.parked(), 1)
	id := l.sent(sentForm, "")
	l.settle(id, "wamid.1")
	l.is.Equal(*l.thread(sentForm).PhoneNumber, providerForm)
	l.is.Equal(l.finds(sentForm), l.byBSUID("BR.1").ID)
	l.is.Equal(l.kinds(), []string{"message.sent", "contact.identity_updated", "message.status"})
}

func TestAStatusShowsThatBothFormsAreOnePerson(t *testing.T) {
	l := newLine(t)
	l.from(writer(providerForm, "BR.1"), "", "wamid.in")
	old := l.finds(providerForm)
	id := l.sent(sentForm, "wamid.1")
	l.is.Equal(l.count("contacts"), 2)
	l.reach("wamid.1", "sent", providerForm, "BR.1")
	l.is.Equal(l.count("contacts"), 1)
	l.is.Equal([]string{l.finds(sentForm), l.finds(providerForm), l.message(id).ContactID}, []string{old, old, old})
	l.is.Equal(*l.thread(sentForm).PhoneNumber, providerForm)
	checkWholeness(t, l)
}

func TestAnAnswerInAnotherFormKeepsTheFormThatWasWrittenTo(t *testing.T) {
	l := newLine(t)
	l.sent(sentForm, "wamid.1")
	l.reach("wamid.1", "sent", sentForm, "BR.1") // the provider does not say so here
	contact := l.finds(sentForm)
	l.from(writer(providerForm, "BR.1"), "", "wamid.in")
	l.is.Equal(*l.thread(sentForm).PhoneNumber, providerForm)
	l.is.Equal([]string{l.finds(sentForm), l.finds(providerForm)}, []string{contact, contact})

	l.from(writer(sentForm, "BR.1"), "", "wamid.back") // it writes as we do now
	l.is.Equal(*l.thread(providerForm).PhoneNumber, sentForm)
	l.is.Equal([]string{l.finds(sentForm), l.finds(providerForm)}, []string{contact, contact})
	l.is.Equal(l.count("contacts"), 1)
	l.is.Equal(l.count("contact_aliases"), 1)
	checkWholeness(t, l)
}

// knownInBothForms is a person with a number, an alias and a BSUID.
func knownInBothForms(l *line) (contact string) {
	l.t.Helper()
	l.sent(sentForm, "wamid.first")
	l.reach("wamid.first", "sent", providerForm, "BR.1")
	l.is.Equal(l.count("contact_aliases"), 1)
	return l.finds(sentForm)
}

func TestAnAliasYieldsToWhoeverHasTheNumber(t *testing.T) {
	for name, takes := range map[string]func(l *line){
		"a message":    func(l *line) { l.from(writer(sentForm, "BR.2"), "", "wamid.in") },
		"an old one":   func(l *line) { l.contact("", "BR.2"); l.from(writer(sentForm, "BR.2"), "", "wamid.in") },
		"a preference": func(l *line) { l.prefer(preference(`"wa_id":"`+sentForm[1:]+`","user_id":"BR.2"`, "stop")) },
		"an echo": func(l *line) {
			l.post(news("smb_message_echoes", "message_echoes", "", fmt.Sprintf(`{"from":"1555","to":%q,"to_user_id":"BR.2","id":"wamid.o","timestamp":"1750030073","type":"text","text":{"body":"hi"}}`, sentForm[1:])))
		},
		"a new number": func(l *line) {
			l.contact("+15550001111", "BR.0")
			l.update(rotated(`"wa_id":"`+sentForm[1:]+`",`, "BR.0", "BR.2"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			contact := knownInBothForms(l)
			takes(l)
			l.is.Equal(l.finds(providerForm), contact)
			l.is.True(l.finds(sentForm) != contact)
			l.is.Equal(*l.thread(sentForm).BSUID, "BR.2")
			l.is.Equal(*l.byBSUID("BR.1").PhoneNumber, providerForm)
			l.is.Equal(l.count("contact_aliases"), 0)
			l.is.Equal(l.count("contacts"), 2)
		})
	}
}

func TestAnAliasYieldsToWhomAMessageReached(t *testing.T) {
	l := newLine(t)
	contact := knownInBothForms(l)
	l.sent(sentForm, "wamid.2")
	l.reach("wamid.2", "sent", providerForm, "BR.1")
	l.is.Equal(l.finds(sentForm), contact)
	l.sent(sentForm, "wamid.3")
	l.reach("wamid.3", "sent", sentForm, "BR.2")
	l.is.Equal(l.finds(sentForm), "") // so that the next message makes a contact
	l.is.Equal(l.finds(providerForm), contact)

	// The number becomes another's alias, who is not affected by a late report.
	other := l.contact("+15550003333", "BR.2")
	storagetest.Update(t, l.server.DB, func(tx *storage.Tx) error { return tx.AddAlias(other, sentForm) })
	l.reach("wamid.3", "read", sentForm, "BR.2")
	l.is.Equal(l.finds(sentForm), other.ID)
}

func TestWhoMovesGivesUpAllFormsOfTheNumber(t *testing.T) {
	for name, moves := range map[string]func(l *line){
		"by number": func(l *line) {
			l.post(news("messages", "messages", "", writtenBy(writer(providerForm, "BR.1"), "wamid.s", "system", `"system":{"wa_id":"15550003333","type":"user_changed_number"}`)))
		},
		"by id": func(l *line) { l.update(rotated(`"wa_id":"15550003333",`, "BR.1", "BR.9")) },
		"to one who is known": func(l *line) {
			l.contact("+15550003333", "BR.9")
			l.update(rotated(`"wa_id":"15550003333",`, "BR.1", "BR.9"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			contact := knownInBothForms(l)
			moves(l)
			l.is.Equal([]string{l.finds("+15550003333"), l.finds(sentForm), l.finds(providerForm)}, []string{contact, "", ""})
			l.reach("wamid.first", "read", providerForm, "BR.1") // of an old message
			l.is.Equal(*l.thread("+15550003333").PhoneNumber, "+15550003333")
			l.is.Equal(l.count("contact_aliases"), 0)
			l.is.Equal(l.count("contacts"), 1)
		})
	}
}

func TestAWishByAnotherFormIsThePersons(t *testing.T) {
	l := newLine(t)
	contact := knownInBothForms(l)
	l.post(news("user_preferences", "user_preferences", "", preference(`"wa_id":"`+sentForm[1:]+`"`, "stop")))
	l.is.True(l.byBSUID("BR.1").MarketingOptedOut)
	l.is.Equal([]string{l.finds(sentForm), l.finds(providerForm)}, []string{contact, contact})
	l.is.Equal(l.count("contacts"), 1)
}
