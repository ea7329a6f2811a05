package rig

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// What is wrong with the storage.
const (
	StorageSound    = ""
	StorageDenied   = "AccessDenied"
	StorageWrongKey = "InvalidAccessKeyId"
	StorageFull     = "XMinioStorageFull"
	StorageSlow     = "slow"
	StorageSilent   = "silent"
)

const storageDelay = 2 * time.Second

// Storage is object storage in the memory of a process of its own.
type Storage struct{ *Service }

// StartStorage runs the program once more, as object storage.
func (p Program) StartStorage() *Storage { return &Storage{p.StartService("storage")} }

// Break makes all requests fail in a way.
func (s *Storage) Break(how string) { s.Call("PUT", "/-/"+how, "", nil) }

// Address is a place in the storage.
func (s *Storage) Address(prefix string) string {
	return "s3://confab/" + prefix + "?region=us-east-1&endpoint=" + url.QueryEscape(s.URL)
}

// Settings let a server replicate there.
func (s *Storage) Settings() []string {
	return []string{
		"CONFAB_REPLICA__URL=" + s.Address("replica"), "CONFAB_REPLICA__ACCESS_KEY_ID=key", "CONFAB_REPLICA__SECRET_ACCESS_KEY=secret",
	}
}

// replicaTimeout is how long a replica may take until it has all that was written.
const replicaTimeout = 5 * time.Minute

// AwaitReplica waits until the replica of the server is less than so much behind.
func (s *Server) AwaitReplica(lag time.Duration) {
	var status struct {
		Lag    float64 `json:"lag_seconds"`
		Upload *string `json:"last_upload_at"`
	}
	for began := time.Now(); status.Upload == nil || status.Lag >= lag.Seconds(); time.Sleep(100 * time.Millisecond) {
		Require(time.Since(began) < replicaTimeout, "the replica is %.1f s behind", status.Lag)
		Check(json.Unmarshal([]byte(s.Command("replica", "status", "--json")), &status))
	}
}

// serveStorage is the process. The only argument is its address.
func serveStorage(args []string) {
	backend := s3mem.New()
	Check(backend.CreateBucket("confab"))
	fake := gofakes3.New(backend).Server()

	var fault atomic.Value
	fault.Store(StorageSound)
	Check(http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if how, ok := strings.CutPrefix(r.URL.Path, "/-/"); ok {
			fault.Store(how)
			return
		}

		refuse := func(status int, code string) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}
		switch how := fault.Load().(string); {
		case how == StorageSlow:
			time.Sleep(storageDelay)
			fake.ServeHTTP(w, r)
		case how == StorageSilent:
			<-r.Context().Done()
		case how == StorageDenied || how == StorageWrongKey:
			refuse(http.StatusForbidden, how)
		case how == StorageFull && r.Method == http.MethodPut:
			refuse(http.StatusInsufficientStorage, how)
		default:
			fake.ServeHTTP(w, r)
		}
	})))
}
