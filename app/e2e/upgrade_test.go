package e2e

import (
	"bufio"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

var upgradeMessages = flag.Int("upgrade-messages", 10000, "messages of the database that is upgraded")

const (
	frozenKey    = "frozen databases share this key."
	frozenSecret = "svc_live_frozenfrozenfrozenfrozen"
	frozenNumber = "106540352242922"
)

// lifeInV1 is what a server of schema 1 left, beside the rows of its dump: many
// messages, jobs of every kind that waits, and a removed number whose purge had begun.
// %d is the number of messages, a tenth of them of the removed number.
const lifeInV1 = `
	BEGIN;
	UPDATE api_keys SET expires_at = 0;
	INSERT INTO contacts (id, account_id, phone_number, name, created_at, updated_at)
	WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 499)
	SELECT printf('ctc_01KDYBMWFF%%016d', i), 1 + (i %% 10 = 0), printf('+1555%%07d', i), 'Person ' || i, 1767323045790, 1767323045790 FROM n;
	INSERT INTO conversations (id, account_id, contact_id, last_message_at, created_at, updated_at)
	SELECT replace(id, 'ctc_', 'cnv_'), account_id, id, created_at, created_at, created_at FROM contacts WHERE id LIKE 'ctc_01KDYBMWFF%%';
	INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, provider_id, content, body, sent_at, created_at, updated_at)
	WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d - 1)
	SELECT printf('msg_01KDYBMWFF%%016d', i), 1 + (i %% 10 = 0), printf('cnv_01KDYBMWFF%%016d', i %% 500), printf('ctc_01KDYBMWFF%%016d', i %% 500),
		CASE i %% 2 WHEN 0 THEN 'inbound' ELSE 'outbound' END, 'text', 'delivered', CASE i %% 2 WHEN 0 THEN 'app' ELSE 'api' END, 'wamid.n' || i,
		json_object('body', 'message ' || i || ' of a long story'), 'message ' || i || ' of a long story', 1767323045790 + i, 1767323045790 + i, 1767323045790 + i FROM n;
	INSERT INTO message_statuses SELECT id, 'delivered', created_at FROM messages WHERE direction = 'outbound' AND id LIKE 'msg_01KDYBMWFF%%';
	INSERT INTO messages (id, account_id, conversation_id, contact_id, direction, type, status, source, content, body, created_at, updated_at)
	VALUES ('msg_01KDYBMWFG0000000000000001', 1, 'cnv_01KDYBMWFF0000000000000001', 'ctc_01KDYBMWFF0000000000000001', 'outbound', 'text', 'queued', 'api',
		'{"body":"still to be sent"}', 'still to be sent', 1767329045790, 1767329045790);
	INSERT INTO subscriptions (id, organization_id, url, events, status, created_at, updated_at, deleted_at)
	VALUES ('wbs_deleted', 1, 'https://example.com/old', '["*"]', 'disabled', 1, 1, 1);
	INSERT INTO deliveries (id, organization_id, subscription_id, event, event_type, event_id, created_at, job_id) VALUES
		('wbd_of_disabled', 1, 'wbs_01KDYBMWFE00000000000000S1', 'evt_01KDYBMWFE00000000000000E1', 'message.received', 'wamid.1', 1, 101),
		('wbd_of_deleted', 1, 'wbs_deleted', 'evt_01KDYBMWFE00000000000000E1', 'message.received', 'wamid.1', 1, 102);
	INSERT INTO jobs (id, kind, lane, args, state, due_at, created_at) VALUES
		(100, 'send', 'account:1', '{"message":"msg_01KDYBMWFG0000000000000001"}', 'due', 1, 1),
		(101, 'deliver', 'deliver:wbs_01KDYBMWFE00000000000000S1', '{}', 'held', 1, 1),
		(102, 'deliver', 'deliver:wbs_deleted', '{}', 'held', 1, 1),
		(103, 'bury', '', '{"subscription":"wbs_01KDYBMWFE00000000000000S1"}', 'due', 1, 1),
		(104, 'uproot', '', '{"subscription":"wbs_deleted"}', 'due', 1, 1),
		(105, 'unsubscribe_account', '', '{"tombstone":2}', 'due', 1, 1),
		(107, 'media.sweep', '', '{}', 'due', 1, 1),
		(108, 'accounts.sweep', '', '{}', 'due', 1, 1);
	INSERT INTO jobs (id, kind, args, state, due_at, runs, leased_until, created_at) VALUES
		(106, 'purge_account', '{"tombstone":2}', 'running', 1, 1, 1767329045790, 1);
	DELETE FROM messages WHERE account_id = 2 AND rowid IN (SELECT rowid FROM messages WHERE account_id = 2 LIMIT %[1]d / 20);
	COMMIT;
	PRAGMA wal_checkpoint(TRUNCATE);`

// releaseBefore makes the data directory that a server of schema 1 left.
func releaseBefore(t *testing.T, messages int) string {
	t.Helper()
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "data")
	is.NoErr(os.Mkdir(dir, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(dir, storage.MasterKeyFile), []byte(base64.StdEncoding.EncodeToString([]byte(frozenKey))), 0o600))
	dump, err := os.ReadFile("../../storage/testdata/v1.sql")
	is.NoErr(err)
	old, err := sqlx.Open("sqlite", "file:"+storage.DatabaseFile(dir))
	is.NoErr(err)
	old.SetMaxOpenConns(1)
	for _, text := range []string{"PRAGMA synchronous = OFF", string(dump), fmt.Sprintf(lifeInV1, messages)} {
		_, err = old.Exec(text)
		is.NoErr(err)
	}
	is.NoErr(old.Close())
	return dir
}

