package rest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"confab/app/limit"
	"confab/storage"
)

const (
	// callFlushInterval is how long a call waits to be written to the API log.
	callFlushInterval = time.Second
	// callBatchSize bounds the rows of one transaction.
	callBatchSize = 256
	// maxWaitingCalls bounds the calls that wait while the database cannot write.
	maxWaitingCalls = 50_000
	// lastUsedFlushSeconds is how long a key's last use waits to be written, and unloggedSeconds
	// how often the log counts requests that are not in it.
	lastUsedFlushSeconds, unloggedSeconds = 10, 60
	// MaxLoggedMethod is longer than any method in the log.
	MaxLoggedMethod = 16
)

// callLog writes the API log and the time when each key and session was last used.
//
// A request only appends to a slice; the goroutine run writes what waits, in batches,
// so no request waits for the log. mu guards what waits and is never held during a
// write; writing is held for a whole flush, so that lines are stored in order. A flush
// that fails keeps its lines for the next one, up to maxWaitingCalls; above that,
// calls are counted and dropped. A crash loses at most the last second of calls,
// because the log is not part of a request's transaction.
//
// Calls without a key only come here as far as the quota of strangers goes; one with a key
// that was revoked or has expired is its organization's. Requests beyond the quota are reported in
// the server's log once a minute.
type callLog struct {
	db       *storage.DB
	log      *slog.Logger
	stop     chan struct{}
	done     chan struct{}
	unlogged atomic.Int64 // requests that no line of the log has counted yet

	mu       sync.Mutex
	waiting  []storage.APICall
	bodies   int // bytes of those that wait
	dropped  int
	lastUsed map[string]storage.Time // by the id of a key or a session

	writing sync.Mutex // one flush at a time, so that lines stay in order
}

func newCallLog(db *storage.DB, log *slog.Logger) *callLog {
	l := &callLog{
		db:       db,
		log:      log,
		stop:     make(chan struct{}),
		done:     make(chan struct{}),
		lastUsed: make(map[string]storage.Time),
	}
	go l.run()
	return l
}

