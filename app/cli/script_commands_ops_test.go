package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"confab/app/datadir"
	"confab/storage"
)

// past DIR NUMBER COUNT DAYS stores so many messages of so many days ago, on the
// account with a phone number id, which is connected to the first organization
// if there is none.
func past(ts *testscript.TestScript, _ bool, args []string) {
	dir, number := datadir.Dir(ts.MkAbs(args[0])), args[1]
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	days, err := strconv.Atoi(args[3])
	ts.Check(err)
	db, err := dir.Open(storage.Options{Schema: topFile("schema.sql")}, "", false)
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	var account storage.AccountKey
	ts.Check(db.Update(context.Background(), func(tx *storage.Tx) (err error) {
		if account, err = ensureAccount(tx, number); err != nil {
			return err
		}
		phone := "+15550001111"
		contact := storage.Contact{AccountID: account.ID, PhoneNumber: &phone}
		if err := tx.InsertContact(&contact); err != nil {
			return err
		}
		conversation, err := tx.EnsureConversation(account.ID, contact.ID)
		for range n {
			err = errors.Join(err, tx.InsertMessage(&storage.Message{AccountID: account.ID, ConversationID: conversation.ID, ContactID: contact.ID,
				Direction: storage.Inbound, Type: "text", Status: storage.MessageRead, Source: storage.SourceAPI, Content: storage.JSON(`{"body":"x"}`)}))
		}
		return err
	}))
	raw := beside(ts, string(dir))
	defer raw.Close()
	_, err = raw.Exec(`UPDATE messages SET created_at = ? WHERE account_id = ?`, storage.Now().Add(-time.Duration(days)*24*time.Hour), account.ID)
	ts.Check(err)
}

func ensureAccount(tx *storage.Tx, number string) (storage.AccountKey, error) {
	account, err := tx.AccountKey(number)
	if !errors.Is(err, storage.ErrNotFound) {
		return account, err
	}
	all, err := tx.Organizations()
	if err != nil {
		return account, err
	}
	teams, err := tx.Teams(all[0].ID)
	if err != nil {
		return account, err
	}
	phone := "+1555" + number
	err = tx.InsertAccount(&storage.Account{OrganizationID: all[0].ID, TeamID: teams[0].ID, PhoneNumberID: &number, PhoneNumber: &phone, Status: storage.AccountConnected}, "token")
	if err != nil {
		return account, err
	}
	return tx.AccountKey(number)
}

// beside opens the database of a data directory while a server may be writing to it.
func beside(ts *testscript.TestScript, dir string) *sql.DB {
	raw, err := sql.Open("sqlite", "file:"+storage.DatabaseFile(dir)+"?_pragma=busy_timeout(60000)")
	ts.Check(err)
	return raw
}

// deadLetter DIR WBS WBD stores a disabled subscription of the first
// organization with a dead delivery, also beside a server, and sets variables to
// the ids of both.
func deadLetter(ts *testscript.TestScript, _ bool, args []string) {
	raw := beside(ts, ts.MkAbs(args[0]))
	defer raw.Close()
	subscription, event, delivery := "wbs_01J00000000000000000000001", "evt_01J00000000000000000000001", "wbd_01J00000000000000000000001"
	now := storage.Now()
	for _, insert := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO subscriptions (id, organization_id, url, events, status, disabled_reason, created_at, updated_at) VALUES (?, 1, 'https://127.0.0.1:1/', '["*"]', 'disabled', 'endpoint_gone', ?, ?)`,
			[]any{subscription, now, now}},
		{`INSERT INTO events (id, organization_id, type, source, event_id, payload, created_at) VALUES (?1, 1, 'message.sent', 'svc', ?1, ?2, ?3)`, []any{event, []byte("{}"), now}},
		{`INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, status, attempt_count, created_at) VALUES (?1, 1, ?2, ?3, 'message.sent', ?3, 'dead', 8, ?4)`,
			[]any{delivery, subscription, event, now}},
	} {
		_, err := raw.Exec(insert.query, insert.args...)
		ts.Check(err)
	}
	ts.Setenv(args[1], subscription)
	ts.Setenv(args[2], delivery)
}

// archived DIR CUS stores an archived customer of the first organization, also
// beside a server, and sets a variable to its id.
func archived(ts *testscript.TestScript, _ bool, args []string) {
	raw := beside(ts, ts.MkAbs(args[0]))
	defer raw.Close()
	id, now := "cus_01J00000000000000000000001", storage.Now()
	_, err := raw.Exec(`
		INSERT INTO customers (id, organization_id, team_id, name, status, restore_status, archived_at, created_at, updated_at)
		VALUES (?1, 1, 1, 'Ana', 'archived', 'active', ?2, ?2, ?2)`, id, now)
	ts.Check(err)
	ts.Setenv(args[1], id)
}
