package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"confab/app/datadir"
	"confab/storage"
	"confab/storage/storagetest"
)

// upload puts a text into the media library and returns its id.
func (s *server) upload(number, content string) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "note.txt")
	if err != nil {
		return "", err
	}
	io.WriteString(part, content)
	form.Close()
	r, err := s.send(context.Background(), "POST", "/v1/"+number+"/media", body.String(), "Content-Type: "+form.FormDataContentType())
	if err != nil || r.status != 201 {
		return "", fmt.Errorf("upload: %d %v %w", r.status, r.body, err)
	}
	return r.body["data"].(map[string]any)["id"].(string), nil
}

// written is what a storm has had acknowledged: messages, and media with its content.
type written struct {
	mu       sync.Mutex
	messages map[string]bool
	media    map[string]string
}

func (w *written) copy() (messages map[string]bool, media map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.messages), maps.Clone(w.media)
}

// storm writes until stop is closed, and reports each acknowledgement.
func (s *server) storm(number string, clients int, stop <-chan struct{}) (w *written, acked <-chan struct{}, done func()) {
	w = &written{messages: make(map[string]bool), media: make(map[string]string)}
	reported := make(chan struct{}, 1<<20)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				content := fmt.Sprintf("note %d of %d", n, c)
				var media string
				if n%10 == 0 {
					var err error
					if media, err = s.upload(number, content); err != nil {
						s.t.Error(err)
						return
					}
				}
				r, err := s.send(context.Background(), "POST", "/v1/"+number+"/messages",
					fmt.Sprintf(`{"messaging_product":"chat","to":"+1555%03d%04d","type":"text","text":{"body":"hello"}}`, c, n%200))
				if err != nil || r.status != 200 {
					s.t.Errorf("send: %d %v %v", r.status, r.body, err)
					return
				}
				w.mu.Lock()
				w.messages[r.body["data"].(map[string]any)["id"].(string)] = true
				if media != "" {
					w.media[media] = content
				}
				w.mu.Unlock()
				reported <- struct{}{}
			}
		})
	}
	return w, reported, group.Wait
}

// TestABackupUnderAStormHoldsWhatWasAcknowledged is the acceptance test of
// backups: taken in the middle of many writes, restored elsewhere, and served.
func TestABackupUnderAStormHoldsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := prepareServer(t)
	sim := simulate(t, s)
	sim.connect(s)
	s.start()
	stop := make(chan struct{})
	w, acked, done := s.storm(sim.Number, 8, stop)
	for range 400 {
		<-acked
	}
	messages, media := w.copy() // acknowledged before the backup began
	archive := filepath.Join(t.TempDir(), "backup.tar")
	run(t, "backup", archive, "--data-dir", s.dir)
	for range 50 {
		<-acked // the storm went on
	}
	close(stop)
	done()
	s.kill()
	info, err := os.Stat(archive)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))

	restored := *s
	restored.dir = filepath.Join(t.TempDir(), "restored")
	run(t, "restore", archive, "--data-dir", restored.dir)
	is.Equal(storagetest.Select[string](t, restored.dir, "PRAGMA integrity_check"), []string{"ok"})
	is.Equal(len(storagetest.Select[string](t, restored.dir, `SELECT "table" FROM pragma_foreign_key_check`)), 0)
	is.Equal(storagetest.Select[int](t, restored.dir, "PRAGMA auto_vacuum"), []int{2}) // it can still shrink
	kept := storagetest.Select[string](t, restored.dir, "SELECT id FROM messages")
	is.True(len(messages) >= 40)
	for id := range messages {
		if !slices.Contains(kept, id) {
			t.Errorf("%s is not in the backup", id)
		}
	}
	is.True(len(media) >= 40)

	restored.start()
	for id, content := range media {
		r := restored.mustSend("GET", "/v1/"+sim.Number+"/media/"+id, "")
		is.Equal(r.status, 200)
		res, err := http.Get("http://" + s.address + strings.TrimPrefix(r.body["data"].(map[string]any)["url"].(string), "http://"+s.address))
		is.NoErr(err)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		is.NoErr(err)
		is.Equal(string(text), content)
	}
}

// backedUp makes a data directory with a tenant and two media files, and backs it up.
func backedUp(t *testing.T, args ...string) (dir, archive string) {
	t.Helper()
	dir, archive = filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "backup.tar")
	run(t, "orgs", "create", "Acme", "--data-dir", dir)
	db := storagetest.OpenDir(t, dir)
	files := storagetest.Files(t, dir)
	account := storagetest.Connect(t, db, storagetest.Seed(t, db, "Beta"), "100200300")
	for _, content := range []string{"one", "two"} {
		upload, err := files.Create()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(upload, content)
		sum, err := upload.Keep(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		storagetest.Update(t, db, func(tx *storage.Tx) error {
			return tx.InsertMedia(&storage.Media{AccountID: account.ID, Origin: storage.OriginLibrary, SHA256: sum, MIMEType: "text/plain", Size: int64(len(content))})
		})
	}
	if err := db.Close(); err != nil { // tests look into the file
		t.Fatal(err)
	}
	run(t, append([]string{"backup", archive, "--data-dir", dir}, args...)...)
	return dir, archive
}

func TestABackupSaysWhatIsMissingOrDamaged(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, archive := backedUp(t)
	files, err := filepath.Glob(filepath.Join(dir, storage.MediaDir, "??", "*"))
	is.NoErr(err)
	is.Equal(len(files), 2)
	is.NoErr(os.Remove(files[0]))
	is.NoErr(os.WriteFile(files[1], []byte("six"), 0o600))
	second := archive + ".gz"
	out, err := confab(t, "backup", second, "--data-dir", dir).CombinedOutput()
	is.NoErr(err)
	is.True(strings.Contains(string(out), "warning: 1 media file is missing"))
	is.True(strings.Contains(string(out), "warning: 1 media file is damaged"))
	run(t, "restore", second, "--data-dir", filepath.Join(t.TempDir(), "restored")) // no fault of the backup
	left, err := filepath.Glob(filepath.Join(filepath.Dir(archive), ".*"))
	is.NoErr(err)
	is.Equal(len(left), 0) // nothing half made is left
}

func TestABackupWithoutTheKeyNeedsIt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	dir, archive := backedUp(t, "--without-key")
	alone := filepath.Join(t.TempDir(), "alone")
	out, err := confab(t, "restore", archive, "--data-dir", alone).CombinedOutput()
	is.NoErr(err)
	is.True(strings.Contains(string(out), "warning: the backup has no master.key: put it in "+alone))
	says := refused(t, "serve", "--data-dir", alone, "--listen", "127.0.0.1:0")
	is.True(strings.Contains(says, "master.key is missing"))

	key, err := os.ReadFile(filepath.Join(dir, storage.MasterKeyFile))
	is.NoErr(err)
	with := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(with, storage.MasterKeyFile), key, 0o600))
	run(t, "restore", archive, "--data-dir", with)
	run(t, "orgs", "list", "--data-dir", with)
}

func TestARunningServerIsNotRestoredInto(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, archive := backedUp(t)
	s := newServer(t)
	says := refused(t, "restore", archive, "--data-dir", s.dir)
	is.True(strings.Contains(says, "is in use: a server is running on this data directory"))
	exists, err := datadir.Dir(s.dir).Exists()
	is.NoErr(err)
	is.True(exists)
}
