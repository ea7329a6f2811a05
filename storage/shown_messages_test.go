package storage_test

import (
	"reflect"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// notShown are the fields of a message that the API never shows, and that are therefore
// not read for it.
var notShown = map[string]bool{
	"Recipient": true, "Body": true, "MediaID": true, "SentAt": true, "RequestID": true, "ContactName": true, "ConversationStatus": true,
	"Place": true, "Broadcast": true, "RecipientNumber": true,
}

// storeMessages stores messages that differ in what they have: nothing but what every
// one has, everything, and media that was deleted. It returns their ids.
func storeMessages(t *testing.T, db *storage.DB, h thread) (ids []string) {
	t.Helper()
	for range 3 {
		ids = append(ids, h.add(t, db).ID)
	}
	file, gone := storage.Media{AccountID: h.account.ID, Origin: storage.OriginLibrary, SHA256: "a", MIMEType: "image/png", Size: 7, Filename: text(`a "b".png`)},
		storage.Media{AccountID: h.account.ID, Origin: storage.OriginLibrary, SHA256: "b", MIMEType: "image/png", Size: 8}
	storagetest.Update(t, db, func(tx *storage.Tx) error {
		for _, m := range []*storage.Media{&file, &gone} {
			if err := tx.InsertMedia(m); err != nil {
				return err
			}
		}
		for _, change := range []struct {
			query string
			args  []any
		}{
			{`UPDATE accounts SET phone_number = '+15550001111'`, nil},
			{`UPDATE contacts SET bsuid = 'US.1', parent_bsuid = 'US.2', username = 'a "name" \', name = 'N'`, nil},
			{`UPDATE media SET deleted_at = 1 WHERE id = ?`, []any{gone.ID}},
			{`UPDATE messages SET media_id = ?, media_status = 'ready' WHERE id = ?`, []any{gone.ID, ids[1]}},
			{`UPDATE messages SET media_id = ?, media_status = 'ready', provider_id = 'wamid.1', recipient = 'US.1', phone_number = '+15559998888',
				content = ?, body = 'b', context = ' {"message_id": "wamid.0"} ', error_code = 'e', error_message = ?, error_provider_code = 131026,
				is_revoked = 1, played_at = 2, edited_at = 3, sent_at = 4, status = 'failed', type = 'image' WHERE id = ?`,
				[]any{file.ID, "{\"body\": \"Grüße\\n\\\"\u2028\x7f\"}", "line\nline\x01", ids[2]}},
		} {
			if err := tx.Run(change.query, change.args...); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// The columns read for a list equal those of the whole message.
func TestAShownMessageIsTheMessage(t *testing.T) {
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	ids := storeMessages(t, db, h)
	listed := make(map[string]storage.Message)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		all, _, err := rx.Messages(h.account.ID, storage.MessageFilter{}, storage.First, 10)
		for _, m := range all {
			listed[m.ID] = m
		}
		return err
	})

	for _, id := range ids {
		storagetest.View(t, db, func(rx *storage.Rx) error {
			whole, err := rx.Message(h.account.ID, id)
			if err != nil {
				return err
			}
			shown, err := rx.ShownMessage(h.account.ID, id)
			for i, field := range reflect.VisibleFields(reflect.TypeFor[storage.Message]()) {
				want := reflect.ValueOf(whole).Field(i).Interface()
				for how, m := range map[string]storage.Message{"read": shown, "listed": listed[id]} {
					if got := reflect.ValueOf(m).Field(i).Interface(); !notShown[field.Name] && !reflect.DeepEqual(got, want) {
						t.Errorf("%s: %s is %v, and %v when it is %s", id, field.Name, want, got, how)
					}
				}
			}
			return err
		})
	}
}

func TestAShownMessageBelongsToItsAccount(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	mine, other := newThread(t, db, "106540352242922", "+15551234567"), newThread(t, db, "206540352242922", "+15551234567")
	m := mine.add(t, db)
	_, err := viewErr(db, func(rx *storage.Rx) (storage.Message, error) { return rx.ShownMessage(mine.account.ID, m.ID) })
	is.NoErr(err)
	for _, account := range []int64{other.account.ID, 99} {
		_, err = viewErr(db, func(rx *storage.Rx) (storage.Message, error) { return rx.ShownMessage(account, m.ID) })
		is.Equal(err, storage.ErrNotFound)
	}
}

// The number of an account is kept in memory, but never for longer than it is true.
func TestAShownMessageHasTheNumberThatItsAccountHasNow(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	h := newThread(t, db, "106540352242922", "+15551234567")
	m := h.add(t, db)
	phone := func() *string {
		return view(t, db, func(rx *storage.Rx) (storage.Message, error) { return rx.ShownMessage(h.account.ID, m.ID) }).AccountPhone
	}
	is.Equal(phone(), nil)
	storagetest.Update(t, db, func(tx *storage.Tx) error { return tx.Run(`UPDATE accounts SET phone_number = '+15550001111'`) })
	is.Equal(*phone(), "+15550001111")
}
