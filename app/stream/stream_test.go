package stream

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"confab/storage"
	"confab/storage/storagetest"
)

// world is a database, a hub and a server that opens its streams.
type world struct {
	t       testing.TB
	dir     string
	clock   *storage.Time // what the database takes for now, if it is not 0
	db      *storage.DB
	hub     *Hub
	class   *Class
	url     string
	allowed func() bool
	pause   time.Duration // between two reads
	close   func()
}

// newWorld opens one. Everything that takes long in it is short.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), clock: new(storage.Time), allowed: func() bool { return true }}
	*w.clock = 1 // before all that a test sets it to: no stored row is older than that
	w.open()
	t.Cleanup(func() { w.close() })
	for _, name := range []string{"first", "second", "third"} {
		storagetest.Seed(t, w.db, name) // with the keys 1, 2 and 3
	}
	*w.clock = 0
	return w
}

func (w *world) open() {
	w.t.Helper()
	o := storagetest.Options(w.t, w.dir)
	o.Now = func() storage.Time {
		if *w.clock != 0 {
			return *w.clock
		}
		return storage.Now()
	}
	db, err := storage.Open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.db, w.hub, err = db, nil, nil; err == nil {
		w.hub, err = New(db)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub.timing = timing{read: cmp.Or(w.pause, time.Millisecond), idle: 50 * time.Millisecond, check: 5 * time.Millisecond, write: time.Minute}
	w.class = w.hub.NewClass(ClassOptions{Name: "test", Max: 100, PerOrganization: 50})
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- w.hub.Run(ctx) }()
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	w.url = server.URL
	w.close = sync.OnceFunc(func() {
		stop()
		<-ran
		server.Close()
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	})
}

// serve opens a stream as the query says.
func (w *world) serve(out http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	organization, _ := strconv.ParseInt(q.Get("org"), 10, 64)
	o := Options{
		Class: w.class, Organization: organization, Filter: storage.EventFilter{Types: q["type"], PhoneNumberID: q.Get("number")},
		Replays: q.Has("replays"), Once: q.Has("once"), Begin: Begin{LastEventID: r.Header.Get("Last-Event-ID")}, Format: EventStream{},
		Allowed: func(context.Context) bool { return w.allowed() },
	}
	if q.Has("after") {
		o.Begin.After = new(q.Get("after"))
	}
	if q.Has("lines") {
		o.Format = Lines{}
	}
	s, err := w.hub.Open(r.Context(), o)
	if err != nil {
		http.Error(out, err.Error(), http.StatusTeapot)
		return
	}
	s.Serve(out, r, func() {})
}

// happen stores an event and returns its id.
func (w *world) happen(organization int64, kind string) string {
	w.t.Helper()
	return w.happenTo(organization, nil, kind)
}

func (w *world) happenTo(organization int64, account *int64, kind string) (id string) {
	w.t.Helper()
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		id = tx.NewID(storage.PrefixEvent)
		return tx.InsertEvent(storage.Event{
			ID: id, OrganizationID: organization, AccountID: account, Type: kind, Source: "svc", EventID: id, Payload: []byte(`{"id":"` + id + `"}`),
		}, "")
	})
	return id
}

// removeOld deletes the events of an organization from before a time, as retention does.
func (w *world) removeOld(organization int64, before storage.Time) (removed []string) {
	w.t.Helper()
	scope := storage.PurgeScope{Before: before, Organization: organization}
	var rows []storage.Row
	storagetest.View(w.t, w.db, func(rx *storage.Rx) (err error) {
		rows, err = rx.OldEvents(scope, storage.Row{}, 1000)
		return err
	})
	storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
		_, _, err := tx.DeleteEvents(organization, rows, before, true)
		return err
	})
	for _, row := range rows {
		removed = append(removed, row.ID)
	}
	return removed
}

// client is a reader of a stream.
type client struct {
	t     testing.TB
	body  io.ReadCloser
	lines *bufio.Reader
	last  string // the last position
}

// block is one block of a stream.
type block struct {
	id, event, data string
}

// item is the id of the event in a block.
func (b block) item() string {
	var item struct{ ID string }
	json.Unmarshal([]byte(b.data), &item)
	return item.ID
}

// connect opens a stream; with last as its Last-Event-ID, if it is not "".
func (w *world) connect(query, last string) *client {
	w.t.Helper()
	c, err := w.tryConnect(query, last)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.body.Close() })
	return c
}