// add queues one call, with its bodies if there are any to keep.
func (l *callLog) add(x *Exchange, status int, took time.Duration, ip, path string, bodies *storage.CallBodies) {
	r := x.Request
	c := storage.APICall{
		Method:    LoggedMethod(r.HTTP.Method),
		Path:      path,
		Status:    status,
		Latency:   storage.Micros(took.Microseconds()),
		IP:        ip,
		RequestID: r.ID,
		CreatedAt: r.Now,
	}
	// Copies: what pointed into the request would keep all of it in memory.
	if organization, key := r.caller(); organization.ID != 0 {
		c.OrganizationID = new(organization.ID)
		switch {
		case r.User != nil:
			c.UserID = new(r.User.ID)
		case key.ID != "":
			c.KeyID = new(key.ID)
		}
	}
	if x.Failure != nil {
		c.ErrorCode = new(AsError(x.Failure).Name())
	}
	if x.made != "" {
		c.MadeID = &x.made
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if c.KeyID != nil && r.refused == nil {
		l.lastUsed[r.Key.ID] = c.CreatedAt
	}

	// While the database cannot write, memory stays bounded: the log loses calls.
	if len(l.waiting) >= maxWaitingCalls {
		l.dropped++
		return
	}
	if size := bodySize(bodies); l.bodies+size <= maxWaitingBodies {
		c.Bodies = bodies
		l.bodies += size
	}
	l.waiting = append(l.waiting, c)
}

// bodySize is how many bytes the bodies of a call have.
func bodySize(b *storage.CallBodies) int {
	if b == nil {
		return 0
	}
	return len(b.Request) + len(b.Response)
}

func (l *callLog) run() {
	defer close(l.done)

	calls := time.NewTicker(callFlushInterval)
	defer calls.Stop()
	for seconds := 1; ; seconds++ {
		select {
		case <-calls.C:
		case <-l.stop:
			return
		}

		err := l.Flush(context.Background())
		if seconds%lastUsedFlushSeconds == 0 {
			err = errors.Join(err, l.FlushLastUsed(context.Background()))
		}
		if seconds%unloggedSeconds == 0 {
			l.logUnlogged()
		}
		if err != nil {
			l.log.Warn("could not write the API log", "error", err)
		}
	}
}

// Flush writes every call that waits.
func (l *callLog) Flush(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()

	for {
		l.mu.Lock()
		batch := l.waiting[:min(callBatchSize, len(l.waiting))]
		dropped := l.dropped
		l.dropped = 0
		l.mu.Unlock()

		if dropped > 0 {
			l.log.Warn("the API log lost calls: the database was not writable for too long", "calls", dropped)
		}
		if len(batch) == 0 {
			return nil
		}

		// The batch leaves the queue only once it is written. No other flush takes from its
		// front meanwhile, because writing is held.
		if err := l.db.Update(ctx, func(tx *storage.Tx) error { return tx.InsertAPICalls(batch) }); err != nil {
			return err
		}

		l.mu.Lock()
		for _, c := range batch {
			l.bodies -= bodySize(c.Bodies)
		}
		l.waiting = l.waiting[len(batch):]
		if len(l.waiting) == 0 {
			l.waiting = nil // lets the array go
		}
		l.mu.Unlock()
	}
}

// FlushLastUsed writes when each key and session was last used.
func (l *callLog) FlushLastUsed(ctx context.Context) error {
	l.mu.Lock()
	used := l.lastUsed
	l.lastUsed = make(map[string]storage.Time)
	l.mu.Unlock()

	if len(used) == 0 {
		return nil
	}

	err := l.db.Update(ctx, func(tx *storage.Tx) error {
		for id, at := range used {
			mark := tx.MarkKeyUsed
			if strings.HasPrefix(id, storage.PrefixSession) {
				mark = tx.MarkSessionSeen
			}
			if err := mark(id, at); err != nil {
				return err
			}
		}
		return nil
	})

	if err != nil {
		for id, at := range used { // for the next try
			l.markUsed(id, at)
		}
	}
	return err
}

// logUnlogged says how many requests of strangers were left out of the logs.
func (l *callLog) logUnlogged() {
	if n := l.unlogged.Swap(0); n > 0 {
		l.log.Info("too many requests without a key or signature: some were not logged", "requests", n)
	}
}

// close stops the goroutine and writes what still waits.
func (l *callLog) close() {
	close(l.stop)
	<-l.done
	l.logUnlogged()

	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()

	if err := errors.Join(l.Flush(ctx), l.FlushLastUsed(ctx)); err != nil {
		l.log.Warn("could not write the rest of the API log", "error", err)
	}
}

const (
	// strangerLines is how many requests of strangers are logged in a minute. In a
	// month of nothing else the API log grows to less than a gigabyte.
	strangerLines = 60
	// strangerLinesEach is how many of them may come from one network.
	strangerLinesEach = 20
	// refusedLines is how many lines keys that were revoked or have expired may write in a
	// minute, and refusedLinesEach one of them.
	refusedLines, refusedLinesEach = 6000, 600
)

// logQuotas limit what strangers write into the logs: the API log, whose rows
// stay for weeks, and the server's own. A stranger is a caller who has not proved to
// be somebody: under /v1 with a key, elsewhere with a signature. Anyone can make such
// requests, as many as the network carries. Requests that are not logged are counted: by the
// metrics, and in a line of the log once a minute.
type logQuotas struct {
	lines   *limit.Quota
	probes  *limit.Quota // of routes that need no key, which many call all the time
	refused *limit.Quota // of keys that were revoked or have expired
}

// LogsStranger reports whether a request from an address is logged although its caller
// has not proved to be anybody, and counts it.
func (s *Server) LogsStranger(ip string) bool { return s.allowLine(s.quotas.lines, networkOf(ip)) }

// logs reports whether a call is logged: those with a key always, others as far as their quota
// goes. Calls of a route that needs no key are counted apart: they take no line from others, nor
// others from them.
func (s *Server) logs(r *Request, ip string) bool {
	switch {
	case r.isAuthenticated():
		return true
	case r.refused != nil:
		return s.allowLine(s.quotas.refused, r.refused.Key.ID)
	case r.Table.isPublic(r.path):
		return s.allowLine(s.quotas.probes, networkOf(ip))
	}
	return s.LogsStranger(ip)
}

// allowLine counts a line of somebody, or that there is none.
func (s *Server) allowLine(lines *limit.Quota, of string) bool {
	isAllowed := lines.Allow(of)
	if !isAllowed {
		s.APILog.unlogged.Add(1)
	}
	return isAllowed
}
