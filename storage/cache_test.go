package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/storagetest"

	"github.com/matryer/is"
)

// kept is a database with one of each thing that is kept in memory.
type kept struct {
	t       *testing.T
	dir     string
	db      *storage.DB
	tenant  storagetest.Tenant
	account storage.Account
}

const keptNumber = "106540352242922"

func keep(t *testing.T) *kept {
	dir := t.TempDir()
	db := storagetest.OpenDir(t, dir)
	k := &kept{t: t, dir: dir, db: db, tenant: storagetest.Seed(t, db, "Acme")}
	k.account = storagetest.Connect(t, db, k.tenant, keptNumber)
	storagetest.Exec(t, dir, `
		INSERT INTO customers (id, organization_id, team_id, name, status, created_at, updated_at) VALUES ('cus_1', ?, ?, 'C', 'active', 1, 1);
		UPDATE accounts SET customer_id = 'cus_1'`, k.tenant.Organization.ID, k.tenant.Team.ID)
	k.db.DropCaches()
	return k
}

// seen describes in one line all that is cached, as somebody without a transaction and
// one with a transaction see it.
func (k *kept) seen() string {
	k.t.Helper()
	ctx := context.Background()
	p, err := k.db.Principal(ctx, storage.KeyHash(k.tenant.Secret))
	check(k.t, err)
	key, missing := k.db.AccountKey(ctx, keptNumber)
	text := fmt.Sprintf("revoked %t, suspended %t, number %t %d", p.Key.RevokedAt != 0, p.Organization.SuspendedAt != 0, missing == nil, key.TeamID)
	s, err := k.db.Sender(ctx, k.account.ID)
	if err != nil {
		return text + ", no sender"
	}
	token, err := k.db.AccessToken(ctx, s.Account)
	check(k.t, err)
	text += fmt.Sprintf(", %s, restricted %t, customer %s, %s, %s", s.Status, s.Restricted, *s.CustomerStatus, s.Subscription, token)
	storagetest.Update(k.t, k.db, func(tx *storage.Tx) error {
		text += k.outbox(tx)
		return nil
	})
	return text
}

// outbox says how many deliveries an event makes.
func (k *kept) outbox(tx *storage.Tx) string {
	k.t.Helper()
	before, after := []int{}, []int{}
	check(k.t, tx.List(&before, `SELECT count(*) FROM deliveries`))
	event := storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: k.tenant.Organization.ID, Type: "message.sent", Source: "svc", Payload: []byte("{}")}
	check(k.t, tx.InsertEvent(event, keptNumber))
	check(k.t, tx.List(&after, `SELECT count(*) FROM deliveries`))
	return fmt.Sprintf(", deliveries %d", after[0]-before[0])
}

const keptAtFirst = "revoked false, suspended false, number true 1, connected, restricted false, customer active, active, token-" + keptNumber + ", deliveries 0"

// changes of cached rows, each with how it then reads.
var keptChanges = map[string]struct {
	change   func(k *kept, tx *storage.Tx) error
	from, to string
}{
	"a key is revoked": {func(k *kept, tx *storage.Tx) error { _, err := tx.RevokeKey(0, k.tenant.Key.ID); return err }, "revoked false", "revoked true"},
	"an organization is suspended": {func(k *kept, tx *storage.Tx) error {
		o := k.tenant.Organization
		o.SuspendedAt = tx.Now
		return tx.UpdateOrganization(&o)
	}, "suspended false", "suspended true"},
	"a subscription lapses": {func(k *kept, tx *storage.Tx) error {
		o := k.tenant.Organization
		o.Subscription = storage.SubscriptionInactive
		return tx.UpdateOrganization(&o)
	}, "active, token", "inactive, token"},
	"an account is disconnected": {func(k *kept, tx *storage.Tx) error {
		return tx.MarkAccountStatus(k.account.ID, storage.AccountDisconnected, "")
	}, "connected", "disconnected"},
	"an account is restricted": {func(k *kept, tx *storage.Tx) error { return tx.SetRestricted(k.account.ID, true) }, "restricted false", "restricted true"},
	"an account is removed": {func(k *kept, tx *storage.Tx) error {
		return tx.Run(`UPDATE accounts SET deleted_at = 1`)
	}, keptAtFirst, "revoked false, suspended false, number false 0, no sender"},
	"a customer is suspended": {func(k *kept, tx *storage.Tx) error {
		return tx.Run(`UPDATE customers SET status = 'suspended'`)
	}, "customer active", "customer suspended"},
	"somebody subscribes": {func(k *kept, tx *storage.Tx) error {
		s := storage.Subscription{OrganizationID: k.tenant.Organization.ID, URL: "https://a.test", Events: storage.Strings{"*"}, Status: storage.WebhookActive}
		_, err := tx.InsertSubscription(&s)
		return err
	}, "deliveries 0", "deliveries 1"},
}