func (w *world) tryConnect(query, last string) (*client, error) {
	req, err := http.NewRequest("GET", w.url+"?"+query, nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != 200 {
		text, _ := io.ReadAll(res.Body)
		res.Body.Close()
		return nil, errors.New(strings.TrimSpace(string(text)))
	}
	return &client{t: w.t, body: res.Body, lines: bufio.NewReader(res.Body), last: last}, nil
}

// next reads a block.
func (c *client) next() (b block, err error) {
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			return b, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			if b.id != "" {
				c.last = b.id
			}
			return b, nil
		case "id":
			b.id = value
		case "event":
			b.event = value
		case "data":
			b.data = value
		}
	}
}

// receive reads the next block that is not empty.
func (c *client) receive() block {
	c.t.Helper()
	for {
		b, err := c.next()
		if err != nil {
			c.t.Fatal(err)
		}
		if b.data != "" {
			return b
		}
	}
}

// rest reads a stream to its end: the types, or "gap reason".
func (c *client) rest() (types []string) {
	c.t.Helper()
	for {
		b, err := c.next()
		if err == io.EOF {
			return types
		}
		if err != nil {
			c.t.Fatal(err)
		}
		switch {
		case b.event == "gap":
			var g Gap
			json.Unmarshal([]byte(b.data), &g)
			types = append(types, "gap "+g.Reason)
		case b.data != "":
			types = append(types, b.event)
		}
	}
}

func TestAStreamTellsWhatHappensInOrder(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	w.happen(1, "before")
	c := w.connect("org=1", "")
	if b, err := c.next(); err != nil || b.id == "" || b.data != "" {
		t.Fatalf("it begins with %v %v, not with its position", b, err)
	}
	first := w.happen(1, "a")
	w.happen(2, "another's")
	w.happen(1, "b")
	b := c.receive()
	is.Equal(b.event, "a")
	is.Equal(b.item(), first)
	is.Equal(c.receive().event, "b")

	is.Equal(w.connect("org=1&once", c.last).rest(), nil)
	is.Equal(w.connect("org=1&once", b.id).rest(), []string{"b"})
	is.Equal(w.connect("org=1&once&after="+first, "").rest(), []string{"b"})
	is.Equal(w.connect("org=1&once&after=oldest", "").rest(), []string{"before", "a", "b"})
	is.Equal(w.connect("org=1&once&after=oldest", b.id).rest(), []string{"b"}) // the header wins
	is.Equal(w.connect("org=1&once&after=oldest&type=b&type=x", "").rest(), []string{"b"})
	is.Equal(w.connect("org=0&once&after=oldest", "").rest(), []string{"before", "a", "another's", "b"})
}

// Events of a filtered stream come after others, however many those are.
func TestAFilteredStreamGetsOn(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	c := w.connect("org=1&type=rare", "")
	begin, err := c.next()
	is.NoErr(err)
	for range 3 {
		w.happen(1, "frequent")
	}
	for c.last == begin.id { // until it sends its position by itself
		b, err := c.next()
		is.NoErr(err)
		is.Equal(b.data, "")
	}
	w.happen(1, "rare")
	is.Equal(c.receive().event, "rare")
}

func TestWhatWasRemovedByAgeIsAGap(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	w.hub.timing.read = 0 // no stream takes what another has just read
	for i := range 6 {
		*w.clock = storage.Time(1000 * (i + 1))
		w.happen(1, fmt.Sprint(i))
		w.happen(2, "another's")
	}
	c := w.connect("org=1&after=oldest", "")
	is.Equal(c.receive().event, "0")
	position := c.last
	w.removeOld(1, 4000)
	gap := w.connect("org=1", position).receive()
	is.Equal(gap.event, "gap")
	is.Equal(gap.data, `{"reason":"age","oldest":"1970-01-01T00:00:04.000Z"}`)
	is.Equal(w.connect("org=1&once", position).rest(), []string{"gap age", "3", "4", "5"})
	is.Equal(w.connect("org=1&once", gap.id).rest(), []string{"3", "4", "5"}) // it was sent already
	is.Equal(w.connect("org=1&once&after=oldest", "").rest(), []string{"3", "4", "5"})
	is.Equal(w.connect("org=2&once&after=oldest", "").rest(), []string{"another's", "another's", "another's", "another's", "another's", "another's"})
	old := w.connect("org=2&after=oldest", "")
	old.receive()
	is.Equal(len(w.connect("org=2&once", old.last).rest()), 5) // nothing of theirs was removed
	w.removeOld(1, 9000)
	last := w.connect("org=1", position).receive()
	is.Equal(last.data, `{"reason":"age","oldest":null}`)
	is.Equal(w.connect("org=1&once", last.id).rest(), nil)
	lines, err := io.ReadAll(w.connect("org=1&once&lines", position).body)
	is.NoErr(err)
	is.Equal(string(lines), `{"object":"gap","reason":"age","oldest":null,"position":"`+last.id+`"}`+"\n")
}

