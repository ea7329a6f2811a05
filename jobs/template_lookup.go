package jobs

import (
	"context"
	"time"

	"confab/storage"
)

const (
	// lookupPause is how long an account's templates are believed to be complete
	// before one that is not among them is looked for again.
	lookupPause = time.Minute
	// lookupTime is what a look at all of an account's templates may take.
	lookupTime = 30 * time.Second
)

// lookup is a look at the provider for templates that are not known here.
type lookup struct {
	done  chan struct{}
	err   error        // once it is done
	ended storage.Time // 0 while it is under way
}

// LookUpTemplates looks at the provider for templates that are not known here:
// at most once a minute, and once for all who ask at the same time. A failure is
// no answer, so whoever asks after it makes another try.
func (a *Accounts) LookUpTemplates(ctx context.Context, account int64) error {
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

// beginLookup returns the lookup that answers for now, or a new one for the
// caller to make.
func (a *Accounts) beginLookup(account int64) (l *lookup, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()

	l = a.lookups[account]
	if l != nil && (l.ended == 0 || storage.Now() < l.ended.Add(lookupPause)) {
		return l, false
	}

	l = &lookup{done: make(chan struct{})}
	a.lookups[account] = l
	return l, true
}

func (a *Accounts) endLookup(account int64, l *lookup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l.ended = storage.Now()
	if l.err != nil {
		delete(a.lookups, account)
	}
	close(l.done)
}

// syncTemplates fetches and stores, also when the one who asked first leaves:
// others wait for it.
func (a *Accounts) syncTemplates(ctx context.Context, account int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()

	s, err := a.FetchTemplates(ctx, account)
	if err != nil {
		return err
	}
	return a.db.Update(ctx, s.Store)
}
