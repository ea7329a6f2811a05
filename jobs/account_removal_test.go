package jobs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"confab/jobs"
	"confab/storage"
	"confab/storage/storagetest"
)

// belongings fill every table that an account can have rows in. ?1 is the
// account, ?2 a text that no other account has, ?3 the time.
const belongings = `
	INSERT INTO contacts (id, account_id, phone_number, created_at, updated_at) VALUES ('ctc_'||?2, ?1, '+1'||?2, 1, 1);
	INSERT INTO contact_aliases VALUES (?1, '+2'||?2, 'ctc_'||?2, 1);
	INSERT INTO labels (id, organization_id, team_id, name, name_folded, color, created_at, updated_at) VALUES ('lbl_'||?2, 1, 1, ?2, ?2, 'red', 1, 1);
	INSERT INTO contact_labels VALUES ('ctc_'||?2, 'lbl_'||?2, ?1, 1);
	INSERT INTO conversations (id, account_id, contact_id, created_at, updated_at) VALUES ('cnv_'||?2, ?1, 'ctc_'||?2, 1, 1);
	INSERT INTO conversation_labels VALUES ('cnv_'||?2, 'lbl_'||?2);
	INSERT INTO conversation_changes (id, conversation_id, account_id, kind, actor, created_at) VALUES ('chg_'||?2, 'cnv_'||?2, ?1, 'resolved', 'api', 1);
	INSERT OR IGNORE INTO users (id, organization_id, team_id, name, created_at) VALUES ('ada', 1, 1, 'Ada', 1);
	INSERT INTO notes VALUES ('not_'||?2, ?1, 'cnv_'||?2, 'user', 'ada', 'Ada', 'look', '["ada"]', 1, 1);
	INSERT INTO unread_mentions VALUES ('ada', ?1, 'cnv_'||?2, 'not_'||?2);
	INSERT INTO rule_firings VALUES ('fir_'||?2, 'rul_1', ?1, 'cnv_'||?2, 'msg_'||?2, 'spell', '[]', 1);
	INSERT INTO number_settings VALUES (?1, NULL, NULL);
	INSERT INTO views VALUES ('viw_'||?2, 1, 'ada', ?1, 'Late', 1, '{}', NULL, 1, 1);
	INSERT INTO user_sessions VALUES ('ses_'||?2, CAST(?2 AS BLOB), 'ada', '', '', ?3, ?3);
	INSERT INTO push_devices VALUES ('dev_'||?2, 1, 'ada', 'ses_'||?2, CAST(?2 AS BLOB), X'', ?3);
	INSERT INTO push_times VALUES ('cnv_'||?2, 'dev_'||?2, ?3);
	INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, created_at, updated_at)
		VALUES ('msg_'||?2, ?1, 'cnv_'||?2, 'ctc_'||?2, 'outbound', 'text', 'queued', 'api', '{}', 1, 1);
	INSERT INTO gateway_sends (message, tag) SELECT number, 'x' FROM messages WHERE id = 'msg_'||?2;
	INSERT INTO gateway_media (account_id, id, created_at) VALUES (?1, 'x', 1);
	INSERT INTO message_edits (message, version, content, edited_at, provider_id) SELECT number, 1, '{}', 1, 'w' FROM messages WHERE id = 'msg_'||?2;
	INSERT INTO message_statuses SELECT number, 'warning', 1 FROM messages WHERE id = 'msg_'||?2;
	INSERT INTO message_tries (message, try, began_at, duration_ms, reason) SELECT number, 1, 1, 1, 'no' FROM messages WHERE id = 'msg_'||?2;
	INSERT INTO contact_imports (id, account_id, status, dry_run, "offset", line, errors, created_at, updated_at) VALUES ('imp_'||?2, ?1, 'completed', 0, 0, 1, '[]', ?3, ?3);
	INSERT INTO api_log_bodies VALUES ('req_'||?2, 1, ?1, '{}', 2, '{}', 2, ?3);
	INSERT INTO message_hours VALUES (?1, ?3, 1, 0, 0, 1, 0);
	INSERT INTO message_failures VALUES (?1, ?3, 'timeout', 0, 1);
	INSERT INTO spells (account_id, opened_at, number, inbound_at, replied_at, resolved_at, labels, messages_in, messages_out)
		VALUES (?1, ?3, 1, 0, 0, 0, '', 0, 0);
	INSERT INTO message_costs VALUES (?1, ?3, 'utility', '155500', 0, 1, 1);
	INSERT INTO delivery_hours VALUES ('wbs_'||?2, ?3, 1, 0, 0);
	INSERT INTO parked_statuses VALUES (?1, 'wamid.'||?2, 'read', '{}', ?3);
	INSERT INTO raw_callbacks (account_id, field, reason, payload, created_at) VALUES (?1, 'messages', 'not handled', CAST('{}' AS BLOB), ?3);
	INSERT INTO raw_callbacks (phone_number_id, field, reason, payload, created_at) VALUES (?2, 'messages', 'unknown number', CAST('{}' AS BLOB), ?3);
	INSERT INTO raw_callbacks (field, reason, payload, created_at) VALUES ('', 'unreadable', CAST('{"phone_number_id":"'||?2||'"' AS BLOB), ?3);
	INSERT INTO media_uploads (media_id, account_id, provider_media_id, expires_at) SELECT id, ?1, 'x', 1 FROM media;
	INSERT INTO templates (id, account_id, name, language, status, components, created_at, updated_at) VALUES ('tmpl_'||?2, ?1, 'x', 'en', 'approved', '[]', 1, 1);
	INSERT INTO idempotency (organization_id, key, account_id, fingerprint, status, request_id, body, created_at) VALUES (1, ?2, ?1, X'', 200, 'r', X'', ?3);
	INSERT INTO events (id, organization_id, account_id, type, source, event_id, payload, created_at) VALUES ('evt_'||?2, 1, ?1, 'message.sent', 'svc', 'e', X'', 1);
	INSERT INTO subscriptions (id, organization_id, url, events, created_at, updated_at) VALUES ('wbs_'||?2, 1, 'https://x', '[]', 1, 1);
	INSERT INTO signing_secrets VALUES ('sec_'||?2, 'wbs_'||?2, X'', 0, 1);
	INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, created_at) VALUES ('wbd_'||?2, 1, 'wbs_'||?2, 'evt_'||?2, 't', 'e', 1);
	INSERT INTO broadcasts (number, id, account_id, name, content, template_name, template_language, audience_type, status, created_at, updated_at)
		VALUES (?1, 'bcs_'||?2, ?1, 'Sale', '{}', 'sale', 'en', 'label', 'completed', 1, 1);
	INSERT INTO broadcast_recipients (broadcast, number, phone_number) VALUES (?1, 1, '+15550001111');
	INSERT INTO broadcast_label_changes (broadcast, contact_id, had) VALUES (?1, 'ctc_x', 1);
	INSERT INTO delivery_attempts (delivery_id, attempt, attempted_at) VALUES ('wbd_'||?2, 1, 1);
	INSERT INTO jobs (kind, lane, args, state, due_at, created_at) VALUES
		('send', 'send:'||?1, '{"account":'||?1||',"message":"msg_'||?2||'"}', 'failed', 1, 1), ('receipt', '', '{"account":'||?1||'}', 'failed', 1, 1),
		('deliver', 'deliver:x', '{"delivery":"wbd_'||?2||'"}', 'failed', 1, 1);`

