// Package objects keeps objects, which are bytes under a key, in object storage that
// speaks S3, or in a directory.
//
// Every call has a time limit of its own, beside that of its context, so that storage that
// accepts connections and then says nothing holds nobody up for long. The text of an error
// says in words what is wrong, because people read it in the log and in doctor's report.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The errors that callers distinguish. Everything else means that the storage is away,
// or refuses what was asked.
var (
	// ErrNotFound means that there is no object under a key.
	ErrNotFound = errors.New("there is no such object")
	// ErrChanged means that another has written the object since it was read.
	ErrChanged = errors.New("another has written the object")
)

// Object is what the storage says of an object.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
	Version  string // changes with every write; List leaves it out
}

// Store is a place for objects. It may be used by many at once.
type Store interface {
	// Put writes an object, or replaces it. Readers see the old one or the new one.
	Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error

	// PutIf writes a small object if its version is the one given, or, with "", if there is
	// none, and returns the new version. Of several who try, one succeeds; all others get
	// ErrChanged. The content must be one that only this writer can have written: when an
	// answer is lost, that is how a success is told from another's.
	PutIf(ctx context.Context, key string, content []byte, version string) (string, error)

	// Get reads an object.
	Get(ctx context.Context, key string) (io.ReadCloser, Object, error)

	// Stat returns what there is to know of an object beside its content.
	Stat(ctx context.Context, key string) (Object, error)

	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error

	// List calls fn with each object whose key begins with prefix, in the order of the keys
	// as far as every name within a directory has the same length.
	List(ctx context.Context, prefix string, fn func(Object) error) error
}

// Credentials are a pair of keys for S3. Each is a value or "file:" and the path of a file
// that holds it. Empty ones come from the usual variables and files (AWS_ACCESS_KEY_ID and
// so on), or from the machine.
type Credentials struct {
	AccessKeyID     string
	SecretAccessKey string
}

// Read replaces the paths of files by what they hold.
func (c Credentials) Read() (Credentials, error) {
	for _, value := range []*string{&c.AccessKeyID, &c.SecretAccessKey} {
		path, inFile := strings.CutPrefix(*value, "file:")
		if !inFile {
			continue
		}
		text, err := os.ReadFile(strings.TrimPrefix(path, "//"))
		if err != nil {
			return c, fmt.Errorf("access key of the storage: %w", err)
		}
		*value = strings.TrimSpace(string(text))
	}

	if (c.AccessKeyID == "") != (c.SecretAccessKey == "") {
		return c, errors.New("access_key_id and secret_access_key must both be set, or neither")
	}
	return c, nil
}

// Open makes a store of a URL: s3://bucket/prefix?endpoint=…&region=… or file:///path. It
// does not connect: Check does.
func Open(address string, keys Credentials) (Store, error) {
	place, err := parse(address)
	if err != nil {
		return nil, err
	}
	if place.dir != "" {
		return openDirectory(place.dir)
	}

	if keys, err = keys.Read(); err != nil {
		return nil, err
	}
	return openS3(place, keys)
}

// CheckURL reports what is wrong with the URL of a store.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

// place is where a store is: a directory, or a part of a bucket.
type place struct {
	dir            string
	bucket, prefix string
	endpoint       string // "" is Amazon's own
	region         string // "" comes from the usual variables
	pathStyle      bool   // the bucket is in the path of URLs, not in their host
}

var errAddress = errors.New("must be s3://bucket/prefix or file:///path")

// parse reads the URL of a store. The parameters have the names that Litestream gives them.
func parse(address string) (p place, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.User != nil, u.Fragment != "", u.Opaque != "":
		return p, errAddress
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path) && u.RawQuery == "":
		return place{dir: filepath.Clean(u.Path)}, nil
	case u.Scheme != "s3", u.Host == "", strings.Contains(u.Host, ":"):
		return p, errAddress
	}

	p.bucket = u.Host
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		p.prefix = prefix + "/"
	}

	for name, values := range u.Query() {
		value := values[0]
		switch name {
		case "endpoint":
			p.endpoint = strings.TrimRight(value, "/")
			p.pathStyle = p.pathStyle || !u.Query().Has("forcePathStyle")
			if e, err := url.Parse(value); err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" {
				return p, errors.New("its endpoint must be a URL such as https://storage.example.com")
			}
		case "region":
			p.region = value
		case "forcePathStyle":
			if p.pathStyle, err = strconv.ParseBool(value); err != nil {
				return p, errors.New("its forcePathStyle must be true or false")
			}
		default:
			return p, fmt.Errorf("has the parameter %q; there are endpoint, region and forcePathStyle", name)
		}
	}
	return p, nil
}