// A client that is slow enough that events are deleted before it has read them gets a gap.
func TestAGapIsToldInTheMidstOfAStream(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	*w.clock = 1000
	w.happen(1, "a")
	c := w.connect("org=1&after=oldest", "")
	is.Equal(c.receive().event, "a")
	w.hub.mu.Lock() // no stream is woken
	*w.clock = 2000
	w.happen(1, "b")
	*w.clock = 3000
	w.happen(1, "c")
	w.removeOld(1, 2500)
	w.hub.mu.Unlock()
	if b := c.receive(); b.event != "b" { // unless it looked by itself between
		is.Equal(b.event, "gap")
	}
	is.Equal(c.receive().event, "c")
}

func TestWhatIsNoPositionIsRefusedOrAGap(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	id := w.happen(1, "a")
	for _, after := range []string{"", "x", "evt_", "evt_01JQ0Z8M4T9V2X3W5Y6A7B8C9D", "AAAAAAAAAAAAAAAAAAAAAA", "OLDEST"} {
		_, err := w.tryConnect("org=1&after="+after, "")
		is.Equal(err.Error(), ErrPosition.Error())
	}
	_, err := w.tryConnect("org=2&after="+id, "") // of another organization
	is.Equal(err.Error(), ErrPosition.Error())
	for _, last := range []string{"x", "oldest", "AAAAAAAAAAAAAAAAAAAAAA", "evt_01JQ0Z8M4T9V2X3W5Y6A7B8C9D"} {
		is.Equal(w.connect("org=1&once", last).rest(), []string{"gap restored", "a"})
	}
	is.Equal(w.connect("org=1&once", id).rest(), nil)
}

func TestAnotherEpochIsAGap(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	w.happen(1, "a")
	c := w.connect("org=1&after=oldest", "")
	c.receive()
	position := c.last
	w.close()
	is.NoErr(storage.BeginEpoch(storage.DatabaseFile(w.dir)))
	w.open()
	w.happen(1, "b")
	is.Equal(w.connect("org=1&once", position).rest(), []string{"gap restored", "a", "b"})
	is.Equal(w.connect("org=1&once&after="+position, "").rest(), []string{"gap restored", "a", "b"})

	// A file that was put back by hand has the old epoch, but has not come so far.
	beyond := string(w.hub.positions.append(nil, position2(99)))
	is.Equal(w.connect("org=1&once", beyond).rest(), []string{"gap restored", "a", "b"})
}

func position2(seq int64) position { return position{seq: seq, replay: noReplays} }

func TestReplaysAreToldToTheOperator(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	tenant := storagetest.Seed(t, w.db, "Acme")
	storagetest.Subscribe(t, w.db, tenant, "https://hook.test")
	id := w.happen(tenant.Organization.ID, "a")
	c := w.connect("org=0&replays", "")
	_, err := c.next()
	is.NoErr(err)
	replay := func() {
		storagetest.Update(t, w.db, func(tx *storage.Tx) error {
			all, _, err := tx.Deliveries(tenant.Organization.ID, storage.DeliveryFilter{}, storage.First, 1)
			if err == nil {
				_, err = tx.ReplayDelivery(all[0])
			}
			return err
		})
	}
	replay()
	is.Equal(c.receive().item(), id)
	replay()
	w.happen(tenant.Organization.ID, "b")
	is.Equal(len(w.connect("org=0&replays&once", c.last).rest()), 2)
	is.Equal(len(w.connect(fmt.Sprintf("org=%d&once", tenant.Organization.ID), c.last).rest()), 1) // without replays
	is.Equal(len(w.connect("org=0&replays&once&after=oldest", "").rest()), 4)
}

