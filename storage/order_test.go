package storage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// steppedBack is a file at a clock that was two hours ahead and is right again.
type steppedBack struct {
	clock storagetest.Clock
	o     storage.Options
	db    *storage.DB
}

// aheadFile opens a file at a clock that is two hours ahead.
func aheadFile(t *testing.T) *steppedBack {
	s := &steppedBack{o: newFile(t)}
	s.o.Now = s.clock.Now
	s.clock.Set(2 * time.Hour)
	s.db = open(t, s.o)
	return s
}

// setBack makes the clock right again.
func (s *steppedBack) setBack(t *testing.T, restart bool) {
	s.clock.Set(0)
	if restart {
		is.New(t).NoErr(s.db.Close())
		s.db = open(t, s.o)
	}
}

// restarts are both ways in which a clock is set back.
func restarts(t *testing.T, test func(t *testing.T, restart bool)) {
	for name, restart := range map[string]bool{"while the server runs": false, "and the server starts again": true} {
		t.Run(name, func(t *testing.T) { test(t, restart) })
	}
}

func TestAThreadKeepsItsOrderWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		all := []storage.Message{h.hear(t, s.db, nil), h.hear(t, s.db, nil)}
		s.setBack(t, restart)
		all = append(all, h.hear(t, s.db, nil), h.hear(t, s.db, nil))

		listed := view(t, s.db, func(rx *storage.Rx) ([]storage.Message, error) {
			page, _, err := rx.Messages(h.account.ID, storage.MessageFilter{ConversationID: h.conversation.ID}, storage.First, 10)
			return page, err
		})
		is.Equal(len(listed), 4)
		for i, m := range listed {
			is.Equal(m.ID, all[3-i].ID)
			is.True(i == 0 || m.CreatedAt <= listed[i-1].CreatedAt) // what clients sort by says the same
		}
		last := view(t, s.db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
			return rx.LastMessages(h.conversation.ID)
		})
		is.Equal(last[h.conversation.ID].ID, all[3].ID)

		for i, unread := range []int{3, 2, 1, 0} {
			markRead(t, s.db, all[i])
			is.Equal(unreadOf(t, s.db, h), unread)
		}
	})
}

func TestConversationsKeepTheirOrderWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		other := h.with(t, s.db, "+15557654321")
		h.hear(t, s.db, nil)
		list := func(since storage.Time) (all []storage.FullConversation) {
			storagetest.View(t, s.db, func(rx *storage.Rx) (err error) {
				all, _, err = rx.Conversations(h.account.ID, storage.ConversationFilter{UpdatedSince: since}, storage.First, 10)
				return err
			})
			return all
		}
		newest := list(0)[0].UpdatedAt
		time.Sleep(5 * time.Millisecond)
		s.setBack(t, restart)
		time.Sleep(5 * time.Millisecond)
		other.hear(t, s.db, nil)

		is.Equal(list(0)[0].ID, other.conversation.ID)
		since := list(newest)
		is.Equal(len(since), 1) // who asks for what changed since misses nothing
		is.Equal(since[0].ID, other.conversation.ID)

		var contacts []storage.Contact
		storagetest.Update(t, s.db, func(tx *storage.Tx) error { return tx.MarkOptedOut(h.contact.ID) })
		storagetest.View(t, s.db, func(rx *storage.Rx) (err error) {
			contacts, _, err = rx.Contacts(h.account.ID, storage.ContactFilter{UpdatedSince: newest}, storage.First, 10)
			return err
		})
		is.Equal(len(contacts), 1)
	})
}

func TestALaterSendIsTheNewestWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		later := storage.Message{AccountID: h.account.ID, ConversationID: h.conversation.ID, ContactID: h.contact.ID, Direction: storage.Outbound,
			Type: "text", Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{}`), ScheduledAt: 1}
		storagetest.Update(t, s.db, func(tx *storage.Tx) error { return tx.InsertMessage(&later) })
		h.hear(t, s.db, nil)
		s.setBack(t, restart)
		time.Sleep(5 * time.Millisecond)
		storagetest.Update(t, s.db, func(tx *storage.Tx) error { _, err := tx.ReleaseMessage(&later); return err })
		last := view(t, s.db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
			return rx.LastMessages(h.conversation.ID)
		})
		is.Equal(last[h.conversation.ID].ID, later.ID)

		s.setBack(t, restart) // and a placed row counts as stored
		time.Sleep(5 * time.Millisecond)
		m := h.hear(t, s.db, nil)
		last = view(t, s.db, func(rx *storage.Rx) (map[string]storage.LastMessage, error) {
			return rx.LastMessages(h.conversation.ID)
		})
		is.Equal(last[h.conversation.ID].ID, m.ID)
	})
}

// Who signs in is not the one whose session makes way.
func TestWhoSignsInAfterTheClockWasSetBackStaysSignedIn(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		ours, _ := two(t, s.db)
		ada, _ := inviteUser(t, s.db, invitee(ours, "ada@example.com"))
		for range 50 {
			signIn(t, s.db, ada.ID)
		}
		s.setBack(t, restart)
		_, token := signIn(t, s.db, ada.ID)
		_, err := s.db.SignedIn(t.Context(), storage.TokenHash(token))
		is.NoErr(err)
	})
}

// A call is found by its request id, which does not go back with the clock.
func TestACallIsFoundAfterTheClockWasSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		tenant := storagetest.Seed(t, s.db, "Umbrella")
		first := s.db.NewID(storage.PrefixRequest)
		s.setBack(t, restart)
		id := s.db.NewID(storage.PrefixRequest)
		is.True(restart || id > first)
		storagetest.Update(t, s.db, func(tx *storage.Tx) error {
			return tx.InsertAPICalls([]storage.APICall{{OrganizationID: &tenant.Organization.ID, Method: "GET", Path: "/v1/me", Status: 200, RequestID: id, CreatedAt: tx.Now}})
		})
		found := view(t, s.db, func(rx *storage.Rx) (storage.LoggedCall, error) { return rx.LoggedCall(tenant.Organization.ID, id) })
		is.Equal(found.RequestID, id)
	})
}

// A file of an older release, whose ids went back with the clock, is continued after the
// highest of them.
func TestWhatIsStoredComesAfterTheHighestThatThereIs(t *testing.T) {
	const high = 1<<41 - 1 // in the year 2039
	for name, c := range map[string]struct {
		change string
		after  bool
	}{
		"a message":      {`UPDATE messages SET id = 'msg_01ZZZZZZZZABCDEFGHJKMNPQRS'`, true},
		"a later send":   {`UPDATE messages SET place = 'msg_01ZZZZZZZZABCDEFGHJKMNPQRS'`, true},
		"a contact":      {`INSERT INTO contacts (id, account_id, created_at, updated_at) VALUES ('ctc_01ZZZZZZZZABCDEFGHJKMNPQRS', 1, 1, 1)`, true},
		"a conversation": {`UPDATE conversations SET last_message_at = 2199023255551, updated_at = 2199023255551`, true},
		"an update":      {`UPDATE conversations SET updated_at = 2199023255551`, true},
		"what is no id":  {`UPDATE messages SET id = 'msg_zzz'`, false},
		"nothing":        {`UPDATE messages SET id = id`, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			o := newFile(t)
			db := open(t, o)
			h := newThread(t, db, "106540352242922", "+15551234567")
			h.hear(t, db, nil)
			storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Run(c.change) })
			is.NoErr(db.Close())
			db = open(t, o)
			m := h.hear(t, db, nil)
			is.Equal(m.CreatedAt >= high, c.after)
			is.True(m.CreatedAt <= high+1000)
		})
	}
}

// Jobs of a lane go out in the order in which they were made.
func TestALaneKeepsItsOrderWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		var made []int64
		enqueue := func() {
			s.db.SetDispatcher(&runner{admission: storage.AdmitHeld})
			made = append(made, update(t, s.db, func(tx *storage.Tx) (int64, error) {
				// Rows with ids made beside it show the order after a restart.
				tx.NewID(storage.PrefixMessage)
				return tx.Enqueue(storage.NewJob{Kind: storage.KindFanOut, Lane: "lane", Args: storage.FanOutArgs{}})
			}))
		}
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		enqueue()
		h.hear(t, s.db, nil)
		s.setBack(t, restart)
		time.Sleep(5 * time.Millisecond)
		enqueue()

		second := storage.Job{ID: made[1], Lane: "lane", CreatedAt: storage.Now()}
		view(t, s.db, func(rx *storage.Rx) (storage.Time, error) { return rx.OlderFanOut(second) }) // the first is older
		claimed := update(t, s.db, func(tx *storage.Tx) ([]storage.Job, error) {
			return tx.ClaimHeld(storage.KindFanOut, "lane", 2, 2, time.Minute)
		})
		is.Equal([]int64{claimed[0].ID, claimed[1].ID}, made)

		// What was claimed and lost is due at once, not when the clock comes there again.
		storagetest.Update(t, s.db, func(tx *storage.Tx) error {
			freed, err := tx.FreeJob(storage.RunningJob{ID: claimed[0].ID, Runs: claimed[0].Runs}, 0, 0)
			is.True(freed)
			return err
		})
		due := update(t, s.db, func(tx *storage.Tx) ([]storage.Job, error) {
			due, _, err := tx.ClaimDue(storage.KindFanOut, 2, time.Minute, func(string) bool { return true })
			return due, err
		})
		is.Equal(len(due), 1)
	})
}

// One that was due before it was held, because no worker was free, takes the same place.
func TestADueJobKeepsItsPlaceInItsLaneWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		enqueue := func(admission storage.Admission) int64 {
			s.db.SetDispatcher(&runner{admission: admission})
			return update(t, s.db, func(tx *storage.Tx) (int64, error) {
				return tx.Enqueue(storage.NewJob{Kind: storage.KindFanOut, Lane: "lane", Args: storage.FanOutArgs{}})
			})
		}
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		first := enqueue(storage.AdmitHeld)
		h.hear(t, s.db, nil)
		s.setBack(t, restart)
		due := enqueue(storage.AdmitLater)
		last := enqueue(storage.AdmitHeld)

		storagetest.Update(t, s.db, func(tx *storage.Tx) error {
			_, held, err := tx.ClaimDue(storage.KindFanOut, 9, time.Minute, func(string) bool { return false })
			is.Equal(len(held), 1)
			return err
		})
		claimed := update(t, s.db, func(tx *storage.Tx) ([]storage.Job, error) {
			return tx.ClaimHeld(storage.KindFanOut, "lane", 9, 9, time.Minute)
		})
		is.Equal([]int64{claimed[0].ID, claimed[1].ID, claimed[2].ID}, []int64{first, due, last})
	})
}

// So does one that was made before the clock had caught up, and is held after that.
func TestADueJobKeepsItsPlaceInItsLaneOnceTheClockHasCaughtUp(t *testing.T) {
	is := is.New(t)
	s := aheadFile(t)
	enqueue := func(admission storage.Admission) int64 {
		s.db.SetDispatcher(&runner{admission: admission})
		return update(t, s.db, func(tx *storage.Tx) (int64, error) {
			return tx.Enqueue(storage.NewJob{Kind: storage.KindFanOut, Lane: "lane", Args: storage.FanOutArgs{}})
		})
	}
	first := enqueue(storage.AdmitHeld)
	s.setBack(t, false)
	due := enqueue(storage.AdmitLater)
	s.clock.Set(3 * time.Hour)

	storagetest.Update(t, s.db, func(tx *storage.Tx) error {
		_, held, err := tx.ClaimDue(storage.KindFanOut, 9, time.Minute, func(string) bool { return false })
		is.Equal(len(held), 1)
		return err
	})
	claimed := update(t, s.db, func(tx *storage.Tx) ([]storage.Job, error) {
		return tx.ClaimHeld(storage.KindFanOut, "lane", 9, 9, time.Minute)
	})
	is.Equal([]int64{claimed[0].ID, claimed[1].ID}, []int64{first, due})
}

// A subscription made after an event does not get it, and its deliveries are in the order of the
// subscriptions.
func TestWhoSubscribesAfterTheClockWasSetBackGetsNoEarlierEvent(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		tenant := storagetest.Seed(t, s.db, "Acme")
		for range 40 {
			storagetest.Subscribe(t, s.db, tenant, "https://hook.test")
		}
		happen(t, s.db, tenant.Organization.ID, "message.sent", "")
		s.setBack(t, restart)
		storagetest.Subscribe(t, s.db, tenant, "https://late.test")

		s.clock.Set(2 * time.Hour) // when the job is due
		storagetest.Update(t, s.db, func(tx *storage.Tx) error {
			claimed, _, err := tx.ClaimDue(storage.KindFanOut, 1, time.Minute, func(string) bool { return true })
			if err != nil {
				return err
			}
			var args storage.FanOutArgs
			if err := json.Unmarshal(claimed[0].Args, &args); err != nil {
				return err
			}
			_, _, err = tx.FanOut(claimed[0], args)
			return err
		})
		is.Equal(len(deliveries(t, s.db)), 40)
	})
}

// with is another thread of the same account.
func (h thread) with(t *testing.T, db *storage.DB, phone string) thread {
	t.Helper()
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		h.contact = storage.Contact{AccountID: h.account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&h.contact); err != nil {
			return err
		}
		h.conversation, err = tx.EnsureConversation(h.account.ID, h.contact.ID)
		return err
	})
	return h
}

// Every list of what people make is in the order in which it was made.
func TestListsKeepTheirOrderWhenTheClockIsSetBack(t *testing.T) {
	restarts(t, func(t *testing.T, restart bool) {
		is := is.New(t)
		s := aheadFile(t)
		h := newThread(t, s.db, "106540352242922", "+15551234567")
		c := storage.Customer{OrganizationID: h.account.OrganizationID, TeamID: h.account.TeamID, Name: "Cara"}
		makeLink := func() storage.SetupLink {
			return update(t, s.db, func(tx *storage.Tx) (l storage.SetupLink, err error) {
				l.CustomerID, l.ExpiresAt = c.ID, tx.Now.Add(time.Hour)
				_, err = tx.InsertSetupLink(&l)
				return l, err
			})
		}
		storagetest.Update(t, s.db, func(tx *storage.Tx) error { return tx.InsertCustomer(&c) })

		first := makeLink()
		s.setBack(t, restart)
		second := makeLink()
		links := view(t, s.db, func(rx *storage.Rx) ([]storage.SetupLink, error) { return rx.SetupLinks(c.ID, storage.First, 9) })
		is.Equal([]string{links[0].ID, links[1].ID}, []string{second.ID, first.ID})
	})
}