// version is that of the schema of a database.
func version(t *testing.T, dir string) int {
	t.Helper()
	return storagetest.Select[int](t, dir, "PRAGMA user_version")[0]
}

// upgrading is a server that is about to upgrade its database, and asks no provider.
func upgrading(t *testing.T, dir string) *server {
	t.Helper()
	s := &server{t: t, dir: dir, address: freeAddress(t), key: frozenSecret}
	s.env = []string{"CONFAB_LOG__LEVEL=info", "CONFAB_PROVIDER__BASE_URL=http://127.0.0.1:9"}
	return s
}

// TestADatabaseOfTheReleaseBeforeIsUpgraded takes a whole installation of schema 1 with
// work that waits through everything that can go wrong: no room, too little room, a kill
// in each step, and a change of mind. -upgrade-messages 1000000 does it with as many.
func TestADatabaseOfTheReleaseBeforeIsUpgraded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir := releaseBefore(t, *upgradeMessages)
	is.Equal(version(t, dir), 1)
	kept := storagetest.Select[int](t, dir, "SELECT count(*) FROM messages WHERE account_id = 1")[0]
	all := storagetest.Select[int](t, dir, "SELECT count(*) FROM messages")[0]

	info, err := os.Stat(storage.DatabaseFile(dir))
	is.NoErr(err)
	fullDisks(t, dir, info.Size())
	killInEachStep(t, dir)

	s := upgrading(t, dir)
	began := time.Now()
	s.start()
	t.Logf("%d messages: the last start took %s", all, time.Since(began).Round(time.Millisecond))
	is.Equal(version(t, dir), storage.SchemaVersion)
	checkUpgraded(t, s, kept)
	is.NoErr(s.cmd.Process.Signal(syscall.SIGTERM))
	is.NoErr(<-s.ended)

	// Back to the copy, as the guide to production says, and on again in one go.
	is.NoErr(os.Rename(storage.DatabaseFile(dir)+".v1.bak", storage.DatabaseFile(dir)))
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(storage.DatabaseFile(dir) + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	is.Equal(version(t, dir), 1)
	is.Equal(storagetest.Select[int](t, dir, "SELECT count(*) FROM messages")[0], all)
	is.Equal(storagetest.Select[string](t, dir, "SELECT kind FROM jobs WHERE id = 103"), []string{"bury"})
	s = upgrading(t, dir)
	began = time.Now()
	s.start()
	t.Logf("%d messages: the upgrade in one go took %s, and reported %d times how far it was",
		all, time.Since(began).Round(time.Millisecond), strings.Count(s.output.String(), `"progress"`)+strings.Count(s.output.String(), "progress="))
	checkUpgraded(t, s, kept)
}

