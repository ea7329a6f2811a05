package rest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// readDir returns the bytes of all files of a directory whose database is closed.
func readDir(t *testing.T, dir string) (all []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}

// logged flushes the API log and returns it, oldest first.
func (f *fixture) logged() (calls []storage.APICall) {
	f.t.Helper()
	if err := f.api.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	return f.stored()
}

// stored is what the API log has in the database.
func (f *fixture) stored() (calls []storage.APICall) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) (err error) {
		calls, err = rx.APICalls(storage.APICallFilter{Limit: 1000})
		return err
	})
	return calls
}

// A call that waits to be logged is a line of the log, and not all that its request had.
func TestACallThatWaitsDoesNotHoldItsRequest(t *testing.T) {
	is := is.New(t)
	f := serveDirectly(t)
	request := httptest.NewRequest("GET", "/v1/me", nil)
	request.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	held := weak.Make(request)

	f.api.APILog.writing.Lock() // nothing is written meanwhile
	defer f.api.APILog.writing.Unlock()
	f.ServeHTTP(httptest.NewRecorder(), request)
	is.Equal(len(f.api.APILog.waiting), 1)
	runtime.KeepAlive(request)
	request = nil
	for range 3 {
		runtime.GC()
	}
	is.True(held.Value() == nil)
}

func TestEveryCallIsLogged(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	began := storage.Now()
	answers := []answer{
		f.call("POST", "/labels?secret=svc_live_x", `{"name":"VIP"}`),
		f.call("GET", "/nowhere/%1b%5b31m-ü", ""),
		f.callAs("", "GET", "/me", ""),
		f.callAs("", "HEAD", "/health", ""),
		f.call("BREWINGCOFFEEFORALL", "/me", ""),
		f.call("GET", "/"+strings.Repeat("x", 5000), ""),
	}
	calls := f.logged()
	is.Equal(len(calls), len(answers))
	for i, c := range calls {
		is.Equal(c.RequestID, answers[i].header.Get("X-Request-Id"))
		is.Equal(c.Status, answers[i].status)
		is.Equal(c.IP, "127.0.0.1")
		is.True(c.Latency > 0)
		is.True(c.CreatedAt >= began && c.CreatedAt <= storage.Now())
		if i == 2 || i == 3 { // without a key
			is.Equal(c.OrganizationID, nil)
			is.Equal(c.KeyID, nil)
			continue
		}
		is.Equal(*c.OrganizationID, f.tenant.Organization.ID)
		is.Equal(*c.OrganizationPublicID, f.tenant.Organization.PublicID)
		is.Equal(*c.KeyID, f.tenant.Key.ID)
	}
	is.Equal(calls[0].Method+" "+calls[0].Path, "POST /v1/labels") // never the query
	is.Equal(calls[1].Path, "/v1/nowhere/%1B%...")                 // nothing that a terminal obeys
	is.Equal(calls[2].Method+" "+calls[2].Path, "GET /v1/me")
	is.Equal(calls[3].Method, "HEAD")
	is.Equal(calls[4].Method, "BREW...")
	is.Equal(calls[5].Path, "/v1/xxxx...")
}

func TestTheLogKnowsTheClientOfTrustedProxies(t *testing.T) {
	is := is.New(t)
	f := serve(t, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	f.call("GET", "/me", "", "X-Forwarded-For: 6.6.6.6, 198.51.100.1")
	is.Equal(f.logged()[0].IP, "198.51.100.1")
	direct := serve(t)
	direct.call("GET", "/me", "", "X-Forwarded-For: 198.51.100.1")
	is.Equal(direct.logged()[0].IP, "127.0.0.1")
}

func TestCallsAreWrittenInBatchesAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t)
		for range 2*callBatchSize + 10 {
			f.call("GET", "/health/none", "")
		}
		is.Equal(len(f.stored()), 0) // off the request's path
		time.Sleep(callFlushInterval)
		synctest.Wait()
		is.Equal(len(f.stored()), 2*callBatchSize+10)
		f.call("GET", "/me", "")
		used := storage.Now()
		is.Equal(f.lastUsed(), storage.Time(0))
		time.Sleep(lastUsedFlushSeconds * time.Second)
		synctest.Wait()
		is.Equal(f.lastUsed(), used)
		f.call("GET", "/me", "")
		is.NoErr(f.api.Flush(t.Context()))
		is.Equal(f.lastUsed(), used.Add(lastUsedFlushSeconds*time.Second)) // for somebody who asks now
	})
}

