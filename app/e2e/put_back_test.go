package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/doctor"
	"confab/storage"
	"confab/storage/storagetest"
)

// stop ends the process properly.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		s.t.Fatalf("the server ended: %v: %s", err, s.output)
	}
}

// putBack puts a copy of the database in the place of the present one, as the guides say.
func putBack(t *testing.T, dir string, database []byte) {
	t.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(storage.DatabaseFile(dir) + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(storage.DatabaseFile(dir), database, 0o600); err != nil {
		t.Fatal(err)
	}
}

// epochFinding is what the doctor says of the epoch.
func epochFinding(t *testing.T, dir string) doctor.Finding {
	t.Helper()
	out, _ := confab(t, "doctor", "--quick", "--json", "--data-dir", dir).Output() // other findings do not matter
	var found []doctor.Finding
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range found {
		if f.Check == "epoch" {
			return f
		}
	}
	t.Fatalf("the doctor says nothing of the epoch: %s", out)
	return doctor.Finding{}
}

// say sends a text, and waits until it is found by it.
func (s *campaign) say(text string) {
	s.t.Helper()
	insistOnMessage(s.t.(*testing.T), s.server, s.sim.Number, text, "+15550001234")
	if !until(func() bool {
		var found []any
		s.get("/messages?search="+text, &found)
		return len(found) == 1
	}) {
		s.t.Errorf("%s is not found", text)
	}
}

// An older file in the place of the database is noticed when a server starts on it: a client that
// followed the events is notified, searches find new messages, and nothing goes out late.
func TestAnOlderDatabaseThatIsPutBackIsNoticed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newCampaign(t, "", "CONFAB_LOG__LEVEL=warn")
	s.say("alpha")
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := s.upload("/broadcasts", "recipients", "to\n"+number(1)+"\n", "broadcast",
		fmt.Sprintf(`{"name":"News","scheduled_at":%q,"template":{"name":"news","language":"en"}}`, at))
	is.Equal(made.status, 201)
	broadcast := made.body["data"].(map[string]any)["id"].(string)
	is.True(until(func() bool { return s.progress(broadcast).Status == "scheduled" }))
	s.awaitNone(s.sim.Number, "queued", "pending")
	s.stop()
	older, err := os.ReadFile(storage.DatabaseFile(s.dir))
	is.NoErr(err)

	s.start()
	s.say("beta")
	r := &eventReader{url: "http://" + s.address, key: s.key}
	r.read(context.Background(), "wait=0&after=oldest", never)
	s.kill()
	is.Equal(epochFinding(t, s.dir).Status, doctor.OK)
	s.start() // a crash is not reported
	r.seen = nil
	r.read(context.Background(), "wait=0", never)
	is.True(!strings.Contains(strings.Join(r.seen, " "), "gap"))
	is.Equal(s.progress(broadcast).Status, "scheduled")
	time.Sleep(1500 * time.Millisecond) // the file is written each second
	s.kill()

	putBack(t, s.dir, older)
	f := epochFinding(t, s.dir)
	is.Equal(f.Status, doctor.Warning)
	is.True(strings.Contains(f.Message, "older"))
	s.start()
	is.True(strings.Contains(s.output.String(), "older database was put back"))
	is.Equal(s.progress(broadcast), progress{Status: "paused", PausedReason: "restored", Counts: s.progress(broadcast).Counts})
	is.Equal(len(storagetest.Select[[]byte](t, s.dir, `SELECT value FROM meta WHERE name = 'restored_at'`)), 1)
	s.say("gamma")
	s.say("alpha2")
	r.seen = nil
	r.read(context.Background(), "wait=0", never)
	is.True(len(r.seen) > 1)
	is.Equal(r.seen, append([]string{"gap restored"}, s.keptEvents()...)[:len(r.seen)]) // statuses may follow
	f = epochFinding(t, s.dir)
	is.Equal(f.Status, doctor.Warning)
	is.True(strings.Contains(f.Message, "older database was put back"))

	s.stop() // and once is enough
	s.start()
	is.True(!strings.Contains(s.output.String(), "older database was put back"))
	r.seen = nil
	r.read(context.Background(), "wait=0", never)
	is.True(!strings.Contains(strings.Join(r.seen, " "), "gap"))
}

// A database that was copied out of its directory is not the one that serves there.
func TestADatabaseFromAnotherDirectoryIsNoticed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	s.mustSend("POST", "/v1/customers", `{"name":"Bakery"}`)
	s.stop()
	copied := *s
	copied.dir = filepath.Join(t.TempDir(), "copy")
	is.NoErr(os.Mkdir(copied.dir, 0o700))
	for _, name := range []string{"confab.db", storage.MasterKeyFile} {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		is.NoErr(err)
		is.NoErr(os.WriteFile(filepath.Join(copied.dir, name), text, 0o600))
	}
	copied.start()
	is.True(strings.Contains(copied.output.String(), "older database was put back"))

	// A backup that is restored has begun its epoch already, and is not reported.
	copied.stop()
	archive := filepath.Join(t.TempDir(), "backup.tar")
	run(t, "backup", archive, "--data-dir", copied.dir)
	restored := *s
	restored.dir = filepath.Join(t.TempDir(), "restored")
	run(t, "restore", archive, "--data-dir", restored.dir)
	restored.start()
	is.True(!strings.Contains(restored.output.String(), "older database was put back"))
}

// What a command changes while no server runs is missed too when an older database is put back.
func TestAnOlderDatabaseThatLacksTheChangeOfACommandIsNoticed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	s.mustSend("POST", "/v1/customers", `{"name":"Bakery"}`)
	s.stop()
	older, err := os.ReadFile(storage.DatabaseFile(s.dir))
	is.NoErr(err)
	run(t, "quick-replies", "create", "hello", "Hello", "--data-dir", s.dir)
	is.Equal(epochFinding(t, s.dir).Status, doctor.OK)
	putBack(t, s.dir, older)
	is.Equal(epochFinding(t, s.dir).Status, doctor.Warning)
	run(t, "quick-replies", "create", "bye", "Bye", "--data-dir", s.dir) // hides nothing
	is.Equal(epochFinding(t, s.dir).Status, doctor.Warning)
	s.start()
	is.True(strings.Contains(s.output.String(), "put back"))

	run(t, "quick-replies", "create", "again", "Again", "--data-dir", s.dir) // beside a server, which counts it
	s.stop()
	is.Equal(len(storagetest.Select[string](t, s.dir, `SELECT name FROM meta WHERE name = 'commit'`)), 1)
	s.start()
	is.True(!strings.Contains(s.output.String(), "put back"))
}

// A file that does not tell how far the database had come is as good as none.
func TestADatabaseWhoseEpochFileCannotBeReadIsHeldBack(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	s.mustSend("POST", "/v1/customers", `{"name":"Bakery"}`)
	s.stop()
	is.NoErr(os.WriteFile(filepath.Join(s.dir, "epoch"), []byte("{"), 0o600))
	is.Equal(epochFinding(t, s.dir).Status, doctor.Warning)
	s.start()
	is.True(strings.Contains(s.output.String(), "put back"))
	is.Equal(len(storagetest.Select[[]byte](t, s.dir, `SELECT value FROM meta WHERE name = 'restored_at'`)), 1)
}
