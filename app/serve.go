package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// A stop waits so long for requests and for jobs, at the same time. With what
// remains to be closed it takes at most 15 seconds, as the guide to production promises.
const (
	httpGrace = 10 * time.Second
	jobGrace  = 9 * time.Second
)

// settlePatience is how long the end of a job waits for the commit of a request. One who
// has a single connection asks again within it, and then one commit does for both.
const settlePatience = time.Millisecond

// listen binds an address, and says what to do where that is most often refused.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		const advice = "stop the other program, or choose another address (port 0 picks a free one)"
		return nil, fmt.Errorf("%s: address already in use: %s", address, advice)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: permission denied: low ports are reserved by the system; the unit that "+
			"`confab init --systemd` writes may use them, or choose port 1024 or higher", address)
	}
	return l, err
}

// serveHTTP serves the public listener, with TLS if the settings ask for it.
func (a *App) serveHTTP(ctx context.Context) error {
	a.Log.Info("serving", "url", a.URL(), "data_dir", string(a.dir), "version", a.Version)
	l := a.listener
	if a.replica != nil {
		l = fencedListener{l, a.fence}
	}
	return a.serveListener(ctx, l, a.handler(), a.tls)
}

// servePlainHTTP serves port 80 beside port 443, if openPlainHTTP could listen on it.
func (a *App) servePlainHTTP(ctx context.Context) error {
	return a.serveListener(ctx, a.plainListener, a.plainHandler(), nil)
}

// serveListener serves a listener until ctx ends, and then lets its requests finish for a
// while before it cuts the connections. Where there is no listener, it only waits for ctx.
func (a *App) serveListener(ctx context.Context, l net.Listener, h http.Handler, secure *tls.Config) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}

	server := newHTTPServer(h, a.Log)
	serve := func() error { return server.Serve(l) }
	if secure != nil {
		server.TLSConfig = secure
		serve = func() error { return server.ServeTLS(l, "", "") }
	}
	failed := make(chan error, 1)
	go func() { failed <- serve() }()

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}

	grace, cancel := context.WithTimeout(context.Background(), httpGrace)
	defer cancel()

	if err := server.Shutdown(grace); err != nil {
		return server.Close()
	}
	return nil
}

// newHTTPServer limits what a slow or hostile client can hold.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	held := newConnections()
	return &http.Server{
		Handler:           held.track(h),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      120 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       held.withConnection,
		ConnState:         held.observe,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// withDraining is a context that ends when the server begins to stop, too.
func (a *App) withDraining(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	stop := context.AfterFunc(a.draining, cancel)
	return ctx, func() { stop(); cancel() }
}