func TestStreamsAreLimitedByClass(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	w.class.places.Max, w.class.places.GroupShare = 3, 2
	oldest := w.connect("org=1", "")
	first := w.connect("org=1", "")
	_, err := w.tryConnect("org=1", "")
	is.Equal(err.Error(), "too many streams are open")
	w.connect("org=2", "")
	w.connect("org=4", "") // who has two makes way
	oldest.rest()
	_, err = w.tryConnect("org=3", "")
	is.Equal(err.Error(), "too many streams are open")
	is.Equal(w.hub.Stats()[0].Open, 3)
	first.body.Close()
	for w.hub.Stats()[0].Open == 3 {
		time.Sleep(time.Millisecond)
	}
	w.connect("org=3", "")
}

// end reads to the end of a stream, which must be a proper one.
func (c *client) end() {
	c.t.Helper()
	if _, err := io.Copy(io.Discard, c.lines); err != nil {
		c.t.Fatalf("the stream was cut off: %v", err)
	}
}

func TestAStreamEndsWhenItIsNoLongerAllowed(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	allowed := true
	w.allowed = func() bool {
		mu.Lock()
		defer mu.Unlock()
		return allowed
	}
	c := w.connect("org=1", "")
	mu.Lock()
	allowed = false
	mu.Unlock()
	c.end()
}

func TestAllStreamsEndWithTheHub(t *testing.T) {
	w := newWorld(t)
	a, b := w.connect("org=1", ""), w.connect("org=2", "")
	w.hub.Stop()
	a.end()
	b.end()
	_, err := w.tryConnect("org=1", "")
	is.New(t).Equal(err.Error(), ErrStopping.Error())
}

// fill stores more than a connection holds.
func (w *world) fill(organization int64) {
	w.t.Helper()
	payload := []byte(`"` + strings.Repeat("x", 1<<20) + `"`)
	for range 24 {
		storagetest.Update(w.t, w.db, func(tx *storage.Tx) error {
			return tx.InsertEvent(storage.Event{ID: tx.NewID(storage.PrefixEvent), OrganizationID: organization, Type: "large", Source: "svc", Payload: payload}, "")
		})
	}
}

// deaf opens a stream and reads nothing of it.
func (w *world) deaf(query string) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /?%s HTTP/1.1\r\nHost: confab\r\n\r\n", query)
	return conn
}

// endingNotices are a source that says only why a stream ends.
type endingNotices struct{}

func (endingNotices) AppendOpening(b []byte) []byte { return b }
func (endingNotices) AppendNew(b []byte) []byte     { return b }
func (endingNotices) AppendEnding(b []byte) []byte  { return AppendNotice(b, "ended", []byte("{}")) }

// A stop breaks off what streams read together, before it ends them one by one.
func TestAStreamWhoseReadIsBrokenOffByAStopSaysWhyItEnds(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	s, err := w.hub.Open(t.Context(), Options{Class: w.class, Organization: 1, Format: EventStream{}, Notices: endingNotices{}})
	is.NoErr(err)
	w.hub.stop()
	out := httptest.NewRecorder()
	s.Serve(out, httptest.NewRequest("GET", "/", nil), func() {})
	is.Equal(out.Body.String(), "event: ended\ndata: {}\n\n")
}

func TestAClientThatTakesNothingIsDropped(t *testing.T) {
	w := newWorld(t)
	w.hub.timing.write = 50 * time.Millisecond
	w.fill(1)
	w.deaf("org=1&after=oldest")
	for w.hub.Stats()[0].Dropped == 0 || w.hub.Stats()[0].Open > 0 {
		time.Sleep(time.Millisecond)
	}
	w.hub.timing.write = time.Minute
	c := w.connect("org=1&once&after=oldest", "") // and may come back
	is.New(t).Equal(len(c.rest()), 24)
}

func TestAClientThatTakesNothingHoldsUpNoStop(t *testing.T) {
	w := newWorld(t)
	w.hub.timing.write = time.Hour
	w.fill(1)
	w.deaf("org=1&after=oldest")
	for w.hub.Stats()[0].Open == 0 || w.hub.Stats()[0].Behind < 50*time.Millisecond { // it hangs
		time.Sleep(time.Millisecond)
	}
	w.hub.Stop()
	for w.hub.Stats()[0].Open > 0 {
		time.Sleep(time.Millisecond)
	}
}

// No matter what clients do, nothing of their streams is left.
func TestNoGoroutineOutlivesItsStream(t *testing.T) {
	w := newWorld(t)
	w.happen(1, "a")
	w.connect("org=1", "").body.Close()
	http.DefaultClient.CloseIdleConnections()
	settle := func() int {
		for w.hub.Stats()[0].Open > 0 {
			time.Sleep(time.Millisecond)
		}
		http.DefaultClient.CloseIdleConnections()
		return runtime.NumGoroutine()
	}
	before := settle()
	for i := range 40 {
		c := w.connect("org=1&after=oldest", "")
		c.receive()
		if i%2 == 0 {
			w.deaf("org=1").Close()
		}
		c.body.Close()
	}
	for began := time.Now(); settle() > before; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, at first %d:\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
}

