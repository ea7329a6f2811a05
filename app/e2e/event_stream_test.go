package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/app/config"
	"confab/storage"
	"confab/storage/storagetest"
)

// eventReader reads the events of a server, as a client that knows nothing but the guide.
type eventReader struct {
	url, key string
	last     string
	seen     []string // ids of events, or "gap reason"
	ended    error    // how the last connection ended
}

// read reads one connection to its end, or until enough has come.
func (r *eventReader) read(ctx context.Context, query string, enough func() bool) {
	req, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/events/stream?"+query, nil)
	if err != nil {
		r.ended = err
		return
	}
	req.Header.Set("Authorization", "Bearer "+r.key)
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.ended = err
		return
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		r.ended = errors.New(res.Status)
		return
	}
	id, event, data := "", "", ""
	for lines := bufio.NewReader(res.Body); !enough(); {
		line, err := lines.ReadString('\n')
		if err != nil {
			r.ended = err
			return
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "": // the block is whole
			r.last = id
			var item struct{ ID, Reason string }
			if json.Unmarshal([]byte(data), &item); event == "gap" {
				item.ID = "gap " + item.Reason
			}
			if data != "" {
				r.seen = append(r.seen, item.ID)
			}
			event, data = "", ""
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = value
		}
	}
}

func never() bool { return false }

// keptEvents lists all events through the API, oldest first.
func (s *server) keptEvents() (ids []string) {
	s.t.Helper()
	for path := "/v1/events?limit=100"; path != ""; {
		r := s.mustSend("GET", path, "")
		for _, e := range r.body["data"].([]any) {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		path = ""
		if next, ok := r.body["next_cursor"].(string); ok {
			path = "/v1/events?limit=100&cursor=" + next
		}
	}
	slices.Reverse(ids)
	return ids
}

// A server is killed again and again while customers are made; readers come back with
// their last position. Each reads everything, in order, once.
func TestReadersComeBackToAKilledServer(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const clients, each, kills = 4, 40, 3
	s := newServer(t)
	ctx, stop := context.WithCancel(context.Background())
	readers := make([]*eventReader, 3)
	var reading, writing sync.WaitGroup
	for i := range readers {
		readers[i] = &eventReader{url: "http://" + s.address, key: s.key}
		readers[i].read(ctx, "wait=0", never)
		is.True(readers[i].last != "") // a position to begin from
		reading.Go(func() {
			for ctx.Err() == nil {
				readers[i].read(ctx, "", never)
			}
		})
	}
	var made atomic.Int64
	progress := make(chan struct{}, clients*each)
	for c := range clients {
		writing.Go(func() {
			for n := range each {
				key := fmt.Sprintf("Idempotency-Key: %d.%d", c, n)
				for {
					r, err := s.send(ctx, "POST", "/v1/customers", `{"name":"Bakery"}`, key)
					if err == nil && r.status == 201 {
						break
					}
				}
				made.Add(1)
				progress <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 2) {
			<-progress
		}
		s.kill()
		s.start()
	}
	writing.Wait()
	s.kill()
	s.start()
	stop()
	reading.Wait()

	kept := s.keptEvents()
	is.Equal(int64(len(kept)), made.Load())
	for _, r := range readers {
		r.read(context.Background(), "wait=0", never)
		is.Equal(r.ended, io.EOF)
		is.Equal(r.seen, kept)
	}
}

// Who comes with a position of before to a restored backup learns it once, and gets all
// that is there.
func TestARestoredBackupIsAGap(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	s.mustSend("POST", "/v1/customers", `{"name":"Bakery"}`)
	archive := filepath.Join(t.TempDir(), "backup.tar")
	run(t, "backup", archive, "--data-dir", s.dir)
	s.mustSend("POST", "/v1/customers", `{"name":"Butcher"}`)
	r := &eventReader{url: "http://" + s.address, key: s.key}
	r.read(context.Background(), "wait=0&after=oldest", never)
	is.Equal(r.seen, s.keptEvents())
	is.Equal(len(r.seen), 2)
	s.kill()

	restored := *s
	restored.dir = filepath.Join(t.TempDir(), "restored")
	run(t, "restore", archive, "--data-dir", restored.dir)
	restored.start()
	restored.mustSend("POST", "/v1/customers", `{"name":"Florist"}`)
	restored.mustSend("POST", "/v1/customers", `{"name":"Tailor"}`) // beyond where the reader was
	r.seen = nil
	r.read(context.Background(), "wait=0", never)
	is.Equal(r.seen, append([]string{"gap restored"}, restored.keptEvents()...))
	is.Equal(len(r.seen), 4)
	r.seen = nil
	r.read(context.Background(), "wait=0", never)
	is.Equal(len(r.seen), 0)
}

// A stop ends streams properly and at once: it does not cut them off when its patience is
// over.
func TestAStopEndsStreams(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newServer(t)
	r := &eventReader{url: "http://" + s.address, key: s.key}
	done := make(chan struct{})
	opened := make(chan struct{})
	go func() {
		defer close(done)
		var once sync.Once
		r.read(context.Background(), "", func() bool { once.Do(func() { close(opened) }); return false })
	}()
	<-opened
	s.cmd.Process.Signal(syscall.SIGTERM)
	<-done
	is.Equal(r.ended, io.EOF)
	is.NoErr(<-s.ended)
}

// Who announces a body that never comes has a stream like others, which ends like theirs.
func TestAStreamDoesNotWaitForTheBodyOfItsRequest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	for _, header := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
		var key storage.Key
		var secret string
		storagetest.Update(t, s.app.DB, func(tx *storage.Tx) (err error) {
			key = storage.Key{OrganizationID: s.tenant.Organization.ID}
			secret, err = tx.InsertKey(&key)
			return err
		})
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.app.URL(), "http://"))
		is.NoErr(err)
		defer conn.Close()
		is.NoErr(conn.SetDeadline(time.Now().Add(patience)))
		fmt.Fprintf(conn, "GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", secret, header)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		is.NoErr(err)
		is.Equal(res.StatusCode, 200)

		storagetest.Update(t, s.app.DB, func(tx *storage.Tx) error {
			_, err := tx.RevokeKey(key.OrganizationID, key.ID)
			return err
		})
		_, err = io.Copy(io.Discard, res.Body)
		is.NoErr(err)
		_, err = io.Copy(io.Discard, conn) // the connection ends too
		is.True(!errors.Is(err, os.ErrDeadlineExceeded))
	}
}

