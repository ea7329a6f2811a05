package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage/objects"
	"confab/storage/objects/objectstest"
)

var keys = objects.Credentials{AccessKeyID: objectstest.Key, SecretAccessKey: objectstest.Secret}

func open(t *testing.T, address string, keys objects.Credentials) objects.Store {
	t.Helper()
	s, err := objects.Open(address, keys)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test with both kinds of store.
func each(t *testing.T, test func(t *testing.T, s objects.Store)) {
	t.Run("s3", func(t *testing.T) { test(t, open(t, objectstest.New(t).Address("some/prefix"), keys)) })
	t.Run("file", func(t *testing.T) { test(t, open(t, "file://"+t.TempDir()+"/store", keys)) })
}

func put(t *testing.T, s objects.Store, key, content string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s objects.Store, key string) (string, objects.Object) {
	t.Helper()
	body, o, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), o
}

func TestObjectsAreWrittenReadListedAndDeleted(t *testing.T) {
	each(t, func(t *testing.T, s objects.Store) {
		is := is.New(t)
		put(t, s, "ab/one", "first")
		put(t, s, "ab/one", "second")
		put(t, s, "cd/two", "")
		put(t, s, "other", "x")

		text, o := get(t, s, "ab/one")
		is.Equal(text, "second")
		is.Equal(o.Size, int64(6))
		is.True(time.Since(o.Modified) < time.Minute)
		stat, err := s.Stat(t.Context(), "ab/one")
		is.NoErr(err)
		is.Equal(stat.Version, o.Version)

		for prefix, want := range map[string]string{"": "ab/one:6 cd/two:0 other:1", "ab": "ab/one:6", "cd/": "cd/two:0", "none/": ""} {
			var found []string
			is.NoErr(s.List(t.Context(), prefix, func(o objects.Object) error {
				found = append(found, fmt.Sprintf("%s:%d", o.Key, o.Size))
				return nil
			}))
			is.Equal(strings.Join(found, " "), want)
		}

		is.NoErr(s.Delete(t.Context(), "ab/one"))
		is.NoErr(s.Delete(t.Context(), "ab/one"))
		_, _, err = s.Get(t.Context(), "ab/one")
		is.True(errors.Is(err, objects.ErrNotFound))
		_, err = s.Stat(t.Context(), "ab/one")
		is.True(errors.Is(err, objects.ErrNotFound))
		is.NoErr(objects.Check(t.Context(), s))
	})
}

func TestALongListHasSeveralPages(t *testing.T) {
	is := is.New(t)
	s := open(t, objectstest.New(t).Address(""), keys)
	for i := range 1100 {
		put(t, s, fmt.Sprintf("%04d", i), "x")
	}
	n := 0
	is.NoErr(s.List(t.Context(), "", func(o objects.Object) error {
		is.Equal(o.Key, fmt.Sprintf("%04d", n))
		n++
		return nil
	}))
	is.Equal(n, 1100)
}

func TestOneOfSeveralWritersSucceeds(t *testing.T) {
	each(t, func(t *testing.T, s objects.Store) {
		is := is.New(t)
		version := ""
		for round := range 5 {
			var won atomic.Int64
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					_, err := s.PutIf(context.Background(), "current", fmt.Appendf(nil, "round %d, writer %d", round, i), version)
					if err == nil {
						won.Add(1)
					} else if !errors.Is(err, objects.ErrChanged) {
						t.Error(err)
					}
				})
			}
			group.Wait()
			is.Equal(won.Load(), int64(1))
			_, o := get(t, s, "current")
			version = o.Version
		}

		_, err := s.PutIf(t.Context(), "current", []byte("x"), "")
		is.True(errors.Is(err, objects.ErrChanged))
		_, err = s.PutIf(t.Context(), "absent", []byte("x"), version)
		is.True(errors.Is(err, objects.ErrChanged))
		next, err := s.PutIf(t.Context(), "current", []byte("next"), version)
		is.NoErr(err)
		_, o := get(t, s, "current")
		is.Equal(o.Version, next)
	})
}

// TestWhatIsWrongIsSaidInWords has each fault of the storage named by doctor's check.
func TestWhatIsWrongIsSaidInWords(t *testing.T) {
	wrong := keys
	wrong.AccessKeyID = "another"
	for name, c := range map[string]struct {
		keys  objects.Credentials
		fault objectstest.Fault
		says  string
	}{
		"away":         {keys, objectstest.Away, "could not write an object: http://127.0.0.1"},
		"full":         {keys, objectstest.Full, "could not write an object: the storage is full"},
		"wrong key":    {wrong, nil, "could not write an object: the storage refuses the access key (InvalidAccessKeyId)"},
		"wrong bucket": {keys, nil, `there is no bucket "elsewhere"`},
	} {
		t.Run(name, func(t *testing.T) {
			server := objectstest.New(t)
			server.Break(c.fault)
			address := server.Address("p")
			if name == "wrong bucket" {
				address = strings.Replace(address, objectstest.Bucket, "elsewhere", 1)
			}
			err := objects.Check(t.Context(), open(t, address, c.keys))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("said: %v", err)
			}
		})
	}
}

func TestStorageThatIsSilentIsGivenUp(t *testing.T) {
	is := is.New(t)
	server := objectstest.New(t)
	s := open(t, server.Address("p"), keys)
	server.Break(objectstest.Silent)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := s.Put(ctx, "a", bytes.NewReader([]byte("a")), 1)
	is.True(err != nil && strings.Contains(err.Error(), "did not answer in time"))
}

func TestNobodyListens(t *testing.T) {
	is := is.New(t)
	s := open(t, "s3://b/p?endpoint=http://127.0.0.1:1", keys)
	_, err := s.Stat(t.Context(), "a")
	is.True(err != nil && strings.Contains(err.Error(), "http://127.0.0.1:1 cannot be reached: connection refused"))
}

func TestAddresses(t *testing.T) {
	is := is.New(t)
	for _, good := range []string{
		"s3://bucket", "s3://bucket/a/b?region=eu-1", "s3://bucket/?endpoint=https://x.test&forcePathStyle=false", "file:///a/b",
	} {
		is.NoErr(objects.CheckURL(good))
	}
	for _, bad := range []string{
		"", "bucket", "s3://", "s3:bucket", "http://bucket", "s3://user:pass@bucket", "s3://bucket?endpoint=host:9000",
		"s3://bucket?regoin=x", "s3://bucket?forcePathStyle=maybe", "file://host/a", "file:a", "s3://b#f", "file:///a?b=c",
	} {
		if objects.CheckURL(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestKeysFromFiles(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "secret")
	is.NoErr(os.WriteFile(file, []byte(objectstest.Key+"\n"), 0o600))
	from := objects.Credentials{AccessKeyID: "file:" + file, SecretAccessKey: "x"}
	is.NoErr(objects.Check(t.Context(), open(t, objectstest.New(t).Address(""), from)))

	_, err := objects.Open("s3://b", objects.Credentials{AccessKeyID: "file:" + file + ".none", SecretAccessKey: "x"})
	is.True(errors.Is(err, os.ErrNotExist))
	_, err = objects.Open("s3://b", objects.Credentials{AccessKeyID: "x"})
	is.True(err != nil)
}