// Only the streams of the events' organization are woken.
func TestOnlyStreamsOfTheOrganizationAreWoken(t *testing.T) {
	is := is.New(t)
	w := newWorld(t)
	w.hub.timing.idle = time.Hour
	var theirs []*Stream
	for range 3 {
		s, err := w.hub.Open(context.Background(), Options{Class: w.class, Organization: 2, Format: EventStream{}})
		is.NoErr(err)
		defer s.Close()
		theirs = append(theirs, s)
	}
	c := w.connect("org=1", "")
	w.happen(1, "a")
	is.Equal(c.receive().event, "a") // what was signaled before has been taken
	for _, s := range theirs {
		select {
		case <-s.awake:
		default:
		}
	}
	w.happen(1, "b")
	is.Equal(c.receive().event, "b")
	for _, s := range theirs {
		is.Equal(len(s.awake), 0)
	}
	w.happen(2, "c")
	for _, s := range theirs {
		<-s.awake
	}
	w.db.DropCaches() // another process has changed something
	for _, s := range theirs {
		<-s.awake
	}
}

func TestAnItemIsOnOneLineAndExact(t *testing.T) {
	is := is.New(t)
	number := "106540352242922"
	e := storage.EventItem{Event: storage.Event{
		ID: "evt_1", Type: "message.sent", Source: "svc", EventID: "wamid.\"ü\\\n", CreatedAt: 1, Payload: []byte("{\r\n \"a\": 1.50,\n \"b\": \"x\\ny < z\"\n}"),
	}, PhoneNumberID: &number, Organization: "org_1"}
	got := string(EventStream{}.AppendEvent(nil, e, "p"))
	is.Equal(got, "id: p\nevent: message.sent\ndata: "+
		`{"id":"evt_1","object":"event","type":"message.sent","source":"svc","event_id":"wamid.\"ü\\\n","phone_number_id":"106540352242922","created_at":"1970-01-01T00:00:00.001Z",`+
		`"payload":{"a":1.50,"b":"x\ny < z"}}`+"\n\n")
	e.Payload = []byte(`{"exact": "bytes"}`)
	line := string(Lines{}.AppendEvent(nil, e, "p"))
	is.True(strings.HasSuffix(line, `"payload":{"exact": "bytes"},"position":"p"}`+"\n"))
	is.True(json.Valid([]byte(line)))
	operator := AppendOperatorItem(nil, e)
	is.True(json.Valid(operator))
	is.True(strings.HasSuffix(string(operator), `,"organization_id":"org_1","delivery_id":null,"replayed_from":null}`))
	is.Equal(string(Lines{}.AppendIdle(nil, "p")), "\n")
	is.Equal(string(EventStream{}.AppendIdle(nil, "p")), "id: p\n\n")
}

func TestAPositionTellsNothing(t *testing.T) {
	is := is.New(t)
	p, err := newPositions([]byte(strings.Repeat("k", 32)), [8]byte{1})
	is.NoErr(err)
	other, err := newPositions([]byte(strings.Repeat("k", 32)), [8]byte{2})
	is.NoErr(err)
	for _, at := range []position{{seq: 0, replay: noReplays}, {seq: 1<<48 - 1, replay: noReplays}, {seq: 7, replay: 0}, {seq: 1, replay: 1<<48 - 1}} {
		text := string(p.append(nil, at))
		got, ours, ok := p.parse(text)
		is.Equal(got, at)
		is.True(ours && ok)
		_, ours, ok = other.parse(text)
		is.True(ok && !ours) // of another epoch
		_, _, ok = p.parse(text[:len(text)-1])
		is.True(!ok)
	}
}

func FuzzPosition(f *testing.F) {
	p, err := newPositions([]byte(strings.Repeat("k", 32)), [8]byte{1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(p.append(nil, position{seq: 5, replay: noReplays})))
	f.Add(string(p.append(nil, position{seq: 5, replay: 9})))
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if at, ours, ok := p.parse(text); ok && ours && string(p.append(nil, at)) != text {
			t.Errorf("%q is another spelling of %v", text, at)
		}
	})
}
