package api

import (
	"sync"
	"time"
)

const (
	// strangerLines is how many requests of strangers are logged in a minute. In a
	// month of nothing else the API log grows to less than a gigabyte.
	strangerLines = 60
	// strangerLinesEach is how many of them may come from one network.
	strangerLinesEach = 20
)

// strangerQuota limits what strangers write into the logs: the API log, whose rows
// stay for weeks, and the server's own. A stranger is a caller who has not proved to
// be somebody: under /v1 with a key, elsewhere with a signature. Anyone can make such
// requests, as many as the network carries.
//
// In each minute the first ones are logged, of one network fewer than of all, so that
// one caller does not hide the others. The rest is counted: by the metrics, and in a
// line of the log once a minute. The memory is bounded too, because a network is only
// remembered for a line that was written.
type strangerQuota struct {
	mu       sync.Mutex
	began    time.Time // the present minute
	lines    int       // written in it
	each     map[string]int
	unlogged int // requests since takeUnlogged
}

func newStrangerQuota() *strangerQuota { return &strangerQuota{each: make(map[string]int)} }

// allows reports whether a stranger's request is logged, and counts it.
func (q *strangerQuota) allows(network string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()

	if now.Sub(q.began) >= time.Minute {
		q.began, q.lines = now, 0
		clear(q.each)
	}

	if q.lines >= strangerLines || q.each[network] >= strangerLinesEach {
		q.unlogged++
		return false
	}

	q.lines++
	q.each[network]++
	return true
}

// takeUnlogged returns how many requests were not logged since the last call.
func (q *strangerQuota) takeUnlogged() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	n := q.unlogged
	q.unlogged = 0
	return n
}

// LogsStranger reports whether a request from an address is logged although its caller
// has not proved to be anybody, and counts it.
func (s *Server) LogsStranger(ip string) bool { return s.strangers.allows(networkOf(ip), time.Now()) }
