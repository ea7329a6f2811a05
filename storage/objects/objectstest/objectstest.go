// Package objectstest runs a server that speaks S3, for tests.
package objectstest

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// The bucket and the only pair of keys that a Server knows.
const (
	Bucket = "confab"
	Key    = "the-key"
	Secret = "the-secret"
)

// Fault answers a request in place of the storage, if it returns true.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// Server is object storage in memory.
type Server struct {
	URL   string
	fake  http.Handler
	fault atomic.Pointer[Fault]
	calls atomic.Int64
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}

	s := &Server{}
	discard := slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelDebug)
	s.fake = gofakes3.New(backend, gofakes3.WithLogger(gofakes3.StdLog(discard, gofakes3.LogErr))).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if f := s.fault.Load(); f != nil && (*f)(w, r) {
			return
		}
		if !strings.Contains(r.Header.Get("Authorization"), "Credential="+Key+"/") {
			Refuse(w, http.StatusForbidden, "InvalidAccessKeyId")
			return
		}
		s.Answer(w, r)
	}))
	t.Cleanup(func() {
		s.Break(nil)
		server.CloseClientConnections()
		server.Close()
	})

	s.URL = server.URL
	return s
}

// Address is the URL of a store in the bucket, below a prefix.
func (s *Server) Address(prefix string) string {
	return "s3://" + Bucket + "/" + prefix + "?region=us-east-1&endpoint=" + url.QueryEscape(s.URL)
}

// Break makes a fault of all requests from now on; nil ends it.
func (s *Server) Break(f Fault) {
	if f == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&f)
}

// Answer answers a request as the storage does without a fault.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) { s.fake.ServeHTTP(w, r) }

// Calls is how many requests have come.
func (s *Server) Calls() int64 { return s.calls.Load() }

// Refuse answers with an error as S3 words them.
func Refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message></Error>", code)
}

// Away is a Fault: connections end without an answer.
func Away(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// Full is a Fault: nothing can be written.
func Full(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPut {
		return false
	}
	Refuse(w, http.StatusInsufficientStorage, "XMinioStorageFull")
	return true
}

// Denied is a Fault: the keys may do nothing.
func Denied(w http.ResponseWriter, _ *http.Request) bool {
	Refuse(w, http.StatusForbidden, "AccessDenied")
	return true
}

// WrongKey is a Fault: the keys are not known.
func WrongKey(w http.ResponseWriter, _ *http.Request) bool {
	Refuse(w, http.StatusForbidden, "InvalidAccessKeyId")
	return true
}

// Slow is a Fault: each request takes a time longer.
func Slow(by time.Duration) Fault {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-time.After(by):
		case <-r.Context().Done():
		}
		return false
	}
}

// Silent is a Fault: requests wait until their client gives up.
func Silent(_ http.ResponseWriter, r *http.Request) bool {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
	return true
}
