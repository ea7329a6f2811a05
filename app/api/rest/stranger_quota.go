package rest

import (
	"sync/atomic"

	"confab/app/limit"
)

const (
	// StrangerLines is how many requests of strangers are logged in a minute. In a
	// month of nothing else the API log grows to less than a gigabyte.
	StrangerLines = 60
	// StrangerLinesEach is how many of them may come from one network.
	StrangerLinesEach = 20
)

// strangerQuota limits what strangers write into the logs: the API log, whose rows
// stay for weeks, and the server's own. A stranger is a caller who has not proved to
// be somebody: under /v1 with a key, elsewhere with a signature. Anyone can make such
// requests, as many as the network carries. What is not logged is counted: by the
// metrics, and in a line of the log once a minute.
type strangerQuota struct {
	lines    *limit.Quota
	unlogged atomic.Int64 // requests that no line of the log has told of yet
}

func NewStrangerQuota() *strangerQuota {
	return &strangerQuota{lines: limit.NewQuota(StrangerLines, StrangerLinesEach)}
}

// LogsStranger reports whether a request from an address is logged although its caller
// has not proved to be anybody, and counts it.
func (s *Server) LogsStranger(ip string) bool {
	if s.strangers.lines.Allow(networkOf(ip)) {
		return true
	}
	s.strangers.unlogged.Add(1)
	return false
}
