package storage_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestConversationsAreListedByTheirLastMessage(t *testing.T) {
	db := open(t, newFile(t))
	account, contacts := people(t, db, "100200300", make([]storage.Contact, 6)...)
	other := newThread(t, db, "100200301", "+15550001111")
	all := make([]storage.Conversation, len(contacts))
	storagetest.Update(t, db, func(tx *storage.Tx) (err error) {
		for i, c := range contacts {
			if all[i], err = tx.EnsureConversation(account.ID, c.ID); err != nil {
				return err
			}
			said := []int{30, 0, 20, 20, 0, 10}[i] // 0 is never
			status := []string{"open", "open", "resolved", "open", "pending", "resolved"}[i]
			err = tx.Run(`UPDATE conversations SET last_message_at = ?, status = ?, updated_at = ? WHERE id = ?`, said, status, 100+i, all[i].ID)
			if err != nil {
				return err
			}
		}
		return nil
	})
	for name, tt := range map[string]struct {
		filter storage.ConversationFilter
		want   []int
	}{
		"all":                       {storage.ConversationFilter{}, []int{0, 3, 2, 5, 4, 1}}, // none is last, and of equals the younger id comes first
		"open":                      {storage.ConversationFilter{Statuses: []string{"open"}}, []int{0, 3, 1}},
		"resolved":                  {storage.ConversationFilter{Statuses: []string{"resolved"}}, []int{2, 5}},
		"pending":                   {storage.ConversationFilter{Statuses: []string{"pending"}}, []int{4}},
		"open and pending":          {storage.ConversationFilter{Statuses: []string{"open", "pending"}}, []int{0, 3, 4, 1}},
		"contact":                   {storage.ConversationFilter{ContactID: contacts[2].ID}, []int{2}},
		"contact, status":           {storage.ConversationFilter{ContactID: contacts[2].ID, Statuses: []string{"resolved"}}, []int{2}},
		"contact, other":            {storage.ConversationFilter{ContactID: contacts[2].ID, Statuses: []string{"open"}}, nil},
		"contact elsewhere":         {storage.ConversationFilter{ContactID: other.contact.ID}, nil},
		"since":                     {storage.ConversationFilter{UpdatedSince: 102}, []int{5, 4, 3}}, // strictly, the last updated first
		"since, status":             {storage.ConversationFilter{UpdatedSince: 100, Statuses: []string{"resolved"}}, []int{5, 2}},
		"since, contact":            {storage.ConversationFilter{UpdatedSince: 101, ContactID: contacts[2].ID}, []int{2}},
		"since, contact not":        {storage.ConversationFilter{UpdatedSince: 102, ContactID: contacts[2].ID}, nil},
		"since, contact and status": {storage.ConversationFilter{UpdatedSince: 1, ContactID: contacts[2].ID, Statuses: []string{"resolved"}}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for limit := 1; limit <= 7; limit++ {
				var got []int
				for after := storage.First; ; {
					var rows []storage.FullConversation
					storagetest.View(t, db, func(rx *storage.Rx) (err error) {
						rows, _, err = rx.Conversations(account.ID, tt.filter, after, limit)
						return err
					})
					if len(rows) == 0 {
						break
					}
					for _, v := range rows {
						got = append(got, slices.IndexFunc(all, func(o storage.Conversation) bool { return o.ID == v.ID }))
						after = tt.filter.Key(v)
					}
				}
				is.Equal(got, tt.want)
			}
		})
	}
}

func TestAConversationShowsItsPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		db := open(t, newFile(t))
		h := newThread(t, db, "100200300", "+15550001111")
		user := storage.User{OrganizationID: h.account.OrganizationID, TeamID: h.account.TeamID, Name: "Ada", Email: text("ada@example.com")}
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertUser(&user) })
		thread := func() storage.FullConversation {
			t.Helper()
			return view(t, db, func(rx *storage.Rx) (storage.FullConversation, error) {
				return rx.Conversation(h.account.ID, h.conversation.ID)
			})
		}
		is.Equal(thread(), storage.FullConversation{Conversation: h.conversation, ContactPhone: text("+15550001111")})

		time.Sleep(time.Second)
		c := h.conversation
		c.Status, c.AssigneeID = storage.ConversationPending, &user.ID
		storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.UpdateConversation(&c, storage.ChangedByAPI) })
		is.Equal(c.UpdatedAt, storage.Now())
		is.Equal(thread(), storage.FullConversation{Conversation: c, ContactPhone: text("+15550001111"), AssigneeName: text("Ada"), AssigneeEmail: text("ada@example.com")})

		foreign := c
		foreign.AccountID, foreign.Status = 99, storage.ConversationResolved
		is.Equal(db.Update(t.Context(), func(tx *storage.Tx) error { return tx.UpdateConversation(&foreign, storage.ChangedByAPI) }), storage.ErrNotFound)
		_, err := viewErr(db, func(rx *storage.Rx) (storage.FullConversation, error) { return rx.Conversation(99, c.ID) })
		is.Equal(err, storage.ErrNotFound)
		is.Equal(thread().Status, storage.ConversationPending)
	})
}

func TestAUserIsFoundInItsOrganizationOnly(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	ours, theirs := two(t, db)
	u := storage.User{OrganizationID: ours.Organization.ID, TeamID: ours.Team.ID, TeamPublicID: ours.Team.PublicID, Name: "Ada"}
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.InsertUser(&u) })
	is.Equal(view(t, db, func(rx *storage.Rx) (storage.User, error) { return rx.User(ours.Organization.ID, u.ID) }), u)
	_, err := viewErr(db, func(rx *storage.Rx) (storage.User, error) { return rx.User(theirs.Organization.ID, u.ID) })
	is.Equal(err, storage.ErrNotFound)
}
