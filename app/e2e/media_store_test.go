package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"confab/app/cli"
	"confab/app/config"
	"confab/app/doctor"
	"confab/storage"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

// Media in object storage outlives the directory of the server, and storage that is away is
// said to be away.
func TestMediaInObjectStorage(t *testing.T) {
	is := is.New(t)
	p := newPlatform(t)
	_, before := p.upload("before.txt", "from before") // a file in the data directory
	p.stop()

	server := objectstest.New(t)
	p.media = config.Media{
		Store: server.Address("media"), AccessKeyID: objectstest.Key, SecretAccessKey: objectstest.Secret, CacheBytes: 1 << 20,
	}
	p.start()
	_, url := p.upload("hello.txt", "hello")
	p.stop()
	is.NoErr(os.RemoveAll(filepath.Join(p.dir, storage.MediaDir, "copies")))
	p.start()
	token := func(url string) string { return "/media/" + filepath.Base(filepath.Dir(url)) }

	server.Break(objectstest.Away)
	status, _, header := p.ask("GET", token(url), "", nil)
	is.Equal(status, 503)
	is.Equal(header.Get("Retry-After"), "10")
	status, text, _ := p.ask("GET", token(before), "", nil)
	is.Equal(status, 200)
	is.Equal(text, "from before")

	server.Break(nil)
	status, text, _ = p.ask("GET", token(url), "", nil)
	is.Equal(status, 200)
	is.Equal(text, "hello")

	// The file from before is carried over beside the server, and doctor finds all in place.
	t.Setenv("CONFAB_MEDIA__STORE", p.media.Store)
	t.Setenv("CONFAB_MEDIA__ACCESS_KEY_ID", objectstest.Key)
	t.Setenv("CONFAB_MEDIA__SECRET_ACCESS_KEY", objectstest.Secret)
	run := func(args ...string) int {
		return cli.Run(t.Context(), cli.Assets{Schema: storagetest.Schema(t), Version: "test"}, append(args, "--data-dir", p.dir))
	}
	is.Equal(run("media", "move"), 0)
	is.NoErr(os.RemoveAll(filepath.Join(p.dir, storage.MediaDir, "copies")))
	status, text, _ = p.ask("GET", token(before), "", nil)
	is.Equal(status, 200)
	is.Equal(text, "from before")
	findings := map[string]string{}
	examine := doctor.Options{Sources: config.Sources{Environ: append(os.Environ(), "CONFAB_DATA_DIR="+p.dir)}, Schema: storagetest.Schema(t)}
	doctor.Examine(t.Context(), examine, func(f doctor.Finding) { findings[f.Check] = f.Message })
	is.Equal(findings["media"], "2 files in place.")
	is.Equal(findings["media storage"], "An object was written, read and deleted in "+p.media.Store+".")

	// And back.
	is.Equal(run("media", "move", "--to-files"), 0)
	for _, content := range []string{"hello", "from before"} {
		sum := sha256.Sum256([]byte(content))
		name := hex.EncodeToString(sum[:])
		kept, err := os.ReadFile(filepath.Join(p.dir, storage.MediaDir, name[:2], name))
		is.NoErr(err)
		is.Equal(string(kept), content)
	}

	server.Break(objectstest.Away) // files are there now
	status, text, _ = p.ask("GET", token(url), "", nil)
	is.Equal(status, 200)
	is.Equal(text, "hello")
}
