package jobs_test

import (
	"encoding/json"
	"testing"
	"time"

	"confab/jobs"
	"confab/jobs/rules"
	"confab/storage"
	"confab/storage/storagetest"
)

// aboutAccounts enqueue a job of each kind that is about an account.
var aboutAccounts = map[string]func(tx *storage.Tx, a storage.Account) error{
	"contacts.import": func(tx *storage.Tx, a storage.Account) error {
		return jobs.EnqueueContactImport(tx, storage.ContactImport{ID: "imp_1", AccountID: a.ID})
	},
	"send": func(tx *storage.Tx, a storage.Account) error {
		m, err := oneMessage(tx, a)
		if err != nil {
			return err
		}
		return jobs.EnqueueSend(tx, storage.Key{}, m, json.RawMessage(`{"body":"hi"}`))
	},
	"send.later": func(tx *storage.Tx, a storage.Account) error {
		m, err := oneMessage(tx, a)
		if err != nil {
			return err
		}
		m.ScheduledAt = tx.Now + 1
		return jobs.EnqueueSend(tx, storage.Key{}, m, json.RawMessage(`{"body":"hi"}`))
	},
	"broadcast.run":    aboutBroadcast("broadcast.run"),
	"broadcast.send":   aboutBroadcast("broadcast.send"),
	"broadcast.resume": aboutBroadcast("broadcast.resume"),
	"media.fetch": func(tx *storage.Tx, a storage.Account) error {
		m, err := oneMessage(tx, a)
		if err != nil {
			return err
		}
		return jobs.EnqueueMediaFetch(tx, m, "media of the provider", nil)
	},
	"rules.run": func(tx *storage.Tx, a storage.Account) error {
		words := rules.DefaultOptOut()
		words.Enabled, words.StopReply = new(true), new("Bye")
		if err := tx.SetOptOut(a.ID, words); err != nil {
			return err
		}
		m, err := oneMessage(tx, a)
		if err != nil {
			return err
		}
		t, err := tx.Thread(a.ID, m.ContactID)
		if err != nil {
			return err
		}
		m.Type, m.Body = "text", new("STOP")
		asked, err := jobs.NewReceivedCase(tx, a, t, m)
		if err != nil {
			return err
		}
		return asked.Apply(tx)
	},
	storage.KindWake: func(tx *storage.Tx, a storage.Account) error {
		return tx.Snooze(&storage.Conversation{ID: "cnv_1", AccountID: a.ID}, tx.Now.Add(time.Hour))
	},
	"push.notify": func(tx *storage.Tx, a storage.Account) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: "push.notify", Args: jobs.Notice{AboutAccount: storage.AboutAccount{Account: a.ID}, Conversation: "cnv_1"}})
		return err
	},
	"push.send": func(tx *storage.Tx, a storage.Account) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: "push.send", Args: jobs.Notice{AboutAccount: storage.AboutAccount{Account: a.ID}, Conversation: "cnv_1"}})
		return err
	},
	"receipt": func(tx *storage.Tx, a storage.Account) error { return jobs.EnqueueReceipt(tx, a.ID, "wamid.1", false) },
	storage.KindDeliver: func(tx *storage.Tx, a storage.Account) error {
		s := storage.Subscription{OrganizationID: a.OrganizationID, URL: "https://receiver.test", Events: storage.Strings{"none"}, Status: storage.WebhookActive}
		if _, err := tx.InsertSubscription(&s); err != nil {
			return err
		}
		e := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: a.OrganizationID, AccountID: &a.ID, Type: "message.sent", Source: "svc", EventID: "e", Payload: []byte(`{}`)}
		_, err := tx.InsertEventFor(e, s.ID)
		return err
	},
	storage.KindFanOut: func(tx *storage.Tx, a storage.Account) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: storage.KindFanOut, Args: storage.FanOutArgs{AboutAccount: storage.AboutAccount{Account: a.ID}, Event: "evt_1"}})
		return err
	},
	storage.KindOnboard: func(tx *storage.Tx, a storage.Account) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: storage.KindOnboard, Args: storage.OnboardArgs{Link: "csl_1", AboutAccount: storage.AboutAccount{Account: a.ID}}})
		return err
	},
	"account.check": func(tx *storage.Tx, a storage.Account) error { return jobs.EnqueueAccountCheck(tx, a.ID) },
	"media.remove": func(tx *storage.Tx, a storage.Account) error {
		return jobs.EnqueueMediaRemoval(tx, storage.Media{ID: "med_1", AccountID: a.ID})
	},
}

