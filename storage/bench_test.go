package storage_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// BenchmarkMessage is what one message costs the writer, from its acceptance to
// the provider's answer, when so many share a commit.
func BenchmarkMessage(b *testing.B) {
	for _, shared := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d a commit", shared), func(b *testing.B) {
			db := storagetest.Open(b)
			tenant := storagetest.Seed(b, db, "Acme")
			account := storagetest.Connect(b, db, tenant, "106540352242922")
			n, before := 0, cpu()
			for b.Loop() {
				storagetest.Update(b, db, func(tx *storage.Tx) error {
					for range shared {
						n++
						if err := passMessage(tx, account, n); err != nil {
							return err
						}
					}
					return nil
				})
			}
			b.ReportMetric(float64((cpu()-before).Microseconds())/float64(n), "cpu-µs/message")
		})
	}
}

// cpu is the processor time that the process has used, which says more than the
// clock on a busy machine.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// passMessage stores a message to one of many people and settles it.
func passMessage(tx *storage.Tx, account storage.Account, n int) error {
	if _, err := tx.Sender(account.ID); err != nil {
		return err
	}
	phone := fmt.Sprint("+1555", 1_000_000+n%5000)
	to, err := tx.RecipientByPhone(account.ID, phone)
	if err != nil {
		to.PhoneNumber = &phone
		if err := tx.InsertContact(&to.Contact); err != nil {
			return err
		}
		conversation, err := tx.EnsureConversation(account.ID, to.ID)
		if err != nil {
			return err
		}
		to.ConversationID = &conversation.ID
	} else if err := tx.MarkMessageWritten(*to.ConversationID, "text", storage.SourceAPI); err != nil {
		return err
	}
	tx.CountMessage(account.OrganizationID)
	m := storage.Message{AccountID: account.ID, ConversationID: *to.ConversationID, ContactID: to.ID, Direction: storage.Outbound, Type: "text",
		Status: storage.MessageQueued, Source: storage.SourceAPI, PhoneNumber: &phone, Content: storage.JSON(`{"body":"a message"}`)}
	if err := tx.InsertMessage(&m); err != nil {
		return err
	}
	job, err := tx.Enqueue(storage.NewJob{Kind: "send", Lane: "send:1", Args: storagetest.Args(m.ID)})
	if err != nil {
		return err
	}
	if err := tx.CancelJob(job); err != nil {
		return err
	}
	if _, err := tx.MarkSent(&m, fmt.Sprint("wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI", n)); err != nil {
		return err
	}
	event := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: account.OrganizationID, AccountID: &account.ID, Type: "message.sent", Source: "svc",
		EventID: m.ID + ":sent", Payload: make([]byte, 700)}
	if err := tx.InsertEvent(event, "106540352242922"); err != nil {
		return err
	}
	_, err = tx.TakeParkedStatuses(account.ID, *m.ProviderID)
	return err
}
