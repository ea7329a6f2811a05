package provisioning

import (
	"context"
	"strconv"
	"time"
)

const (
	// lookupPause is how long an account's templates count as complete after a
	// lookup: an unknown template does not cause another one so soon.
	lookupPause = time.Minute
	// lookupTime is how long one lookup may take.
	lookupTime = 30 * time.Second
)

// SyncTemplatesOnce syncs an account's templates because one is not known here: at
// most once a minute, and once for all who ask at the same time. A failed lookup
// does not count: the next caller tries again.
func (a *Accounts) SyncTemplatesOnce(ctx context.Context, account int64) error {
	_, err, _ := a.lookups.Do(strconv.FormatInt(account, 10), func() (any, error) {
		a.mu.Lock()
		last := a.lookedUp[account]
		a.mu.Unlock()
		if time.Since(last) < lookupPause {
			return nil, nil
		}

		err := a.SyncTemplates(ctx, account)
		if err == nil {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.lookedUp[account] = time.Now()
		}
		return nil, err
	})
	return err
}

// SyncTemplates fetches and stores an account's templates. It goes on when its caller has
// gone away, because others may wait for it.
func (a *Accounts) SyncTemplates(ctx context.Context, account int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
	defer cancel()

	s, err := a.CompareTemplates(ctx, account)
	if err != nil {
		return err
	}
	return a.db.Update(ctx, s.Store)
}