// aboutOthers enqueue a job of each kind that outlives every account. Those that
// clean up after a removed account are among them.
var aboutOthers = map[string]func(tx *storage.Tx, a storage.Account) error{
	"account.unsubscribe":   jobs.EnqueueAccountRemoval,
	"account.purge":         func(*storage.Tx, storage.Account) error { return nil }, // with the one before
	storage.KindDetachLabel: func(tx *storage.Tx, _ storage.Account) error { return aboutLabel(tx, storage.KindDetachLabel) },
	storage.KindTouchLabel:  func(tx *storage.Tx, _ storage.Account) error { return aboutLabel(tx, storage.KindTouchLabel) },
	storage.KindBlankJobs: func(tx *storage.Tx, _ storage.Account) error {
		_, err := tx.Enqueue(storage.NewJob{Kind: storage.KindBlankJobs, Args: storage.AboutNoAccount{}})
		return err
	},
	storage.KindFailDeliveries: func(tx *storage.Tx, _ storage.Account) error {
		return aboutSubscription(tx, storage.KindFailDeliveries)
	},
	storage.KindDeleteSubscription: func(tx *storage.Tx, _ storage.Account) error {
		return aboutSubscription(tx, storage.KindDeleteSubscription)
	},
}

// aboutBroadcast enqueues a job of a broadcast, whose kinds have the same arguments as far as
// they name an account.
func aboutBroadcast(kind string) func(*storage.Tx, storage.Account) error {
	return func(tx *storage.Tx, a storage.Account) error {
		if kind == "broadcast.run" {
			return jobs.EnqueueBroadcast(tx, storage.Broadcast{AccountID: a.ID, Number: 1})
		}
		_, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: storage.AboutAccount{Account: a.ID}})
		return err
	}
}

func aboutLabel(tx *storage.Tx, kind string) error {
	_, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: storage.LabelArgs{Label: "lbl_1"}})
	return err
}

func aboutSubscription(tx *storage.Tx, kind string) error {
	_, err := tx.Enqueue(storage.NewJob{Kind: kind, Args: storage.SubscriptionArgs{Subscription: "wbs_1"}})
	return err
}

// oneMessage stores a message of an account to somebody new.
func oneMessage(tx *storage.Tx, a storage.Account) (m storage.Message, err error) {
	phone := tx.NewID("+")
	c := storage.Contact{AccountID: a.ID, PhoneNumber: &phone}
	if err := tx.InsertContact(&c); err != nil {
		return m, err
	}
	conversation, err := tx.EnsureConversation(a.ID, c.ID)
	if err != nil {
		return m, err
	}
	m = storage.Message{
		AccountID: a.ID, ConversationID: conversation.ID, ContactID: c.ID, Direction: storage.Outbound, Type: "text",
		Status: storage.MessageQueued, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"hi"}`),
	}
	return m, tx.InsertMessage(&m)
}

// A purge finds the jobs of an account by what their arguments are about. A
// new kind says here which it is.
func TestAPurgeRemovesTheWaitingJobsOfEveryKindThatIsAboutItsAccount(t *testing.T) {
	bubble(t, func(w *world) {
		other := storagetest.Connect(w.t, w.db, w.tenant, "400500600")
		want := make(map[string]int)
		for _, kind := range jobs.New(w.options).Kinds() {
			account, outlives := aboutAccounts[kind.Name], aboutOthers[kind.Name]
			storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
				switch {
				case kind.Every > 0:
					want[kind.Name] = 1
					return tx.EnqueuePeriodic(kind.Name)
				case account != nil:
					want[kind.Name] = 1 // the other account's
					if err := account(tx, other); err != nil {
						return err
					}
					return account(tx, w.account)
				case outlives != nil:
					want[kind.Name] = 1
					return outlives(tx, w.account)
				}
				w.t.Errorf("are jobs of the kind %s about an account?", kind.Name)
				return nil
			})
		}

		var found []int64
		storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
			found, err = rx.JobsOfAccount(w.account.ID, 0, 1000)
			return err
		})
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return tx.PurgeJobs(found) })

		left := make(map[string]int)
		for _, kind := range storagetest.Select[string](w.t, w.dir, `SELECT kind FROM jobs`) {
			left[kind]++
		}
		w.is.Equal(left, want)
	})
}
