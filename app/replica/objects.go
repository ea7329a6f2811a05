package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sys/unix"
)

// objects are the few small objects that a replica has beside what the engine sends.
type objects interface {
	// get reads an object and its tag, which changes with its content. The error is
	// fs.ErrNotExist if there is none.
	get(ctx context.Context, name string) (content []byte, tag string, err error)
	// put writes an object if its tag is still the given one; "" means that there is none
	// yet. Otherwise the error is errChanged.
	put(ctx context.Context, name string, content []byte, tag string) error
	delete(ctx context.Context, name string) error
}

// errChanged means that somebody else has written an object since it was read.
var errChanged = errors.New("it was changed by somebody else")

// maxObject bounds what is read of an object of ours.
const maxObject = 1 << 20

// newObjects opens the place of a replica. It calls nobody.
func newObjects(ctx context.Context, p Place) (objects, error) {
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" {
		return directory(u.Path), nil
	}

	query := u.Query()
	options := []func(*config.LoadOptions) error{config.WithRegion(query.Get("region"))}
	if p.AccessKeyID != "" {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(p.AccessKeyID, p.SecretAccessKey, "")))
	}
	settings, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if settings.Region == "" {
		settings.Region = "us-east-1" // which other storages ignore
	}

	client := s3.NewFromConfig(settings, func(o *s3.Options) {
		// Many storages refuse the checksums that the library adds by itself.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		if endpoint := query.Get("endpoint"); endpoint != "" {
			o.BaseEndpoint = aws.String(endpoint)
			o.UsePathStyle = query.Get("forcePathStyle") != "false"
		}
	})
	return &bucket{client, u.Host, strings.Trim(u.Path, "/")}, nil
}

// bucket is a place in object storage.
type bucket struct {
	client *s3.Client
	name   string
	prefix string
}

func (b *bucket) key(name string) *string { return aws.String(path.Join(b.prefix, name)) }

func (b *bucket) get(ctx context.Context, name string) ([]byte, string, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.key(name)})
	if err != nil {
		return nil, "", translate(err)
	}
	defer out.Body.Close()

	content, err := io.ReadAll(io.LimitReader(out.Body, maxObject))
	return content, aws.ToString(out.ETag), err
}

func (b *bucket) put(ctx context.Context, name string, content []byte, tag string) error {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: b.key(name), Body: bytes.NewReader(content), IfMatch: &tag}
	if tag == "" {
		in.IfMatch, in.IfNoneMatch = nil, aws.String("*")
	}
	_, err := b.client.PutObject(ctx, in)
	return translate(err)
}

func (b *bucket) delete(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.key(name)})
	return translate(err)
}

// translate turns the answers that mean something here into errors of ours.
func translate(err error) error {
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok {
		return err
	}

	switch answer.HTTPStatusCode() {
	case http.StatusPreconditionFailed, http.StatusConflict:
		return fmt.Errorf("%w (%w)", errChanged, err)
	case http.StatusNotFound:
		if !strings.Contains(err.Error(), "NoSuchBucket") {
			return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
		}
	}
	return err
}

// directory is a place in a file system.
type directory string

func (d directory) get(_ context.Context, name string) ([]byte, string, error) {
	content, err := os.ReadFile(filepath.Join(string(d), name))
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:]), nil
}

func (d directory) put(ctx context.Context, name string, content []byte, tag string) (err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(string(d), name+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}

	switch _, now, err := d.get(ctx, name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case now != tag:
		return errChanged
	}

	return replaceFile(filepath.Join(string(d), name), content)
}

func (d directory) delete(_ context.Context, name string) error {
	return errors.Join(os.Remove(filepath.Join(string(d), name)), os.Remove(filepath.Join(string(d), name+".lock")))
}

// replaceFile writes a file, which after a crash is there as it was or as it should be.
func replaceFile(name string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())

	_, err = temp.Write(content)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}