// Hundreds of readers, a third of them deaf and a third gone without a word, take nothing
// from those who send, and leave nothing.
func TestManyReadersOfAllSorts(t *testing.T) {
	is := is.New(t)
	const tenants, each, sends = 25, 20, 40
	s := newStage(t, func(c *config.Config) { c.Server.MaxStreams = tenants * each })
	number := s.connect()
	send := func() {
		s.call("POST", s.app.URL()+"/v1/"+number+"/messages", `{"messaging_product":"chat","to":"+15550001111","type":"text","text":{"body":"hi"}}`)
	}
	ctx, stop := context.WithCancel(context.Background())
	var group sync.WaitGroup
	var readers []*eventReader
	keys := []string{s.tenant.Secret}
	for i := range tenants - 1 {
		keys = append(keys, storagetest.Seed(t, s.app.DB, fmt.Sprint("tenant ", i)).Secret)
	}
	address := strings.TrimPrefix(s.app.URL(), "http://")
	var silent []net.Conn
	for i := range tenants * each {
		key := keys[i/each]
		if i%3 != 0 {
			conn, err := net.Dial("tcp", address)
			is.NoErr(err)
			fmt.Fprintf(conn, "GET /v1/events/stream?after=oldest HTTP/1.1\r\nHost: confab\r\nAuthorization: Bearer %s\r\n\r\n", key)
			io.ReadFull(conn, make([]byte, 12))
			silent = append(silent, conn)
			continue
		}
		r := &eventReader{url: s.app.URL(), key: key}
		r.read(ctx, "wait=0&after=oldest", never)
		readers = append(readers, r)
		group.Go(func() { r.read(ctx, "", never) })
	}
	for i, conn := range silent {
		if i%2 == 0 {
			conn.(*net.TCPConn).SetLinger(0) // a reset, as when a machine has vanished
			conn.Close()
		}
	}
	for range sends {
		send()
	}
	all := func() (ids []string) {
		var page struct{ Data []struct{ ID string } }
		s.read("/events?limit=100&type=message.sent", &page)
		for _, e := range page.Data {
			ids = append(ids, e.ID)
		}
		slices.Reverse(ids)
		return ids
	}
	is.True(until(func() bool { return len(all()) == sends }))
	served, _ := serving()
	is.True(served > 0)
	stop()
	group.Wait()
	want := all()
	for _, r := range readers {
		r.read(context.Background(), "wait=0&type=message.sent", never)
		if r.key == s.tenant.Secret {
			got := slices.DeleteFunc(r.seen, func(id string) bool { return !slices.Contains(want, id) })
			is.Equal(got, want)
		} else {
			is.Equal(len(r.seen), 0)
		}
	}
	for _, conn := range silent {
		conn.Close()
	}
	var stacks string
	gone := until(func() bool { served, stacks = serving(); return served == 0 })
	if !gone {
		t.Errorf("%d streams are still served:\n%s", served, stacks)
	}
}

// serving counts the goroutines that serve streams, by the stacks of all. How many others there are
// changes with the connections that clients keep.
func serving() (n int, stacks string) {
	buffer := make([]byte, 16<<20)
	stacks = string(buffer[:runtime.Stack(buffer, true)])
	return strings.Count(stacks, "confab/app/stream.(*Stream).Serve(") + strings.Count(stacks, "confab/app/stream.ignoreBody"), stacks
}

// Streams last, and are not cut off when others hold too many requests open.
func TestAStreamOutlivesARushOfRequests(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := newStage(t)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, "GET", s.app.URL()+"/v1/events/stream", nil)
	is.NoErr(err)
	req.Header.Set("Authorization", "Bearer "+s.tenant.Secret)
	res, err := http.DefaultClient.Do(req)
	is.NoErr(err)
	defer res.Body.Close()

	// Later ones make way for those that come after them, but not the stream.
	cutOff := make(chan struct{}, 1)
	for range 5000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.app.URL(), "http://"))
		is.NoErr(err)
		defer conn.Close()
		fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
		go func() {
			io.Copy(io.Discard, conn)
			select {
			case cutOff <- struct{}{}:
			default:
			}
		}()
		if len(cutOff) > 0 {
			break
		}
	}
	<-cutOff

	s.exchange("POST", s.app.URL()+"/v1/customers", `{"name":"Acme","email":"a@example.com"}`)
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	is.NoErr(err)
	is.True(strings.HasPrefix(line, "id: "))
}
