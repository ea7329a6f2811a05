package app

import (
	"context"
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
		const advice = "stop what listens there, or choose another one (port 0 is any free one)"
		return nil, fmt.Errorf("%s: address already in use: %s", address, advice)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%s: permission denied: the system keeps low ports to itself; the unit that "+
			"`confab init --systemd` writes may use them, or choose a port from 1024 on", address)
	}
	return l, err
}

// serveHTTP serves the public listener until ctx ends and its requests are answered.
func (a *App) serveHTTP(ctx context.Context) error {
	a.Log.Info("serving", "url", a.URL(), "data_dir", string(a.dir), "version", a.Version)
	return serveUntil(ctx, newHTTPServer(a.handler(), a.Log), a.serveListener)
}

// serveListener serves with TLS if the settings ask for it.
func (a *App) serveListener(server *http.Server) error {
	if a.tls == nil {
		return server.Serve(a.listener)
	}

	server.TLSConfig = a.tls
	return server.ServeTLS(a.listener, "", "")
}

// servePlainHTTP serves port 80 beside port 443, if openPlainHTTP could listen on it.
func (a *App) servePlainHTTP(ctx context.Context) error {
	if a.plainListener == nil {
		<-ctx.Done()
		return nil
	}

	server := newHTTPServer(a.plainHandler(), a.Log)
	return serveUntil(ctx, server, func(server *http.Server) error { return server.Serve(a.plainListener) })
}

// serveUntil runs a server until ctx ends, and then lets its requests finish
// for a while before it cuts the connections.
func serveUntil(ctx context.Context, server *http.Server, serve func(*http.Server) error) error {
	failed := make(chan error, 1)
	go func() { failed <- serve(server) }()

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
