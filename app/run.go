package app

import (
	"context"
	"errors"
	"net"

	"golang.org/x/sync/errgroup"

	"confab/jobs/guard"
)

// Run serves until ctx ends, then drains: what was accepted is answered, jobs finish or are released.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.work.WatchClock(ctx)

	var parts errgroup.Group
	for _, part := range []func(context.Context) error{
		a.serveHTTP, a.servePlainHTTP, a.serveControl, a.serveMetrics,
		a.streams.Run, a.live.Run, a.work.Steady.Run, a.runner.Run, a.search.Run, a.pingWatchdog,
		a.progress.run, a.eraseDeleted, a.replica.Run,
	} {
		parts.Go(func() error {
			defer stop() // one part down, all down
			return part(ctx)
		})
	}

	a.notifySupervisor("READY=1\nSTATUS=serving " + a.URL())

	<-ctx.Done()
	a.notifySupervisor("STOPPING=1")
	a.Log.Info("stopping")

	// From here on /readyz answers 503, so that a proxy sends nothing new, and
	// purges for other commands are broken off.
	a.drain()
	return parts.Wait()
}

// Close frees everything. It is safe on an App that is only half open.
func (a *App) Close() error {
	if a.api != nil {
		a.api.Close()
	}

	var errs []error
	for _, l := range []net.Listener{a.listener, a.metricsListener, a.plainListener} {
		if l == nil {
			continue
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}

	if a.progress != nil {
		a.progress.keep() // with all that was written
	}
	if a.DB != nil {
		errs = append(errs, a.DB.Close())
	}
	if a.replica != nil {
		a.replica.Stop() // it sends what was written last
	}
	for _, client := range []*guard.Client{a.endpoints, a.fetch} {
		if client != nil {
			client.Close()
		}
	}
	if a.files != nil {
		errs = append(errs, a.files.Close())
	}

	// Last of all: the process that gets the lock may open the database.
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}
