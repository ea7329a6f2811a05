package storage_test

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestARecipientIsAContactAndItsConversation(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h, other := newThread(t, db, "106540352242922", "+15551234567"), newThread(t, db, "206540352242922", "+15559999999")
	bsuid := "US.13491208655302741918"
	bare := storage.Contact{AccountID: h.account.ID, BSUID: &bsuid, ParentBSUID: new("US.ENT.1"), Username: new("ana"), Name: new("Ana")}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		is.NoErr(tx.MarkOptedOut(h.contact.ID))
		return tx.InsertContact(&bare)
	})
	storagetest.View(t, db, func(rx *storage.Rx) error {
		to, err := rx.RecipientByPhone(h.account.ID, "+15551234567")
		is.NoErr(err)
		is.Equal(to.ID, h.contact.ID)
		is.Equal(*to.ConversationID, h.conversation.ID)
		is.True(to.MarketingOptedOut)
		to, err = rx.RecipientByBSUID(h.account.ID, bsuid)
		is.NoErr(err)
		is.Equal(to.ID, bare.ID)
		is.Equal([]string{*to.BSUID, *to.Username, *to.Name}, []string{bsuid, "ana", "Ana"})
		is.True(to.ConversationID == nil && to.PhoneNumber == nil)
		to, err = rx.RecipientByParent(h.account.ID, "US.ENT.1")
		is.NoErr(err)
		is.Equal(to.ID, bare.ID)
		_, err = rx.RecipientByParent(other.account.ID, "US.ENT.1")
		is.True(errors.Is(err, storage.ErrNotFound))
		_, err = rx.RecipientByPhone(other.account.ID, "+15551234567")
		is.True(errors.Is(err, storage.ErrNotFound)) // another account's
		return nil
	})
}
