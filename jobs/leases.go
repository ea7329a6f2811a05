//go:build !trial

package jobs

import "time"

// The time limits of runs that make calls. A trial build has shorter ones.
const (
	// sendLease is the time limit of a send whose upload makes no progress.
	sendLease = 10 * time.Minute
	// fetchLease is the time limit of one download that makes no progress.
	fetchLease = 10 * time.Minute
	// deliverMargin is how long the run of a delivery may take besides its attempt.
	deliverMargin = time.Minute
)
