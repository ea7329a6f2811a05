package replica

import (
	"context"
	"sync"
	"time"
)

// Often is how often something is looked at.
var Often = often

// KillChild kills the child, as a lack of memory does, and returns when it has ended.
func (r *Replica) KillChild() {
	r.mu.Lock()
	p := r.process
	r.mu.Unlock()
	p.kill()
	<-p.ended
}

// Follows reports whether a child has the log.
func (r *Replica) Follows() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.Follows
}

// RemoveOld deletes the generations that are not needed for any time after the given one.
func (r *Replica) RemoveOld(ctx context.Context, before time.Time) { r.removeOld(ctx, before) }

// BeginAtOnce has several read the generation in force, and then each begin the next.
func BeginAtOnce(ctx context.Context, p Place, n int) []error {
	store, err := p.open()
	if err != nil {
		return []error{err}
	}
	errs := make([]error, n)
	var all, read sync.WaitGroup
	read.Add(n)
	for i := range n {
		all.Go(func() {
			now, version, err := readCurrent(ctx, store)
			read.Done()
			read.Wait()
			if err == nil {
				err = now.next(now.Installation, 0).begin(ctx, store, version)
			}
			errs[i] = err
		})
	}
	all.Wait()
	return errs
}

// Days checks a replica as Run does, with the clock of a test, and returns when.
func Days(n int, sound func(at time.Time) bool) (checks []time.Time) {
	var verified time.Time
	end := time.Now().Add(time.Duration(n) * 24 * time.Hour)
	for time.Sleep(verifyPause); time.Now().Before(end); time.Sleep(30 * time.Second) {
		if !verifyDue(verified) {
			continue
		}
		checks = append(checks, time.Now())
		if sound(time.Now()) {
			verified = time.Now()
		} else {
			time.Sleep(verifyRetry)
		}
	}
	return checks
}

// Stall lets the copy of a standby have got on so much earlier.
func (s *Standby) Stall(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follower.mu.Lock()
	defer s.follower.mu.Unlock()
	s.follower.gotOn = s.follower.gotOn.Add(-by)
}
