package api

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"confab/storage"
	"confab/storage/storagetest"
)

// nowhere is a client that takes an answer and looks at nothing of it.
type nowhere struct {
	header http.Header
	status int
}

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (w *nowhere) WriteHeader(status int)      { w.status = status }

// reader calls the API without a network, as often as one likes.
type reader struct {
	f       *fixture
	request *http.Request
	answer  *nowhere
	want    int
}

// reads makes a reader of a path. The answer must have the wanted status.
func (f *fixture) reads(want int, path string, header ...string) *reader {
	f.t.Helper()
	req := httptest.NewRequest("GET", "/v1"+path, nil)
	req.Header.Set("Authorization", "Bearer "+f.tenant.Secret)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return &reader{f, req, &nowhere{header: make(http.Header)}, want}
}

func (r *reader) read() {
	clear(r.answer.header)
	r.f.api.ServeHTTP(r.answer, r.request)
	if r.answer.status != r.want {
		r.f.t.Fatal(r.answer.status)
	}
}

// serveBusyInbox starts an API with what an inbox shows: 60 conversations, some with an
// assignee or labels, and 60 messages in the last of them.
func serveBusyInbox(t testing.TB) (f *fixture, message string) {
	t.Helper()
	f = serveDirectly(t, func(o *testOptions) { o.Log = slog.New(slog.NewJSONHandler(io.Discard, nil)) })
	a := f.connect(f.tenant, number)
	label := f.label("Important")

	for i := range 60 {
		c := f.contact(a, fmt.Sprintf("+1555200%04d", i))
		said := f.say(c, received(fmt.Sprintf("wamid.in%d", i)))
		if i%3 == 0 {
			storagetest.Update(t, f.db, func(tx *storage.Tx) error {
				_, err := tx.SetConversationLabel(said[0].ConversationID, label, true)
				return err
			})
		}
		if i < 59 {
			continue
		}
		for n := range 60 {
			m, id := written("text", storage.MessageSent), fmt.Sprintf("wamid.HBgLMTU1NTIwMDAwNTkVAgARGBI%08d", n)
			m.ProviderID, m.PhoneNumber = &id, c.PhoneNumber
			m.Content = storage.JSON(`{"body":"hello there, your order has shipped. hello there, your order has shipped."}`)
			message = f.say(c, m)[0].ID
		}
	}
	return f, message
}

// hotReads are what clients read most, and how many allocations each may take: half as
// many again as it took when this was written. Through database/sql, with a value for
// each column and reflection for each view, a page took six times as many.
func hotReads(f *fixture, message string) map[string]struct {
	*reader
	allocations float64
} {
	tag := f.call("GET", messages+"/"+message, "").header.Get("ETag")
	listTag := f.call("GET", conversations, "").header.Get("ETag")
	return map[string]struct {
		*reader
		allocations float64
	}{
		"message":                    {f.reads(200, messages+"/"+message), 60},
		"message not modified":       {f.reads(304, messages+"/"+message, "If-None-Match", tag), 55},
		"messages":                   {f.reads(200, messages+"?limit=25"), 260},
		"conversations":              {f.reads(200, conversations+"?limit=25"), 540},
		"conversations not modified": {f.reads(304, conversations, "If-None-Match", listTag), 540},
		"contacts":                   {f.reads(200, contacts+"?limit=25"), 260},
	}
}

func TestHotReadsAllocateLittle(t *testing.T) {
	f, message := serveBusyInbox(t)
	for name, hot := range hotReads(f, message) {
		// Whatever else runs in the process is counted too, and a collection empties the pools: the
		// least of a few measurements is that of the read alone.
		n := testing.AllocsPerRun(200, hot.read)
		for try := 0; try < 5 && n > hot.allocations; try++ {
			n = min(n, testing.AllocsPerRun(200, hot.read))
		}
		if n > hot.allocations {
			t.Errorf("%s: %.0f allocations, and %.0f are allowed", name, n, hot.allocations)
		}
	}
}

// BenchmarkReads measures what clients read most, without a network.
func BenchmarkReads(b *testing.B) {
	f, message := serveBusyInbox(b)
	all := hotReads(f, message)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				all[name].read()
			}
			b.ReportMetric(float64((processorTime(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