// lastUsed is what the database has of the tenant's key.
func (f *fixture) lastUsed() (at storage.Time) {
	f.t.Helper()
	storagetest.View(f.t, f.db, func(rx *storage.Rx) error {
		keys, err := rx.Keys(f.tenant.Organization.ID)
		at = keys[0].LastUsedAt
		return err
	})
	return at
}

func TestClosingWritesTheRestOfTheLog(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	f.call("GET", "/me", "")
	f.restart()
	is.Equal(len(f.stored()), 1)
	is.True(f.lastUsed() != 0)
}

func TestTheLogIsKeptAndBoundedWhileNothingCanBeWritten(t *testing.T) {
	is := is.New(t)
	f := serve(t)
	lost := serve(t)
	lost.stop()
	log := &callLog{db: lost.db, log: lost.api.Log, lastUsed: make(map[string]storage.Time)} // without the clock that writes it
	r := &Request{Table: NewTable(nil), HTTP: httptest.NewRequest("GET", "/v1/me", nil), Key: f.tenant.Key, Org: f.tenant.Organization, began: time.Now(), Now: storage.Now()}
	for range maxWaitingCalls + 3 {
		log.add(&Exchange{Request: r}, 200, time.Millisecond, "127.0.0.1", "/v1/me", nil)
	}
	is.True(log.Flush(context.Background()) != nil)
	is.True(log.FlushLastUsed(context.Background()) != nil)
	is.Equal(len(log.waiting), maxWaitingCalls) // none lost to the failure, none above the bound
	is.Equal(len(log.lastUsed), 1)
	is.Equal(len(lost.log.lines("calls=3")), 1) // the loss is logged

	log.waiting = log.waiting[:callBatchSize+1]
	log.db = f.db // the disk is back
	is.NoErr(log.Flush(context.Background()))
	is.NoErr(log.FlushLastUsed(context.Background()))
	is.Equal(len(f.stored()), callBatchSize+1)
	is.Equal(f.lastUsed(), r.Now)
}

// from sends a request without a key from an address.
func (f *fixture) from(address, method, path string, header ...string) answer {
	f.t.Helper()
	return f.callAs("", method, path, "", append(header, "X-Forwarded-For: "+address)...)
}

// believeAll lets tests come from any address.
func believeAll(o *Options) {
	o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
}

// TestStrangersCannotFillTheLogs floods the API from one network and from many: what
// they write is bounded, in the API log and in the server's own, and those who have a
// key are logged all the same.
func TestStrangersCannotFillTheLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		f := serveDirectly(t, believeAll)
		for i := range 200 {
			f.from(fmt.Sprintf("2001:db8::%x", i), "GET", "/"+strings.Repeat("x", 3000)) // a network of one subscriber
		}
		rows, lines := len(f.logged()), len(f.log.lines("msg=request"))
		if rows != strangerLinesEach || lines != strangerLinesEach {
			t.Errorf("200 calls of one stranger are %d rows and %d lines", rows, lines)
		}
		for i := range 200 {
			f.from(fmt.Sprintf("198.51.%d.%d", 100+i/256, i%256), "GET", "/me", "Authorization: Bearer "+storage.KeyPrefix+strings.Repeat("x", storage.KeyLength-len(storage.KeyPrefix)))
		}
		rows, lines = len(f.logged()), len(f.log.lines("msg=request"))
		if rows != strangerLines || lines != strangerLines {
			t.Errorf("200 more of many strangers are %d rows and %d lines", rows, lines)
		}
		for _, line := range f.log.lines("msg=request") {
			is.True(len(line) < 500)
		}

		for range 3 * strangerLines {
			f.call("GET", "/me", "")
		}
		is.Equal(len(f.logged()), 4*strangerLines) // who has a key is always logged

		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(f.log.lines(fmt.Sprint("requests=", 400-strangerLines))), 1) // one line counts the others
		f.from("198.51.100.1", "GET", "/me")
		is.Equal(len(f.logged()), 4*strangerLines+1) // and the next minute is another
	})
}
