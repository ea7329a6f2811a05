package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/matryer/is"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
	"confab/storage/storagetest"
)

// waitingInV1 is work that a server of schema 1 left: a disabled
// subscription (of the dump) and a deleted one that both still have a delivery, a
// removed account (of the dump), and the periodic jobs, of which one waits.
const waitingInV1 = `
	INSERT INTO subscriptions (id, organization_id, url, events, status, created_at, updated_at, deleted_at)
	VALUES ('wbs_deleted', 1, 'https://example.com/old', '["*"]', 'disabled', 1, 1, 1);
	INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, created_at, job_id) VALUES
		('wbd_of_disabled', 1, 'wbs_01KDYBMWFE00000000000000S1', 'evt_01KDYBMWFE00000000000000E1', 'message.received', 'wamid.1', 1, 101),
		('wbd_of_deleted', 1, 'wbs_deleted', 'evt_01KDYBMWFE00000000000000E1', 'message.received', 'wamid.1', 1, 102);
	INSERT INTO jobs (id, kind, lane, args, state, due_at, created_at) VALUES
		(101, 'deliver', 'deliver:wbs_01KDYBMWFE00000000000000S1', '{}', 'held', 1, 1),
		(102, 'deliver', 'deliver:wbs_deleted', '{}', 'held', 1, 1),
		(103, 'bury', '', '{"subscription":"wbs_01KDYBMWFE00000000000000S1"}', 'due', 1, 1),
		(104, 'uproot', '', '{"subscription":"wbs_deleted"}', 'due', 1, 1),
		(105, 'unsubscribe_account', '', '{"tombstone":2}', 'due', 1, 1),
		(106, 'purge_account', '', '{"tombstone":2}', 'due', 1, 1),
		(107, 'media.sweep', '', '{}', 'due', 1, 1);
	INSERT INTO periodic_runs (kind, ran_at) VALUES ('accounts.sweep', %[1]d), ('media.sweep', %[1]d);`

// TestJobsThatWaitedInSchema1RunUnderTheirNewKinds upgrades a file of schema 1
// and lets the real handlers run what waits in it.
func TestJobsThatWaitedInSchema1RunUnderTheirNewKinds(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	path := storage.DatabaseFile(dir)
	swept := storage.Now().Add(-time.Minute)
	dump, err := os.ReadFile(filepath.Join("..", "storage", "testdata", "v1.sql"))
	is.NoErr(err)
	old, err := sqlx.Open("sqlite", "file:"+path)
	is.NoErr(err)
	old.SetMaxOpenConns(1)
	_, err = old.Exec(string(dump) + fmt.Sprintf(waitingInV1, int64(swept)))
	is.NoErr(err)
	is.NoErr(old.Close())

	db, err := storage.Open(storage.Options{Path: path, Schema: storagetest.Schema(t), MasterKey: []byte("frozen databases share this key.")})
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(db.Close()) })
	client, err := provider.New(provider.Options{BaseURL: "https://provider.test", Transport: http.NewFileTransport(http.Dir(dir))}) // knows nothing
	is.NoErr(err)
	workers := jobs.New(jobs.Options{DB: db, Provider: client, Files: storagetest.Files(t, dir), Log: slog.New(slog.DiscardHandler)})
	type result struct{ kind, outcome string }
	results := make(chan result, 100)
	runner := queue.New(queue.Options{DB: db, Kinds: workers.Kinds(), Workers: 4, Poll: time.Hour, Grace: time.Second,
		Log: workers.Log, OnRun: func(kind, outcome string, _ time.Duration) { results <- result{kind, outcome} }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()

	left := map[string]bool{
		"webhook.fail_deliveries": true, "webhook.delete": true, "account.unsubscribe": true, "account.purge": true,
		"media.remove_unused": true, "housekeeping": true, "retention": true, "media.delete_objects": true, "rules.idle": true, // the last four are due in every new file
	}
	for len(left) > 0 {
		select {
		case r := <-results:
			is.Equal(r.outcome, "done")
			is.True(left[r.kind]) // once each; account.check_all has run lately
			delete(left, r.kind)
		case <-time.After(20 * time.Second):
			t.Fatalf("these did not run: %v", left)
		}
	}
	cancel()
	is.NoErr(<-ended)

	is.Equal(storagetest.Select[string](t, dir, `SELECT status FROM deliveries WHERE id = 'wbd_of_disabled'`), []string{storage.DeliveryDead})
	is.Equal(storagetest.Select[string](t, dir, `SELECT id FROM deliveries WHERE id = 'wbd_of_deleted'`), nil)
	is.Equal(storagetest.Select[string](t, dir, `SELECT id FROM subscriptions WHERE id = 'wbs_deleted'`), nil)
	is.Equal(storagetest.Select[int64](t, dir, `SELECT id FROM jobs WHERE id > 100`), nil)
	storagetest.View(t, db, func(rx *storage.Rx) error {
		for _, kind := range []string{"account.check_all", "media.remove_unused"} {
			ran, err := rx.PeriodicRun(kind)
			is.NoErr(err)
			is.Equal(ran, swept) // not again before its time
		}
		return nil
	})
	kinds := storagetest.Select[string](t, dir, `SELECT kind FROM periodic_runs ORDER BY kind`)
	is.True(!strings.Contains(strings.Join(kinds, " "), "sweep"))
}
