package main

import (
	"strings"
	"testing"

	"confab/storage"
	"confab/storage/storagetest"
)

func TestPrefillStoresMessages(t *testing.T) {
	db := storagetest.Open(t)
	const number = "106540352242922"
	account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Bench"), number)
	messages := 2*people + 10
	past := prefill(db, account.ID, messages)
	if len(past.ids) != messages {
		t.Fatalf("%d ids of %d messages", len(past.ids), messages)
	}
	err := db.View(t.Context(), func(rx *storage.Rx) error {
		there, err := rx.CountPurge(storage.PurgeScope{Before: storage.Now()})
		if err != nil {
			return err
		}
		if there.Messages != int64(messages) {
			t.Errorf("%d messages of %d are there", there.Messages, messages)
		}
		for n := range int64(50) {
			if _, err := rx.Message(account.ID, past.id(n)); err != nil {
				t.Errorf("%s: %v", past.id(n), err)
			}
			page, _, err := rx.Messages(account.ID, storage.MessageFilter{CreatedBefore: storage.At(past.at(n))}, storage.First, 20)
			if err != nil || len(page) != 20 {
				t.Errorf("%d messages before %v, %v", len(page), past.at(n), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPersonComesAgain(t *testing.T) {
	if again := personPhone(int64(people)); again != personPhone(0) || again == personPhone(1) {
		t.Error(personPhone(0), personPhone(1), again)
	}
	if a, b := providerID(personPhone(1), 1), providerID(personPhone(1), 2); a == b || a[:20] != b[:20] || !strings.HasPrefix(a, "wamid.") {
		t.Error(a, b)
	}
}
