package storage_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// thread is a conversation that messages can be put into.
type thread struct {
	account      storage.Account
	contact      storage.Contact
	conversation storage.Conversation
}

// newThread stores an account, a contact and their conversation.
func newThread(t testing.TB, db *storage.DB, numberID, phone string) (h thread) {
	t.Helper()
	tenant := storagetest.Seed(t, db, "Acme")
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		h.account = storage.Account{OrganizationID: tenant.Organization.ID, TeamID: tenant.Team.ID, PhoneNumberID: &numberID, Status: storage.AccountConnected}
		if err := tx.InsertAccount(&h.account, "token"); err != nil {
			return err
		}
		h.contact = storage.Contact{AccountID: h.account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&h.contact); err != nil {
			return err
		}
		h.conversation, err = tx.EnsureConversation(h.account.ID, h.contact.ID)
		return err
	})
	return h
}

// add stores a queued text.
func (h thread) add(t testing.TB, db *storage.DB) storage.Message {
	t.Helper()
	m := storage.Message{AccountID: h.account.ID, ConversationID: h.conversation.ID, ContactID: h.contact.ID, Direction: storage.Outbound,
		Type: "text", Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"x"}`)}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertMessage(&m) })
	return m
}

func TestEveryStatementAboutOneMessageSeeksByAnIndex(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	m := h.add(t, db)
	scan := regexp.MustCompile(`SCAN|AUTOMATIC`) // a sort of the few that were found may be
	for name, run := range map[string]func(tx *storage.Tx) error{
		"by id":          func(tx *storage.Tx) error { _, err := tx.Message(h.account.ID, m.ID); return err },
		"by id alone":    func(tx *storage.Tx) error { _, err := tx.OutboundMessage(m.AccountID, m.ID); return err },
		"by provider id": func(tx *storage.Tx) error { _, _ = tx.MessageByProviderID(h.account.ID, "x"); return nil },
		"reported":       func(tx *storage.Tx) error { _, _ = tx.ReportedMessage(h.account.ID, "x"); return nil },
		"by phone":       func(tx *storage.Tx) error { _, err := tx.ContactByPhone(h.account.ID, "+15551234567"); return err },
		"to a phone":     func(tx *storage.Tx) error { _, err := tx.RecipientByPhone(h.account.ID, "+15551234567"); return err },
		"to a parent":    func(tx *storage.Tx) error { _, _ = tx.RecipientByParent(h.account.ID, "US.ENT.1"); return nil },
		"by a parent":    func(tx *storage.Tx) error { _, _ = tx.ThreadByParent(h.account.ID, "US.ENT.1"); return nil },
		"to a BSUID":     func(tx *storage.Tx) error { _, _ = tx.RecipientByBSUID(h.account.ID, "US.1"); return nil },
		"by BSUID":       func(tx *storage.Tx) error { _, _ = tx.ContactByBSUID(h.account.ID, "US.1"); return nil },
		"conversation":   func(tx *storage.Tx) error { _, err := tx.EnsureConversation(h.account.ID, h.contact.ID); return err },
		"sender":         func(tx *storage.Tx) error { _, err := tx.Sender(h.account.ID); return err },
		"number":         func(tx *storage.Tx) error { _, err := tx.AccountByNumber("106540352242922"); return err },
		"template":       func(tx *storage.Tx) error { _, _ = tx.Template(h.account.ID, "a", "en"); return nil },
		"quota":          func(tx *storage.Tx) error { _, err := tx.MessagesThisMonth(h.account.OrganizationID); return err },
		"sent":           func(tx *storage.Tx) error { _, err := tx.MarkSent(&m, "wamid.x"); return err },
		"pending":        func(tx *storage.Tx) error { return tx.MarkPending(m) },
		"parked":         func(tx *storage.Tx) error { _, err := tx.TakeParkedStatuses(h.account.ID, "x"); return err },
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { return run(tx) })
			if len(plans) == 0 {
				t.Errorf("%s asked nothing", name)
			}
			for query, plan := range plans {
				if scan.MatchString(plan) {
					t.Errorf("%s: %s\n%s", name, query, plan)
				}
			}
			return err
		})
	}
}

func TestAMessageBelongsToItsAccount(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	mine, other := newThread(t, db, "106540352242922", "+15551234567"), newThread(t, db, "206540352242922", "+15551234567")
	m := mine.add(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.MarkSent(&m, "wamid.x"); return err })
	storagetest.View(t, db, func(rx *storage.Rx) error {
		found, err := rx.Message(mine.account.ID, m.ID)
		is.NoErr(err)
		is.Equal(*found.ContactPhone, "+15551234567")
		is.Equal(*found.AccountNumberID, "106540352242922")
		_, err = rx.Message(other.account.ID, m.ID)
		is.Equal(err, storage.ErrNotFound)
		_, err = rx.MessageByProviderID(mine.account.ID, "wamid.x")
		is.NoErr(err)
		_, err = rx.MessageByProviderID(other.account.ID, "wamid.x")
		is.Equal(err, storage.ErrNotFound)
		for _, f := range []storage.MessageFilter{{}, {ContactID: mine.contact.ID}, {ConversationID: mine.conversation.ID}} {
			rows, _, err := rx.Messages(other.account.ID, f, storage.First, 10)
			is.NoErr(err)
			is.Equal(len(rows), 0)
		}
		return nil
	})
}

func TestPagesOfMessagesMeetWithoutGapOrOverlap(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	var want []string
	for range 7 {
		want = append(want, h.add(t, db).ID)
	}
	slices.Reverse(want)
	for limit := 1; limit <= 8; limit++ {
		var got []string
		for after := storage.First; ; {
			var rows []storage.Message
			storagetest.View(t, db, func(rx *storage.Rx) (err error) {
				rows, _, err = rx.Messages(h.account.ID, storage.MessageFilter{Type: "text"}, after, limit)
				return err
			})
			if len(rows) == 0 {
				break
			}
			for _, m := range rows {
				got = append(got, m.ID)
				after = storage.After{Key: m.CreatedAt, ID: m.ID}
			}
		}
		is.Equal(fmt.Sprint(limit, got), fmt.Sprint(limit, want))
	}
}

// markSent brings the provider's id of a message, which is news or is not.
func markSent(is *is.I, tx *storage.Tx, m *storage.Message, providerID string, news bool) {
	is.Helper()
	first, err := tx.MarkSent(m, providerID)
	is.NoErr(err)
	is.Equal(first, news)
}

func TestMarkSentMovesAMessageAsNextStatusDoes(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	for i, status := range []string{storage.MessageQueued, storage.MessagePending, storage.MessageSent, storage.MessageDelivered, storage.MessageRead, storage.MessageFailed} {
		t.Run(status, func(t *testing.T) {
			is := is.New(t)
			named, unnamed := h.add(t, db), h.add(t, db)
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				is.NoErr(tx.Run(`UPDATE messages SET status = ? WHERE id IN (?, ?)`, status, named.ID, unnamed.ID))
				is.NoErr(tx.Run(`UPDATE conversations SET status = 'pending'`))
				markSent(is, tx, &named, fmt.Sprint("wamid.", i), true)
				_, err := tx.MarkSent(&unnamed, fmt.Sprint("wamid.", i))
				is.True(errors.Is(err, storage.ErrConflict)) // the provider gave it twice
				first, err := tx.MarkSent(&unnamed, "")
				is.True(first)
				markSent(is, tx, &named, "wamid.other", false) // it has its name
				return err
			})
			want := storage.NextStatus(status, storage.MessageSent)
			for _, m := range []storage.Message{named, unnamed} {
				is.Equal(m.Status, want)
				is.Equal(m.ConversationStatus, "pending")
				storagetest.View(t, db, func(rx *storage.Rx) error {
					stored, err := rx.OutboundMessage(m.AccountID, m.ID)
					is.Equal(stored.Status, want)
					return err
				})
			}
			is.True(unnamed.ProviderID == nil)
		})
	}
}

func TestOnlyAVoiceNoteIsPlayedAndOnlyOnce(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	for name, want := range map[string]storage.Time{"audio voice": 5, "audio": 0, "text voice": 0, "image voice": 0, "video voice": 0} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			m := h.add(t, db)
			kind, _, voice := strings.Cut(name, " ")
			storagetest.Update(t, db, func(tx *storage.Tx) error {
				return tx.Run(`UPDATE messages SET type = ?, content = json_object('voice', json(?)) WHERE id = ?`, kind, strconv.FormatBool(voice), m.ID)
			})
			m.Type = kind
			for _, at := range []storage.Time{5, 9} {
				storagetest.Update(t, db, func(tx *storage.Tx) error { _, err := tx.MarkStatus(&m, storage.StatusPlayed, at, nil); return err })
			}
			storagetest.View(t, db, func(rx *storage.Rx) error {
				stored, err := rx.OutboundMessage(m.AccountID, m.ID)
				is.Equal(stored.PlayedAt, want)
				is.Equal(stored.Status, storage.MessageQueued) // it is no state
				return err
			})
		})
	}
}

func TestWhatIsRareAmongMessagesHasAnIndexOfItsOwn(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	m := h.add(t, db)
	list := func(f storage.MessageFilter) func(*storage.Tx) error {
		return func(tx *storage.Tx) error { _, _, err := tx.Messages(h.account.ID, f, storage.First, 10); return err }
	}
	for name, c := range map[string]struct {
		run  func(*storage.Tx) error
		uses string
	}{
		"failures":               {list(storage.MessageFilter{Status: storage.MessageFailed}), "INDEX messages_failed (account_id=? AND id>? AND id<?)"},
		"failures of a type":     {list(storage.MessageFilter{Status: storage.MessageFailed, Type: "text"}), "INDEX messages_failed (account_id=? AND id>? AND id<?)"},
		"what came in":           {list(storage.MessageFilter{Direction: storage.Inbound}), "INDEX messages_inbound (account_id=? AND id>? AND id<?)"},
		"failures in a thread":   {list(storage.MessageFilter{Status: storage.MessageFailed, ConversationID: "c"}), "INDEX messages_of_conversation (conversation_id=?"},
		"what is left to read":   {func(tx *storage.Tx) error { _, err := tx.CountUnreadAfter(m); return err }, "INDEX messages_of_conversation (conversation_id=? AND id>? AND id<?)"},
		"everything of a number": {list(storage.MessageFilter{}), "INDEX messages_of_account (account_id=? AND id>? AND id<?)"},
	} {
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			plans, err := tx.Plans(func() error { return c.run(tx) })
			if text := fmt.Sprint(plans); !strings.Contains(text, c.uses) || slow.MatchString(text) {
				t.Errorf("%s: %s", name, text)
			}
			return err
		})
	}
}

func TestMessagesAreFilteredByStateAndDirection(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	ids := make(map[string]string)
	for _, kind := range []string{"outbound failed", "outbound sent", "inbound delivered", "inbound read"} {
		m := h.add(t, db)
		ids[m.ID] = kind
		direction, status, _ := strings.Cut(kind, " ")
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.Run(`UPDATE messages SET direction = ?, status = ? WHERE id = ?`, direction, status, m.ID)
		})
	}
	for name, c := range map[string]struct {
		filter storage.MessageFilter
		want   string
	}{
		"failed":             {storage.MessageFilter{Status: "failed"}, "[outbound failed]"},
		"sent":               {storage.MessageFilter{Status: "sent"}, "[outbound sent]"},
		"inbound":            {storage.MessageFilter{Direction: "inbound"}, "[inbound read inbound delivered]"},
		"outbound":           {storage.MessageFilter{Direction: "outbound"}, "[outbound sent outbound failed]"},
		"inbound and read":   {storage.MessageFilter{Direction: "inbound", Status: "read"}, "[inbound read]"},
		"inbound and failed": {storage.MessageFilter{Direction: "inbound", Status: "failed"}, "[]"},
		"failed in a thread": {storage.MessageFilter{Status: "failed", ConversationID: h.conversation.ID}, "[outbound failed]"},
		"inbound of one":     {storage.MessageFilter{Direction: "inbound", ContactID: h.contact.ID}, "[inbound read inbound delivered]"},
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.View(t, db, func(rx *storage.Rx) error {
				rows, _, err := rx.Messages(h.account.ID, c.filter, storage.First, 10)
				var got []string
				for _, m := range rows {
					got = append(got, ids[m.ID])
				}
				is.New(t).Equal(fmt.Sprint(got), c.want)
				return err
			})
		})
	}
}

func TestUnreadIsWhatCameInAfterwards(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	hear := func(direction, kind string) storage.Message {
		m := h.add(t, db)
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			err := tx.Run(`UPDATE messages SET direction = ?, type = ?, status = 'delivered' WHERE id = ?`, direction, kind, m.ID)
			return errors.Join(err, tx.Run(`UPDATE conversations SET unread_count = unread_count + ?`, direction == "inbound" && kind != "reaction"))
		})
		return m
	}
	hear("inbound", "text")
	read := hear("inbound", "text")
	hear("inbound", "text")
	hear("outbound", "text")
	hear("inbound", "reaction")
	var unread storage.UnreadCount
	storagetest.View(t, db, func(rx *storage.Rx) (err error) { unread, err = rx.CountUnreadAfter(read); return err })
	hear("inbound", "image") // after the count, and before it is used
	hear("outbound", "text")
	hear("inbound", "reaction")
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.MarkRead(&read, unread) })
	storagetest.View(t, db, func(rx *storage.Rx) error {
		var counts []int
		is.NoErr(rx.List(&counts, `SELECT unread_count FROM conversations`))
		is.Equal(counts, []int{2})
		m, err := rx.Message(h.account.ID, read.ID)
		is.Equal(m.Status, storage.MessageRead)
		return err
	})
}

func TestAStatusIsAboutAnOutboundMessageOfItsAccount(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h, other := newThread(t, db, "106540352242922", "+15551234567"), newThread(t, db, "206540352242922", "+15551234567")
	m, received := h.add(t, db), h.add(t, db)
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		markSent(is, tx, &m, "wamid.out", true)
		markSent(is, tx, &received, "wamid.in", true)
		is.NoErr(tx.Run(`UPDATE contacts SET bsuid = 'US.1' WHERE id = ?`, h.contact.ID))
		return tx.Run(`UPDATE messages SET direction = 'inbound' WHERE id = ?`, received.ID)
	})
	storagetest.View(t, db, func(rx *storage.Rx) error {
		got, err := rx.ReportedMessage(h.account.ID, "wamid.out")
		is.NoErr(err)
		is.Equal([]string{got.ID, got.ConversationID, got.ContactID, got.Type, got.Status, *got.ProviderID, *got.ContactBSUID},
			[]string{m.ID, h.conversation.ID, h.contact.ID, "text", storage.MessageSent, "wamid.out", "US.1"})
		_, err = rx.ReportedMessage(h.account.ID, "wamid.in")
		is.True(errors.Is(err, storage.ErrNotFound)) // which gets no reports
		_, err = rx.ReportedMessage(other.account.ID, "wamid.out")
		is.True(errors.Is(err, storage.ErrNotFound))
		return nil
	})
}

// A state that was reported before is known from the row, also to a caller that has read only
// what the API shows of the message.
func TestAStateIsReportedOnce(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	m := h.add(t, db)
	for _, c := range []struct {
		reported string
		first    bool
		status   string
	}{
		{storage.MessageSent, true, storage.MessageSent},
		{storage.MessageRead, true, storage.MessageRead},
		{storage.MessageSent, false, storage.MessageRead},
		{storage.MessageDelivered, true, storage.MessageRead},
		{storage.MessageRead, false, storage.MessageRead},
		{"warning", true, storage.MessageRead}, // one that has no bit
		{"warning", false, storage.MessageRead},
	} {
		shown := view(t, db, func(rx *storage.Rx) (storage.Message, error) { return rx.ShownMessage(h.account.ID, m.ID) })
		is.Equal(update(t, db, func(tx *storage.Tx) (bool, error) { return tx.MarkStatus(&shown, c.reported, tx.Now, nil) }), c.first)
		is.Equal(shown.Status, c.status)
	}
}