// fill gives an account rows of every sort.
func (w *world) fill(a storage.Account) {
	w.t.Helper()
	for statement := range strings.SplitSeq(belongings, ";\n") {
		args := []any{a.ID, *a.PhoneNumberID, storage.Now()}
		for len(args) > 1 && !strings.Contains(statement, fmt.Sprint("?", len(args))) {
			args = args[:len(args)-1]
		}
		storagetest.Exec(w.t, w.dir, statement, args...)
	}
}

// rows counts the rows of each table, but for the tables given.
func (w *world) rows(but ...string) map[string]int {
	w.t.Helper()
	db := storagetest.Beside(w.dir)
	defer db.Close()

	var tables []string
	w.is.NoErr(db.Select(&tables, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`))
	counts := make(map[string]int)
	for _, table := range tables {
		var n int
		w.is.NoErr(db.Get(&n, `SELECT count(*) FROM `+table))
		counts[table] = n
	}
	for _, table := range append(but, "periodic_runs", "meta", "unused_objects", "search_changes") { // the last is the search index's
		delete(counts, table)
	}
	return counts
}

// disconnect removes an account as the API does.
func (w *world) disconnect(a storage.Account) {
	w.t.Helper()
	storagetest.Exec(w.t, w.dir, `UPDATE accounts SET waba_id = '777' WHERE id = ?`, a.ID)
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		if err := tx.RemoveAccount(a.ID, "removed"); err != nil {
			return err
		}
		return jobs.EnqueueAccountRemoval(tx, a)
	})
}

// agrees says yes to every call.
func agrees(int, call) (*http.Response, error) { return answered(200, `{"success":true}`), nil }

func TestAPurgeLeavesNothingButTheTombstone(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = agrees
		before := w.rows("accounts")
		other := storagetest.Connect(w.t, w.db, w.tenant, "400500600")
		w.fill(other)
		kept := w.rows("accounts")
		shared, alone, deleted := w.file("image/png", "shared"), w.file("image/png", "alone"), w.file("image/png", "deleted")
		w.remove(deleted)
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			return tx.InsertMedia(&storage.Media{AccountID: other.ID, Origin: storage.OriginLibrary, SHA256: shared.SHA256, MIMEType: "image/png"})
		})
		kept["media"]++
		w.fill(w.account)
		for table, n := range w.rows("accounts", "labels", "subscriptions") {
			if n == before[table] && n == 0 && !strings.Contains("customers setup_links users assignment_turns push_devices user_invitations user_sessions user_codes user_recovery_codes user_passkeys user_identities usage api_log audit removed_events quick_replies rates rules", table) {
				w.t.Errorf("the test fills nothing into %s", table)
			}
		}
		kept["labels"], kept["subscriptions"], kept["signing_secrets"], kept["delivery_hours"] = 2, 2, 2, 2 // the organization's, not the account's
		kept["user_sessions"], kept["push_devices"] = 2, 2

		w.disconnect(w.account)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(w.rows("accounts"), kept) // what was the other account's, and that only
		w.is.Equal(w.files(), []string{shared.SHA256})
		w.is.True(alone.SHA256 != shared.SHA256)

		type tombstone struct {
			Status   string `db:"status"`
			Token    []byte `db:"access_token"`
			PIN      []byte `db:"pin"`
			PublicID string `db:"public_id"`
			Deleted  bool   `db:"deleted"`
		}
		left := storagetest.Select[tombstone](w.t, w.dir, `SELECT status, access_token, pin, public_id, deleted_at > 0 AS deleted FROM accounts ORDER BY id`)
		w.is.Equal(len(left), 2)
		w.is.Equal(left[0], tombstone{Status: "disconnected", PublicID: w.account.PublicID, Deleted: true})
		w.is.True(left[1].Token != nil && !left[1].Deleted)
		w.is.Equal(len(w.provider.calls()), 1)
		w.is.Equal(w.provider.calls()[0].path, "/v23.0/777/subscribed_apps")
	})
}

// A new table of an account's rows must be added to the purge.
func TestEveryTableOfAnAccountIsPurged(t *testing.T) {
	bubble(t, func(w *world) {
		w.fill(w.account)
		tables := storagetest.Select[string](w.t, w.dir, `
			SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'account_id'
			WHERE m.type = 'table'`)
		w.is.True(len(tables) >= 8)
		for _, table := range tables {
			if table != "setup_links" && table != "media" && table != "search_changes" && !strings.Contains(belongings, "INTO "+table+" ") {
				w.t.Errorf("is %s purged?", table)
			}
		}
	})
}

func TestAPurgeTakesThousandsOfRowsInManySteps(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = agrees
		w.fill(w.account)
		storagetest.Exec(w.t, w.dir, `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000)
			INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, created_at, updated_at)
			SELECT 'msg_'||i, 1, 'cnv_100200300', 'ctc_100200300', 'inbound', 'text', 'read', 'api', '{}', i, i FROM n`)
		storagetest.Exec(w.t, w.dir, `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1200)
			INSERT INTO jobs (kind, args, state, due_at, created_at) SELECT 'receipt', '{"account":1}', 'failed', 1, 1 FROM n`)
		w.disconnect(w.account)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(w.rows()["messages"], 0)
		w.is.Equal(w.rows()["jobs"], 0)
	})
}

func TestAPurgeOvertakesASendThatIsUnderWay(t *testing.T) {
	bubble(t, func(w *world) {
		answer := make(chan struct{})
		w.provider.answer = func(_ int, c call) (*http.Response, error) {
			if !strings.HasSuffix(c.path, "/messages") {
				return answered(200, `{"success":true}`), nil
			}
			<-answer
			return accepted("wamid.late"), nil
		}
		w.start()
		w.text()
		time.Sleep(time.Second)
		w.disconnect(w.account)
		time.Sleep(time.Second)
		close(answer)
		time.Sleep(time.Minute)
		for _, table := range []string{"messages", "contacts", "events", "jobs"} {
			w.is.Equal(w.rows()[table], 0) // the answer came too late to leave anything
		}
	})
}

func TestALiveAccountIsNeverPurged(t *testing.T) {
	bubble(t, func(w *world) {
		w.fill(w.account)
		before := w.rows("jobs")
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error { return jobs.EnqueueAccountRemoval(tx, w.account) })
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(w.rows("jobs"), before)
		w.is.Equal(len(w.provider.calls()), 0)
	})
}

func TestCallbacksOfASharedBusinessAccountGoOn(t *testing.T) {
	bubble(t, func(w *world) {
		w.provider.answer = agrees
		other := storagetest.Connect(w.t, w.db, w.tenant, "400500600")
		storagetest.Exec(w.t, w.dir, `UPDATE accounts SET waba_id = '777' WHERE id = ?`, other.ID)
		w.disconnect(w.account)
		w.start()
		time.Sleep(time.Minute)
		w.is.Equal(len(w.provider.calls()), 0)
		w.disconnect(other) // now it is the last
		time.Sleep(time.Minute)
		w.is.Equal(len(w.provider.calls()), 1)
	})
}

func TestUnsubscribingIsBestEffort(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(int, call) (*http.Response, error)
		calls  int
	}{
		"the provider is down":      {func(int, call) (*http.Response, error) { return refusing(500, 131000), nil }, 6},
		"and comes back":            {func(n int, _ call) (*http.Response, error) { return answeredFrom(n, 3), nil }, 3},
		"the token is good no more": {func(int, call) (*http.Response, error) { return refusing(401, 190), nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.provider.answer = c.answer
				w.disconnect(w.account)
				w.start()
				time.Sleep(time.Hour)
				w.is.Equal(len(w.provider.calls()), c.calls)
				w.is.Equal(w.rows()["jobs"], 0)
				var t storage.Tombstone
				w.is.NoErr(w.db.View(context.Background(), func(rx *storage.Rx) (err error) { t, err = rx.Tombstone(w.account.ID); return err }))
				w.is.True(!t.HasToken)
			})
		})
	}
}

// answeredFrom says yes from the n-th call on.
func answeredFrom(call, n int) *http.Response {
	if call < n {
		return refusing(500, 131000)
	}
	return answered(200, `{"success":true}`)
}
