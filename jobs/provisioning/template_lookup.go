package provisioning

import (
	"context"
	"time"
)

const (
	// lookupPause is how long an account's templates count as complete after a
	// lookup: an unknown template does not cause another one so soon.
	lookupPause = time.Minute
	// lookupTime is how long one lookup may take.
	lookupTime = 30 * time.Second
)

// lookup is one sync of an account's templates that was caused by an unknown one.
// Its fields are guarded by Accounts.mu until done is closed.
type lookup struct {
	done  chan struct{}
	err   error     // valid once done is closed
	ended time.Time // zero while it is under way
}

// SyncTemplatesOnce syncs an account's templates because one is not known here: at
// most once a minute, and once for all who ask at the same time. A failed lookup
// does not count: the next caller tries again.
func (a *Accounts) SyncTemplatesOnce(ctx context.Context, account int64) error {
	l, first := a.beginLookup(account)
	if !first {
		select {
		case <-l.done:
			return l.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}

	l.err = a.syncTemplates(ctx, account)
	a.endLookup(account, l)
	return l.err
}

// beginLookup returns the lookup that is under way or still counts. If there is
// none, first is true and the caller makes the new one that is returned.
func (a *Accounts) beginLookup(account int64) (l *lookup, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()

	l = a.lookups[account]
	if l != nil && (l.ended.IsZero() || time.Since(l.ended) < lookupPause) {
		return l, false
	}

	l = &lookup{done: make(chan struct{})}
	a.lookups[account] = l
	return l, true
}

func (a *Accounts) endLookup(account int64, l *lookup) {
	a.mu.Lock()
	defer a.mu.Unlock()

	l.ended = time.Now()
	if l.err != nil {
		delete(a.lookups, account)
	}
	close(l.done)
}

// SyncTemplates syncs an account's templates after a client of the provider has changed them.
func (a *Accounts) SyncTemplates(ctx context.Context, account int64) error {
	return a.syncTemplates(ctx, account)
}

// syncTemplates fetches and stores templates. It goes on when the first caller has
// gone away, because others may wait for it.
func (a *Accounts) syncTemplates(ctx context.Context, account int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()

	s, err := a.CompareTemplates(ctx, account)
	if err != nil {
		return err
	}
	return a.db.Update(ctx, s.Store)
}
