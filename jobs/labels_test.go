package jobs_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// labeled makes a label on n contacts and their conversations.
func (w *world) labeled(n int) storage.Label {
	w.t.Helper()
	l := storage.Label{OrganizationID: w.tenant.Organization.ID, TeamID: w.tenant.Team.ID, Name: "VIP", Color: "red"}
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		if err := tx.InsertLabel(&l); err != nil {
			return err
		}
		for i := range n {
			phone := fmt.Sprintf("+1555%07d", i)
			c := storage.Contact{AccountID: w.account.ID, PhoneNumber: &phone}
			if err := tx.InsertContact(&c); err != nil {
				return err
			}
			v, err := tx.EnsureConversation(w.account.ID, c.ID)
			if err != nil {
				return err
			}
			if _, err := tx.SetContactLabel(c.ID, l.ID, true); err != nil {
				return err
			}
			if _, err := tx.SetConversationLabel(v.ID, l.ID, true); err != nil {
				return err
			}
		}
		return nil
	})
	return l
}

func TestADeletedLabelIsTakenOffTheRestByAJob(t *testing.T) {
	bubble(t, func(w *world) {
		l := w.labeled(1500)
		time.Sleep(time.Hour)
		began := storage.Now()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.DeleteLabel(w.tenant.Organization.ID, l.ID) })
		w.is.True(w.rows()["contact_labels"] > 0) // not in one transaction
		w.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		rows := w.rows()
		w.is.Equal([]int{rows["labels"], rows["contact_labels"], rows["conversation_labels"], rows["events"]}, []int{0, 0, 0, 0})
		for _, table := range []string{"contacts", "conversations"} {
			w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM `+table+` WHERE updated_at < ?`, began), []int{0})
		}
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM jobs WHERE kind LIKE 'label%'`), []int{0})
	})
}

func TestConversationsShowAChangedLabelAsUpdatedByAJob(t *testing.T) {
	bubble(t, func(w *world) {
		l := w.labeled(1500)
		time.Sleep(time.Hour)
		began := storage.Now()
		storagetest.Update(t, w.db, func(tx *storage.Tx) error { return tx.TouchLabeled(l.ID) })
		late := func() int {
			return storagetest.Select[int](t, w.dir, `SELECT count(*) FROM conversations WHERE updated_at < ?`, began)[0]
		}
		w.is.Equal(late(), 1100)
		w.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		w.is.Equal(late(), 0)
	})
}
