//go:build trial

package jobs

import "time"

// The time limits of runs that make calls, so short that the pauses of app/soak
// outlast them. No other build contains them.
const (
	sendLease     = 10 * time.Second
	fetchLease    = 10 * time.Second
	deliverMargin = time.Second
)
