package replica

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path"
	"time"

	"github.com/aws/smithy-go"
	"github.com/benbjohnson/litestream"
	_ "github.com/benbjohnson/litestream/file" // registers file URLs
	"github.com/benbjohnson/litestream/s3"

	"confab/app/config"
)

// Place is where a replica is kept, and the credentials for it. Without any, the usual
// variables or what the machine is given are used.
type Place struct {
	URL             string `json:"url"`
	AccessKeyID     string `json:"access_key_id,omitempty"`
	SecretAccessKey string `json:"secret_access_key,omitempty"`
}

// PlaceOf is where the settings keep the replica.
func PlaceOf(c config.Replica) (Place, error) {
	id, secret, err := c.Credentials()
	return Place{URL: c.URL, AccessKeyID: id, SecretAccessKey: secret}, err
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

// CleanEnvironment changes the variable of a certificate bundle, on which the engine's client
// fails, into the one that has the same meaning for every client of this process.
func CleanEnvironment() error {
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

// probeTime limits Probe.
const probeTime = 15 * time.Second

// Probe writes, reads and deletes one object, and says in words what failed.
func (p Place) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()

	store, err := newObjects(ctx, p)
	if err != nil {
		return fmt.Errorf("the settings for %s cannot be used: %w", p.URL, err)
	}

	name, content := "probe-"+rand.Text(), rand.Text()
	if err := store.put(ctx, name, []byte(content), ""); err != nil {
		return p.explain("written to", err)
	}
	read, _, err := store.get(ctx, name)
	if err == nil && string(read) != content {
		err = errors.New("another object came back")
	}
	if err != nil {
		return p.explain("read from", errors.Join(err, store.delete(ctx, name)))
	}
	if err := store.delete(ctx, name); err != nil {
		return p.explain("deleted in", err)
	}
	return nil
}

// explain says in words why something could not be done with the storage.
func (p Place) explain(what string, err error) error {
	reason := err.Error()
	var answer smithy.APIError
	var dns *net.DNSError
	switch {
	case errors.As(err, &answer):
		reason = answerText(answer)
	case errors.As(err, &dns):
		reason = "the name " + dns.Name + " cannot be resolved"
	case errors.Is(err, context.DeadlineExceeded):
		reason = "the storage does not answer"
	default:
		if op, ok := errors.AsType[*net.OpError](err); ok {
			reason = "the storage cannot be reached: " + op.Err.Error()
		}
	}
	return fmt.Errorf("nothing can be %s %s: %s", what, p.URL, reason)
}

// answerText says what the refusals of a storage mean that are most common.
func answerText(answer smithy.APIError) string {
	switch answer.ErrorCode() {
	case "NoSuchBucket":
		return "there is no such bucket"
	case "AccessDenied", "Forbidden":
		return "the credentials do not allow it"
	case "InvalidAccessKeyId":
		return "the storage does not know replica.access_key_id"
	case "SignatureDoesNotMatch":
		return "replica.secret_access_key does not belong to replica.access_key_id"
	}
	return answer.ErrorCode() + ": " + answer.ErrorMessage()
}