func TestWhatIsKeptInMemoryIsNeverBehindACommit(t *testing.T) {
	for name, tt := range keptChanges {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			k := keep(t)
			is.Equal(k.seen(), keptAtFirst)
			is.Equal(k.seen(), keptAtFirst) // from memory
			storagetest.Update(t, k.db, func(tx *storage.Tx) error { return tt.change(k, tx) })
			is.Equal(k.seen(), storagetest.Swap(t, keptAtFirst, tt.from, tt.to))
		})
	}
}

func TestWhatDoesNotHappenIsNotKept(t *testing.T) {
	for name, tt := range keptChanges {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			k := keep(t)
			is.Equal(k.seen(), keptAtFirst)
			failed := errors.New("no")
			err := k.db.Update(context.Background(), func(tx *storage.Tx) error {
				check(t, tt.change(k, tx))
				_, err := tx.Sender(k.account.ID) // reads past the memory
				is.Equal(err != nil, name == "an account is removed")
				k.outbox(tx)
				return failed
			})
			is.True(errors.Is(err, failed))
			is.Equal(k.seen(), keptAtFirst)
		})
	}
}

func TestATransactionSeesItsOwnChange(t *testing.T) {
	is := is.New(t)
	k := keep(t)
	is.Equal(k.seen(), keptAtFirst)
	storagetest.Update(t, k.db, func(tx *storage.Tx) error {
		check(t, tx.SetRestricted(k.account.ID, true))
		s, err := tx.Sender(k.account.ID)
		is.True(s.Restricted)
		outside, _ := k.db.Sender(context.Background(), k.account.ID)
		is.True(!outside.Restricted) // which is not so for others yet
		return err
	})
}

func TestTheWriterNoticesAnotherProcessAtOnce(t *testing.T) {
	is := is.New(t)
	k := keep(t)
	is.Equal(k.seen(), keptAtFirst)
	storagetest.Exec(t, k.dir, `UPDATE accounts SET restricted = 1`)
	storagetest.Update(t, k.db, func(tx *storage.Tx) error {
		s, err := tx.Sender(k.account.ID)
		is.True(s.Restricted) // without a word
		return err
	})
	storagetest.Exec(t, k.dir, `UPDATE accounts SET deleted_at = 1`)
	k.db.DropCaches() // the word
	_, err := k.db.AccountKey(context.Background(), keptNumber)
	is.True(errors.Is(err, storage.ErrNotFound))
}

func TestAReaderKeepsNothingThatAChangeOvertook(t *testing.T) {
	is := is.New(t)
	k := keep(t)
	storagetest.View(t, k.db, func(rx *storage.Rx) error {
		check(t, rx.Ping()) // the snapshot is taken
		storagetest.Update(t, k.db, func(tx *storage.Tx) error { return tx.SetRestricted(k.account.ID, true) })
		s, err := rx.Sender(k.account.ID)
		is.True(!s.Restricted) // as it was
		return err
	})
	s, err := k.db.Sender(context.Background(), k.account.ID)
	is.NoErr(err)
	is.True(s.Restricted)
}

func TestMemoryIsBelievedForAWhileAndOnlyHoldsWhatExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		k := keep(t)
		ctx := context.Background()
		for i := range 3 {
			_, err := k.db.Principal(ctx, storage.KeyHash(fmt.Sprint(i)))
			is.True(errors.Is(err, storage.ErrNotFound))
		}
		is.Equal(k.db.KeptPrincipals(), 0) // a stranger must not fill the memory
		_, err := k.db.AccountKey(ctx, keptNumber)
		is.NoErr(err)
		storagetest.Exec(t, k.dir, `UPDATE accounts SET deleted_at = 1`) // by a command that died before its word
		_, err = k.db.AccountKey(ctx, keptNumber)
		is.NoErr(err)
		time.Sleep(10 * time.Second)
		_, err = k.db.AccountKey(ctx, keptNumber)
		is.True(errors.Is(err, storage.ErrNotFound))
	})
}

