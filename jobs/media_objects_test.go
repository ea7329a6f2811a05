package jobs_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"confab/storage"
	"confab/storage/objects"
	"confab/storage/storagetest"
)

// awayStore is object storage that can be away.
type awayStore struct {
	objects.Store
	away atomic.Bool
}

var errAway = errors.New("the storage is away")

func (s *awayStore) Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.Put(ctx, key, content, size)
}

func (s *awayStore) Get(ctx context.Context, key string) (io.ReadCloser, objects.Object, error) {
	if s.away.Load() {
		return nil, objects.Object{}, errAway
	}
	return s.Store.Get(ctx, key)
}

func (s *awayStore) Delete(ctx context.Context, key string) error {
	if s.away.Load() {
		return errAway
	}
	return s.Store.Delete(ctx, key)
}

// withObjects puts the media of the world into object storage.
func (w *world) withObjects() *awayStore {
	w.t.Helper()
	dir, err := objects.Open("file://"+w.t.TempDir(), objects.Credentials{})
	w.is.NoErr(err)
	store := &awayStore{Store: dir}
	files, err := storage.OpenFiles(w.t.TempDir(), store, 1<<20)
	w.is.NoErr(err)
	w.t.Cleanup(func() { files.Close() })
	w.options.Files = files
	w.periodic = []string{"media.delete_objects", "media.remove_unused"}
	return store
}

func (w *world) objectsIn(store objects.Store) (keys []string) {
	w.t.Helper()
	w.is.NoErr(store.List(context.Background(), "", func(o objects.Object) error {
		keys = append(keys, o.Key)
		return nil
	}))
	return keys
}

func TestMediaIsFetchedOnceItsStorageIsBack(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		store.away.Store(true)
		refused := false
		w.provider.answer = func(n int, c call) (*http.Response, error) {
			if !store.away.Load() && !refused { // which is the first failure of the provider
				refused = true
				return answered(503, ""), nil
			}
			return shelf(picture)(n, c)
		}
		w.start()
		w.photo("wamid.in", "image", "")
		time.Sleep(3 * time.Hour)
		w.is.Equal(*w.heard().MediaStatus, storage.MediaFetching) // no row names what is not stored
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM media`), []int{0})

		store.away.Store(false)
		time.Sleep(3 * time.Minute)
		w.is.Equal(*w.heard().MediaStatus, storage.MediaReady)
		w.is.Equal(len(w.objectsIn(store)), 1)
	})
}

func TestAFileGoesOutOnceItsStorageIsBack(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		w.provider.answer = uploadsThenSends
		m := w.file("image/png", "\x89PNG")
		w.is.NoErr(w.options.Files.Remove(m.SHA256, time.Time{})) // the copy
		store.away.Store(true)
		w.start()
		id := w.picture(m)
		time.Sleep(2 * time.Hour)
		w.is.Equal(w.message(id).Status, storage.MessageQueued)
		store.away.Store(false)
		time.Sleep(3 * time.Minute)
		w.is.Equal(w.message(id).Status, storage.MessageSent)
	})
}

func TestAnObjectStaysAsLongAsADatabaseCanNameItAgain(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		w.options.ObjectsKept = 2 * 24 * time.Hour
		m, kept := w.file("image/png", "deleted"), w.file("image/png", "kept")
		w.start()
		w.remove(m)
		time.Sleep(3 * time.Hour)
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM media`), []int{1})
		w.is.Equal(len(w.objectsIn(store)), 2)
		time.Sleep(2*24*time.Hour - 3*time.Hour)
		w.is.Equal(len(w.objectsIn(store)), 2)

		store.away.Store(true)
		time.Sleep(12 * time.Hour)
		w.is.Equal(len(w.objectsIn(store)), 2)
		store.away.Store(false)
		time.Sleep(12 * time.Hour)
		w.is.Equal(w.objectsIn(store), []string{kept.SHA256[:2] + "/" + kept.SHA256})
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM unused_objects`), []int{0})
	})
}

func TestAnObjectThatIsNamedAgainStays(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		w.options.ObjectsKept = 2 * 24 * time.Hour
		m := w.file("image/png", "same")
		w.start()
		w.remove(m)
		time.Sleep(24 * time.Hour)
		w.file("image/png", "same")
		time.Sleep(3 * 24 * time.Hour)
		w.is.Equal(len(w.objectsIn(store)), 1)
		w.is.Equal(storagetest.Select[int](t, w.dir, `SELECT count(*) FROM unused_objects`), []int{0})
	})
}

func TestAnObjectWithoutARowIsFoundAndDeleted(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		w.file("image/png", "kept")
		sum := strings.Repeat("ab", 32)
		w.is.NoErr(store.Put(t.Context(), "ab/"+sum, strings.NewReader("x"), 1))
		w.is.NoErr(store.Put(t.Context(), "notes.txt", strings.NewReader("x"), 1)) // not ours
		w.start()
		synctest.Wait()
		w.is.Equal(len(w.objectsIn(store)), 3)
		time.Sleep(13 * time.Hour)
		w.is.Equal(len(w.objectsIn(store)), 2)
	})
}

func TestASupersededServerDeletesNoObject(t *testing.T) {
	bubble(t, func(w *world) {
		store := w.withObjects()
		w.options.InForce = func(context.Context) error { return errors.New("another server took over") }
		m := w.file("image/png", "deleted")
		w.start()
		w.remove(m)
		time.Sleep(48 * time.Hour)
		w.is.Equal(len(w.objectsIn(store)), 1)
	})
}
