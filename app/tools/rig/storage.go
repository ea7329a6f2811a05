package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// StorageCommand is the first argument with which a program calls ServeStorage.
const StorageCommand = "storage"

// What is wrong with the storage.
const (
	StorageSound    = ""
	StorageDenied   = "AccessDenied"
	StorageWrongKey = "InvalidAccessKeyId"
	StorageFull     = "XMinioStorageFull"
	StorageSlow     = "slow"
	StorageSilent   = "silent"
)

// storageDelay is how much longer slow storage takes.
const storageDelay = 2 * time.Second

// Storage is object storage in the memory of a process of its own.
type Storage struct{ *Service }

// StartStorage runs the program once more, as object storage.
func (p Program) StartStorage() (*Storage, error) {
	s, err := p.StartService(StorageCommand)
	if err != nil {
		return nil, err
	}
	return &Storage{s}, nil
}

// Break makes all requests fail in a way.
func (s *Storage) Break(how string) error { return s.Call("PUT", "/-/"+how, "", nil) }

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

// AwaitReplica waits until the replica of the server is less than so much behind.
func (s *Server) AwaitReplica(ctx context.Context, lag time.Duration) error {
	for {
		var status struct {
			Lag    float64 `json:"lag_seconds"`
			Upload *string `json:"last_upload_at"`
		}
		out, err := s.Command("replica", "status", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &status)
		}
		if err != nil || status.Upload != nil && status.Lag < lag.Seconds() {
			return err
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("the replica is %.1f s behind: %w", status.Lag, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// ServeStorage is the process.
func ServeStorage(args []string) error {
	backend := s3mem.New()
	if err := backend.CreateBucket("confab"); err != nil {
		return err
	}
	fake := gofakes3.New(backend).Server()

	var fault atomic.Value
	fault.Store(StorageSound)
	return http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if how, ok := strings.CutPrefix(r.URL.Path, "/-/"); ok {
			fault.Store(how)
			io.WriteString(w, "{}")
			return
		}

		switch how := fault.Load().(string); how {
		case StorageSlow:
			time.Sleep(storageDelay)
		case StorageSilent:
			<-r.Context().Done()
			return
		case StorageDenied, StorageWrongKey:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", how)
			return
		case StorageFull:
			if r.Method == http.MethodPut {
				w.WriteHeader(http.StatusInsufficientStorage)
				fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", how)
				return
			}
		}
		fake.ServeHTTP(w, r)
	}))
}

// ChildrenOf are the processes that a process has started.
func ChildrenOf(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // any thread may have started it
	for _, name := range lists {
		text, _ := os.ReadFile(name) // a thread may have ended
		for id := range strings.FieldsSeq(string(text)) {
			n, _ := strconv.Atoi(id)
			all = append(all, n)
		}
	}
	return all
}

// Lose kills a process with those that it has started, as the loss of the machine does.
func Lose(pid int) {
	for _, id := range append(ChildrenOf(pid), pid) {
		_ = syscall.Kill(id, syscall.SIGKILL) // it may have seen the end of another already
	}
}

// Lose is the loss of the machine.
func (s *Server) Lose() {
	p := s.process.Load()
	Lose(p.cmd.Process.Pid)
	p.Kill()
}

// ChildMemory is the largest resident size of the processes that the server has started.
func (s *Server) ChildMemory() (most int64) {
	for _, id := range ChildrenOf(s.process.Load().cmd.Process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", id)) // it may have ended
		if size, err := parseSize(text, "VmHWM:"); err == nil {
			most = max(most, size)
		}
	}
	return most
}
