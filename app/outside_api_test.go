package app

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/callback"
	"confab/app/limit"
	"confab/app/stream"
	"confab/storage/storagetest"
)

// newOutside is as much of an App as answers outside of /v1.
func newOutside(t *testing.T) (*App, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	a := newApp(Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	a.DB, a.metrics, a.bodies = storagetest.Open(t), newMetrics(), limit.NewBodies(defaultBodyBudget)
	streams, err := stream.New(a.DB)
	if err != nil {
		t.Fatal(err)
	}
	a.api = api.New(rest.New(rest.Options{DB: a.DB, Log: a.Log}), api.Options{Streams: streams})
	t.Cleanup(a.api.Close)
	return a, log
}

func TestEachRequestOutsideOfTheAPIHasOneLineWithoutItsPath(t *testing.T) {
	is := is.New(t)
	a, log := newOutside(t)
	for path, want := range map[string]string{
		"/nowhere/secret?token=secret": `level=INFO msg=request request_id=req_* method=GET path="" status=404`,
		"/console/secret":              `level=INFO msg=request request_id=req_* method=GET path="" status=404`, // there is none here
		"/livez?secret":                ``,
	} {
		log.Reset()
		rec := httptest.NewRecorder()
		a.handler().ServeHTTP(rec, httptest.NewRequest("GET", "http://localhost"+path, nil))
		line := log.String()
		is.True(strings.Count(line, "\n") <= 1)
		is.True(!strings.Contains(line, "secret"))
		if want == "" {
			is.Equal(line, "") // machines ask it all the time
			continue
		}
		id := rec.Header().Get("X-Request-Id")
		is.True(strings.Contains(line, storagetest.Swap(t, want, "req_*", id)))
		is.True(strings.Contains(line, "ip=192.0.2.1"))
		is.Equal(rec.Header().Get("X-Content-Type-Options"), "nosniff")
		is.Equal(rec.Header().Get("Referrer-Policy"), "no-referrer")
		is.Equal(rec.Header().Get("Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'")
	}
}

// TestStrangersCannotFillTheLogOutsideOfTheAPI makes requests that anybody can make,
// and callbacks that only the provider can make.
func TestStrangersCannotFillTheLogOutsideOfTheAPI(t *testing.T) {
	is := is.New(t)
	a, log := newOutside(t)
	a.callback = callback.New(callback.Options{DB: a.DB, AppSecret: "secret", VerifyToken: "token", Log: a.Log, WriteError: a.refuseCallback})
	ask := func(from int, method, path, signature string) int {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader("{}"))
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", from)
		r.Header.Set("X-Hub-Signature-256", signature)
		a.handler().ServeHTTP(rec, r)
		return rec.Code
	}

	for from := range 200 {
		ask(7, strings.Repeat("X", 1000), "/nowhere", "")
		ask(from, "GET", "/nowhere", "")
		ask(from, "POST", "/provider/webhook", "sha256="+strings.Repeat("0", 64))
	}
	lines := strings.Count(log.String(), "msg=request")
	if lines > 60 || log.Len() > 60*400 {
		t.Errorf("600 requests of strangers are %d lines with %d bytes", lines, log.Len())
	}

	log.Reset()
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte("{}"))
	for range 100 {
		is.Equal(ask(7, "POST", "/provider/webhook", "sha256="+hex.EncodeToString(mac.Sum(nil))), 200)
	}
	is.Equal(strings.Count(log.String(), "msg=request"), 100) // the provider is no stranger
}

func TestAPanicOutsideOfTheAPIStaysWithItsRequest(t *testing.T) {
	is := is.New(t)
	a, _ := newOutside(t)
	visit := func(serve http.HandlerFunc) (rec *httptest.ResponseRecorder, seen *recordingWriter, aborted bool) {
		rec = httptest.NewRecorder()
		seen = &recordingWriter{ResponseWriter: rec, status: http.StatusOK}
		return rec, seen, a.serveWithRecovery(seen, httptest.NewRequest("GET", "/x", nil), serve)
	}
	rec, seen, aborted := visit(func(http.ResponseWriter, *http.Request) { panic("torn wire") })
	is.True(!aborted)
	is.Equal(rec.Code, 500)
	is.True(strings.Contains(rec.Body.String(), `"code":"internal_error"`))
	is.True(!strings.Contains(rec.Body.String(), "torn wire"))
	is.True(strings.HasPrefix(seen.failure.Error(), "panic: torn wire"))

	_, seen, aborted = visit(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half an ans")
		panic("torn wire")
	})
	is.True(aborted) // the client must not take it for the whole
	is.Equal(seen.status, 500)

	_, seen, aborted = visit(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	is.True(aborted)
	is.Equal(seen.failure, nil)
}