// Cached rows are dropped by the statements that name their tables, so nothing
// may change them that does not.
func TestWatchedTablesChangeOnlyByName(t *testing.T) {
	is := is.New(t)
	db := open(t, newFile(t))
	storagetest.View(t, db, func(rx *storage.Rx) error {
		var triggers []string
		is.NoErr(rx.List(&triggers, `SELECT sql FROM sqlite_schema WHERE type = 'trigger'`))
		for _, trigger := range triggers {
			_, body, _ := strings.Cut(trigger, "BEGIN")
			is.Equal(strings.Count(body, ";"), 1)
			is.True(strings.HasPrefix(strings.TrimSpace(body), "INSERT INTO search_changes ")) // which nothing is kept of
		}
		is.True(len(storage.Watched()) > 0)
		keys := 0
		for _, table := range storage.Watched() {
			var actions []struct {
				Action string `db:"action"`
				From   string `db:"table"`
			}
			is.NoErr(rx.List(&actions, `SELECT on_delete || on_update AS action, "table" FROM pragma_foreign_key_list(?)`, table))
			for _, on := range actions {
				// A cascade would change it unnoticed, unless what names the one
				// table is taken to change the other.
				is.True(on.Action == "NO ACTIONNO ACTION" || storage.KeptTogether(table, on.From))
				keys++
			}
		}
		is.True(keys > 0)
		return nil
	})
}

func TestAStatementIsTakenToChangeWhatItNames(t *testing.T) {
	const threads = "[contact_aliases contacts conversation_labels conversations labels]" // which are kept together
	for query, want := range map[string]string{
		"SELECT * FROM accounts":                                                       "[]",
		"\n\t\tselect 1 FROM accounts":                                                 "[]",
		"UPDATE accounts SET name = ?":                                                 "[accounts]",
		"update\n\tAccounts\n\tset name = 1":                                           "[accounts]",
		"INSERT OR REPLACE INTO api_keys (id) VALUES (?)":                              "[api_keys]",
		"INSERT INTO api_keys(id) VALUES (?)":                                          "[api_keys]",
		"DELETE FROM parked_statuses":                                                  "[parked_statuses]",
		`UPDATE "customers" SET name = 1`:                                              "[customers]",
		"WITH a AS (SELECT 1) DELETE FROM subscriptions":                               "[subscriptions]",
		"INSERT INTO events SELECT * FROM organizations":                               "[organizations]", // too many rather than too few
		"UPDATE messages SET status = ? RETURNING account_id":                          "[]",
		"INSERT INTO message_statuses (message) VALUES (?)":                            "[]",
		"INSERT INTO contacts (id) VALUES (?)":                                         "[]", // only adds
		"INSERT INTO contacts (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET name = ?": threads,
		"INSERT OR REPLACE INTO conversations (id) VALUES (?)":                         threads,
		"DELETE FROM labels WHERE id = ?":                                              threads,
		"UPDATE conversations SET status = ?":                                          threads,
		"COMMIT":                                                                       "[]",
		"PRAGMA data_version":                                                          "[]",
		"INSERT INTO x VALUES (1) -- after accounts":                                   "[accounts]",
		"DELETE FROM deliveries WHERE subscription_id = ? LIMIT 1000":                  "[]",
	} {
		t.Run(query, func(t *testing.T) {
			is.New(t).Equal(fmt.Sprint(storage.Changes(query)), want)
		})
	}
}

func TestParkedStatusesAreFoundAlthoughThereWereNone(t *testing.T) {
	is := is.New(t)
	k := keep(t)
	take := func() (n int) {
		storagetest.Update(t, k.db, func(tx *storage.Tx) error {
			all, err := tx.TakeParkedStatuses(k.account.ID, "wamid.1")
			n = len(all)
			return err
		})
		return n
	}
	is.Equal(take(), 0) // and that is kept
	storagetest.Update(t, k.db, func(tx *storage.Tx) error {
		_, err := tx.ParkStatus(k.account.ID, "wamid.1", "sent", storage.JSON("{}"))
		return err
	})
	is.Equal(take(), 1)
	is.Equal(take(), 0)
}
