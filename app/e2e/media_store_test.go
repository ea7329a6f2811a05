package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage"
	"confab/storage/objects/objectstest"
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

	server.Break(objectstest.Away) // a copy is there now
	status, text, _ = p.ask("GET", token(url), "", nil)
	is.Equal(status, 200)
	is.Equal(text, "hello")
}