// fullDisks starts servers on disks that have no room for the copy, and room for the copy
// only. Both say so and leave a database that an older or a newer server can use. Where
// nothing can be mounted this is left out, and said.
func fullDisks(t *testing.T, dir string, size int64) {
	is := is.New(t)
	for _, c := range []struct {
		room    int64
		says    string
		version int
	}{
		{size + size/2, "before its upgrade", 1},
		{2*size + size/2, "the file is unchanged since schema", 4},
	} {
		disk := t.TempDir()
		cmd := confab(t, "serve", "--data-dir", disk, "--listen", "127.0.0.1:0")
		const script = `mount -t tmpfs -o size=$0 tmpfs "$1" || exit 77
			cp -a "$2"/. "$1" && shift 2 && "$@"; status=$?
			cp -a "$DISK"/. "$DIR"; exit $status`
		cmd.Args = append([]string{"sh", "-c", script, fmt.Sprint(c.room), disk, dir, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		cmd.Env = append(cmd.Env, "DISK="+disk, "DIR="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		exit, _ := err.(*exec.ExitError)
		if exit == nil || exit.ExitCode() == 77 {
			t.Logf("no small disk can be had here: %v %s", err, out)
			return
		}

		is.Equal(exit.ExitCode(), 1)
		is.True(strings.Contains(string(out), c.says))
		is.True(strings.Contains(string(out), "full"))
		is.Equal(version(t, dir), c.version)
		halves, err := filepath.Glob(filepath.Join(dir, "*.bak-*"))
		is.NoErr(err)
		is.Equal(len(halves), 0) // nothing is left of a copy that did not fit
	}
}

// upgradeStep finds the step of which a server says that it begins.
var upgradeStep = regexp.MustCompile(`upgrading the database to schema (\d+)|copying the database before`)

// killInEachStep starts servers until one has nothing left to upgrade, and kills each as
// soon as it says that it begins a step in which none was killed yet.
func killInEachStep(t *testing.T, dir string) {
	t.Helper()
	killed := make(map[string]bool)
	for range storage.SchemaVersion + 2 {
		s := upgrading(t, dir)
		cmd := confab(t, "serve", "--data-dir", dir, "--listen", s.address)
		cmd.Env = append(cmd.Env, s.env...)
		words, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}

		step := ""
		for lines := bufio.NewScanner(words); step == "" && lines.Scan() && !strings.Contains(lines.Text(), "serving"); {
			if found := upgradeStep.FindString(lines.Text()); !killed[found] {
				step = found
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		if step == "" {
			break // it served
		}
		killed[step] = true
	}
	is.New(t).True(len(killed) >= 3)
	t.Logf("killed in %d steps", len(killed))
}

// checkUpgraded looks at a server whose database was upgraded: all is there, what waited
// was done or waits, and the purge that had begun has ended.
func checkUpgraded(t *testing.T, s *server, kept int) {
	t.Helper()
	is := is.New(t)
	list := s.mustSend("GET", "/v1/"+frozenNumber+"/messages?limit=1", "")
	is.Equal(list.status, 200)
	is.Equal(list.body["data"].([]any)[0].(map[string]any)["id"], "msg_01KDYBMWFG0000000000000001") // the newest

	purged := within(10*patience, func() bool {
		return storagetest.Select[int](t, s.dir, "SELECT (SELECT count(*) FROM messages WHERE account_id = 2) + (SELECT count(*) FROM jobs WHERE id BETWEEN 102 AND 107)")[0] == 0
	})
	is.True(purged)
	is.Equal(storagetest.Select[int](t, s.dir, "SELECT count(*) FROM messages WHERE account_id = 1")[0], kept)
	is.Equal(storagetest.Select[string](t, s.dir, "SELECT status FROM deliveries WHERE id = 'wbd_of_disabled'"), []string{storage.DeliveryDead})
	is.Equal(storagetest.Select[string](t, s.dir, "SELECT id FROM deliveries WHERE id = 'wbd_of_deleted'"), nil)
	is.Equal(storagetest.Select[string](t, s.dir, "PRAGMA integrity_check"), []string{"ok"})
	is.Equal(storagetest.Select[string](t, s.dir, `SELECT "table" FROM pragma_foreign_key_check`), nil)
	is.Equal(storagetest.Select[int](t, s.dir, "SELECT count(*) FROM messages WHERE direction = 'outbound' AND id LIKE 'msg_01KDYBMWFF%' AND reported <> 2")[0], 0)
}
