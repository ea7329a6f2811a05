package replica

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path"

	"github.com/benbjohnson/litestream"
	_ "github.com/benbjohnson/litestream/file" // registers file URLs
	"github.com/benbjohnson/litestream/s3"
	"golang.org/x/sys/unix"

	"confab/app/config"
	"confab/storage/objects"
)

// Place is where a replica is kept, and the credentials for it. Without any, the usual
// variables or what the machine is given are used.
type Place struct {
	URL string `json:"url"`
	objects.Credentials
}

// PlaceOf is where the settings keep the replica.
func PlaceOf(c config.Replica) (Place, error) {
	keys, err := objects.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey.Reveal()}.Read()
	return Place{c.URL, keys}, err
}

// client makes the engine's client of one generation.
func (p Place) client(generation string) (litestream.ReplicaClient, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	u.Path = path.Join("/", u.Path, generation)

	client, err := litestream.NewReplicaClientFromURL(u.String())
	if err != nil {
		return nil, err
	}
	if bucket, ok := client.(*s3.ReplicaClient); ok && p.AccessKeyID != "" {
		bucket.AccessKeyID, bucket.SecretAccessKey = p.AccessKeyID, p.SecretAccessKey
	}
	client.SetLogger(slog.New(slog.DiscardHandler))
	return client, nil
}

// PrepareProcess must be called before the engine is used. The engine makes files with all the rights
// that the umask leaves: none for others. And it changes the variable of a certificate bundle, on which
// the engine's client fails, into the one that has the same meaning for every client of this process.
func PrepareProcess() error {
	unix.Umask(0o077)

	bundle, ok := os.LookupEnv("AWS_CA_BUNDLE")
	if !ok {
		return nil
	}
	if bundle != "" && os.Getenv("SSL_CERT_FILE") == "" {
		if err := os.Setenv("SSL_CERT_FILE", bundle); err != nil {
			return err
		}
	}
	return os.Unsetenv("AWS_CA_BUNDLE")
}

// open opens the few small objects that a replica has beside what the engine sends. It calls
// nobody.
func (p Place) open() (objects.Store, error) {
	return objects.Open(p.URL, p.Credentials)
}

// Probe writes, reads and deletes one object where the settings keep the replica, and says in
// words what failed.
func Probe(ctx context.Context, c config.Replica) error {
	p, err := PlaceOf(c)
	if err != nil {
		return err
	}
	store, err := p.open()
	if err == nil {
		err = objects.CheckConditions(ctx, store)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.URL, err)
	}
	return nil
}

// explain says in words why the engine could not do something with the storage.
func (p Place) explain(what string, err error) error {
	return p.failed(what, objects.Explain(p.URL, err))
}

func (p Place) failed(what string, err error) error {
	return fmt.Errorf("nothing can be %s %s: %w", what, p.URL, err)
}
