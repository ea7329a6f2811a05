package api

import (
	"net/http"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/objects"
	"confab/storage/objects/objectstest"
	"confab/storage/storagetest"
)

func TestUploadsAreRefusedWhileTheirStorageIsAway(t *testing.T) {
	is := is.New(t)
	server := objectstest.New(t)
	store, err := objects.Open(server.Address("media"), objects.Credentials{AccessKeyID: objectstest.Key, SecretAccessKey: objectstest.Secret})
	is.NoErr(err)
	files, err := storage.OpenFiles(t.TempDir(), store, 1<<20)
	is.NoErr(err)
	t.Cleanup(func() { files.Close() })
	f, _ := serveLibrary(t, func(o *testOptions) { o.Files = files })

	for name, fault := range map[string]objectstest.Fault{
		"away": objectstest.Away,
		"full": objectstest.Full,
		"denied": func(w http.ResponseWriter, _ *http.Request) bool {
			objectstest.Refuse(w, http.StatusForbidden, "AccessDenied")
			return true
		},
	} {
		server.Break(fault)
		r := f.upload(picture())
		t.Log(name, r.code())
		is.Equal(r.status, http.StatusServiceUnavailable)
		is.Equal(r.header.Get("Retry-After"), "10")
		is.Equal(storagetest.Select[int](t, f.dir, `SELECT count(*) FROM media`), []int{0})
	}

	server.Break(nil)
	is.Equal(f.upload(picture()).status, http.StatusCreated)
	n := 0
	is.NoErr(store.List(t.Context(), "", func(objects.Object) error { n++; return nil }))
	is.Equal(n, 1)
}
