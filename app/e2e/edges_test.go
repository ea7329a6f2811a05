package e2e

import (
	"crypto/sha256"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"confab/storage"
)

// TestAServerRefusesWhatItCannotVouchFor plants each fault of a data directory
// and expects exit status 1, a message that says what to do, and no file changed.
func TestAServerRefusesWhatItCannotVouchFor(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sound")
	run(t, "orgs", "create", "Acme", "--data-dir", dir)
	sound := make(map[string][]byte)
	for _, name := range []string{"confab.db", storage.MasterKeyFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sound[name] = text
	}
	edit := func(change func(db []byte) []byte) map[string][]byte {
		return map[string][]byte{"confab.db": change(append([]byte(nil), sound["confab.db"]...)), storage.MasterKeyFile: sound[storage.MasterKeyFile]}
	}
	keyless := func(change func(db []byte) []byte) map[string][]byte {
		files := edit(change)
		delete(files, storage.MasterKeyFile)
		return files
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		says  string
	}{
		"empty":            {edit(func([]byte) []byte { return nil }), "truncated"},
		"truncated":        {edit(func(db []byte) []byte { return db[:len(db)/2] }), "truncated"},
		"garbage":          {edit(func(db []byte) []byte { return []byte(strings.Repeat("garbage ", len(db)/8)) }), "corrupt"},
		"damaged":          {edit(func(db []byte) []byte { copy(db[4096:], strings.Repeat("\xa5", 8192)); return db }), "corrupt"},
		"foreign":          {edit(func(db []byte) []byte { copy(db[68:], "\x00\x00\x00\x2a"); return db }), "another program"},
		"newer":            {edit(func(db []byte) []byte { copy(db[60:], "\x00\x00\x03\xe7"); return db }), "upgrade confab"},
		"empty, no key":    {keyless(func([]byte) []byte { return nil }), "truncated"},
		"garbage, no key":  {keyless(func([]byte) []byte { return []byte(strings.Repeat("garbage ", 32)) }), "not an SQLite database"},
		"foreign, no key":  {keyless(func(db []byte) []byte { copy(db[68:], "\x00\x00\x00\x2a"); return db }), "another program"},
		"key missing":      {map[string][]byte{"confab.db": sound["confab.db"]}, "master.key is missing"},
		"key of another":   {map[string][]byte{"confab.db": sound["confab.db"], storage.MasterKeyFile: []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n")}, "does not match"},
		"key is no key":    {map[string][]byte{"confab.db": sound["confab.db"], storage.MasterKeyFile: []byte("hello\n")}, "not a master key"},
		"directory a file": {nil, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := filepath.Join(t.TempDir(), "data")
			if c.files == nil {
				is.NoErr(os.WriteFile(dir, []byte("I am a file"), 0o600))
			} else {
				is.NoErr(os.Mkdir(dir, 0o700))
			}
			for file, text := range c.files {
				is.NoErr(os.WriteFile(filepath.Join(dir, file), text, 0o600))
			}
			words := refused(t, "serve", "--data-dir", dir, "--listen", "127.0.0.1:0")
			if !strings.Contains(words, c.says) {
				t.Errorf("it does not say %q: %s", c.says, words)
			}
			is.Equal(strings.Count(words, "\n"), 1) // one clear line
			for file, text := range c.files {
				now, err := os.ReadFile(filepath.Join(dir, file))
				is.NoErr(err)
				is.Equal(sha256.Sum256(now), sha256.Sum256(text)) // left untouched
			}
			if _, had := c.files[storage.MasterKeyFile]; !had {
				_, err := os.Stat(filepath.Join(dir, storage.MasterKeyFile))
				is.True(err != nil) // not made anew
			}
		})
	}
}

func TestOnlyOneServerPerDirectory(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	words := refused(t, "serve", "--data-dir", s.dir, "--listen", "127.0.0.1:0")
	is.True(strings.Contains(words, "is in use"))
	is.Equal(s.mustSend("GET", "/v1/me", "").status, 200) // the first does not mind
}

// TestAFullDiskRefusesWritesAndHeals limits how large the process's files may
// grow, which fails writes as a full disk does, and lifts the limit again.
func TestAFullDiskRefusesWritesAndHeals(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	is.Equal(s.mustSend("POST", "/v1/labels", `{"name":"before"}`).status, 201)

	var old unix.Rlimit
	is.NoErr(unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4096, Max: unix.RLIM_INFINITY}, &old))
	full := s.mustSend("POST", "/v1/labels", `{"name":"while full"}`)
	is.Equal(full.status, 503)
	is.Equal(full.body["error"].(map[string]any)["code"], "service_unavailable")
	is.Equal(full.header.Get("Retry-After"), "1")
	is.Equal(s.names(), []string{"before"}) // reads go on

	is.NoErr(unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_FSIZE, &old, nil))
	is.Equal(s.mustSend("POST", "/v1/labels", `{"name":"after"}`).status, 201)
	is.Equal(s.names(), []string{"after", "before"})
}

func TestAStopAnswersWhatWasAccepted(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	slow := s.beginPost("/v1/labels", `{"name":"slow"}`)
	is.NoErr(s.cmd.Process.Signal(unix.SIGTERM))
	s.awaitDraining()
	is.Equal(slow.finish(), 201)
	select {
	case err := <-s.ended:
		is.NoErr(err) // exit status 0
	case <-time.After(patience):
		t.Fatal("it did not stop")
	}
	s.start()
	is.Equal(s.names(), []string{"slow"})
}

func TestASecondSignalEndsItAtOnce(t *testing.T) {
	is := is.New(t)
	s := newServer(t)
	s.beginPost("/v1/labels", `{"name":"never finished"}`)
	is.NoErr(s.cmd.Process.Signal(unix.SIGTERM))
	s.awaitDraining()
	is.NoErr(s.cmd.Process.Signal(unix.SIGTERM))
	select {
	case err := <-s.ended:
		is.True(err != nil) // ended by the signal
	case <-time.After(5 * time.Second): // before the first one would, which waits for ten
		t.Fatal("a second signal did not end it")
	}
}

// names lists the names of all labels, sorted.
func (s *server) names() []string {
	s.t.Helper()
	return slices.Sorted(maps.Keys(s.labels()))
}
