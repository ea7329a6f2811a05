package sqlite

import (
	"context"
	"sync"

	"github.com/jmoiron/sqlx"
)

// freeSessions are the reading connections that are not in use. The one that was given back
// last is taken first: its statements are prepared and its pages in memory, and where
// there is little to do the others stay as they were opened, without reading the schema.
type freeSessions struct {
	count chan struct{} // one for each that is free; closed once they are
	mu    sync.Mutex
	stack []*session
}

func openSessions(pool *sqlx.DB, n int, tables func(string) (changes, adds TableSet)) (*freeSessions, error) {
	f := &freeSessions{count: make(chan struct{}, n)}
	for range n {
		s, err := newSession(context.Background(), pool, tables)
		if err != nil {
			for _, opened := range f.stack {
				opened.close()
			}
			return nil, err
		}
		f.release(s)
	}
	return f, nil
}

// acquire waits for a connection.
func (f *freeSessions) acquire(ctx context.Context) (*session, error) {
	select {
	case _, isOpen := <-f.count:
		if !isOpen {
			return nil, errClosed
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.stack) - 1
	s := f.stack[last]
	f.stack = f.stack[:last]
	return s, nil
}

func (f *freeSessions) release(s *session) {
	f.mu.Lock()
	f.stack = append(f.stack, s)
	f.mu.Unlock()
	f.count <- struct{}{}
}

// close waits for all connections, closes them, and releases those who wait for one.
func (f *freeSessions) close() {
	for range cap(f.count) {
		<-f.count
	}
	for _, s := range f.stack {
		s.close()
	}
	close(f.count)
}
