// Package app wires confab together: settings, database, job runner, servers.
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"confab/app/api"
	"confab/app/callback"
	"confab/app/config"
	"confab/app/pages"
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/jobs/queue"
	"confab/storage"
)

const (
	// httpGrace and jobGrace keep a stop within fifteen seconds.
	httpGrace = 10 * time.Second
	jobGrace  = 9 * time.Second
)

// Options are what New needs beside the settings.
type Options struct {
	Config    config.Config
	Schema    string // the text of schema.sql
	MasterKey string // CONFAB_MASTER_KEY, if set
	Version   string
	Log       *slog.Logger
	// AllowLocalURLs admits http for URLs of this machine, and is for the sandbox.
	AllowLocalURLs bool
	// PlaySignup stands in for the provider's signup on the pages of setup links,
	// for a name and a number that may be empty. Only a sandbox has it: no setting
	// may bring a form that makes numbers up.
	PlaySignup func(name, phone string) (Signup, error)
	// Supervisor hears how the server is; the zero value is nobody.
	Supervisor Supervisor
	// ACME is who issues certificates for server.tls_domains; nil is Let's Encrypt.
	ACME *acme.Client
}

// App is a server that is ready to run.
type App struct {
	Options
	DB              *storage.DB
	dir             DataDir
	lock            *os.File
	files           *storage.Files
	fetch           *guard.Client
	endpoints       *guard.Client
	media           *pages.Media
	docs            *pages.Docs
	onboard         *pages.Onboard
	hosts           pages.Hosts
	api             *api.Server
	callback        *callback.Server
	work            *jobs.Workers
	runner          *queue.Runner
	metrics         *metrics
	listener        net.Listener
	metricsListener net.Listener // nil unless server.metrics_listen is set
	plainListener   net.Listener // nil unless http is redirected to https
	tls             *tls.Config  // nil for http
	certificates    *autocert.Manager
	draining        chan struct{}
}

// New takes the data directory, opens the database and the listener, and
// refuses with a reason whatever it cannot vouch for.
func New(o Options) (*App, error) {
	a := &App{Options: o, dir: DataDir(o.Config.DataDir), draining: make(chan struct{})}
	if err := a.open(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *App) open() (err error) {
	if err := a.dir.Prepare(); err != nil {
		return err
	}
	if a.lock, err = a.dir.lock(); err != nil {
		return a.dir.inUse(err)
	}
	a.metrics = newMetrics()
	a.DB, err = a.dir.Open(storage.Options{
		Schema:      a.Schema,
		Synchronous: a.Config.Storage.Synchronous,
		Readers:     a.Config.Storage.Readers,
		OnCommit:    a.metrics.commit,
	}, a.MasterKey, false)
	if err != nil {
		return err
	}
	a.metrics.watch(a.DB)
	if err := a.openMedia(); err != nil {
		return err
	}
	if a.listener, err = net.Listen("tcp", a.Config.Server.Listen); err != nil {
		return fmt.Errorf("server.listen: %w", err)
	}
	a.Config.Server.Listen = a.listener.Addr().String()
	if address := a.Config.Server.MetricsListen; address != "" {
		if a.metricsListener, err = net.Listen("tcp", address); err != nil {
			return fmt.Errorf("server.metrics_listen: %w", err)
		}
	}
	if err := a.openTLS(); err != nil {
		return err
	}
	if err := a.warnOfPlans(); err != nil {
		return err
	}
	if a.work, err = a.workers(); err != nil {
		return err
	}
	a.api = api.New(a.apiOptions(a.work.Accounts))
	a.docs = pages.NewDocs(pages.DocsOptions{Description: api.Description(), BaseURL: a.URL() + "/v1", Refuse: a.refusePage})
	a.hosts = a.findHosts()
	a.openOnboard()
	a.callback = callback.New(callback.Options{
		DB: a.DB, AppSecret: a.Config.Provider.AppSecret.Reveal(), VerifyToken: a.Config.Provider.VerifyToken.Reveal(),
		Log: a.Log, Publisher: messaging.Publisher{PublicURL: a.URL()}, Refuse: a.refuseCallback, OnKept: a.metrics.keep,
	})
	a.runner = queue.New(queue.Options{
		DB: a.DB, Kinds: a.work.Kinds(), Workers: a.Config.Jobs.Workers, Poll: a.Config.Jobs.PollInterval,
		Grace: jobGrace, Log: a.Log, OnFinish: a.metrics.job,
	})
	return nil
}

// workers are what does the jobs, with the provider that the settings name.
func (a *App) workers() (*jobs.Workers, error) {
	c := a.Config.Provider
	client, err := provider.New(provider.Options{
		BaseURL: c.BaseURL, Version: c.Version, AppID: c.AppID, AppSecret: c.AppSecret.Reveal(), Timeout: c.Timeout, UserAgent: "confab/" + a.Version,
	})
	if err != nil {
		return nil, err
	}
	return jobs.New(jobs.Options{
		DB: a.DB, Provider: client, Files: a.files, Publisher: messaging.Publisher{PublicURL: a.URL()}, Log: a.Log, Retention: retention(a.Config),
		MessagesPerSecond: c.MessagesPerSecond, PairLimit: c.PairLimit, SendRetries: c.RetrySchedule, ReconcileWindow: c.ReconcileWindow,
		Webhooks: a.webhooks(), OnDropped: a.metrics.drop,
	}), nil
}

func (a *App) apiOptions(accounts *provisioning.Accounts) api.Options {
	plans := make(map[string]api.Plan)
	for name, p := range a.Config.Plans {
		plans[name] = api.Plan{API: p.API, Customers: p.Customers, MonthlyMessages: p.MonthlyMessages, RatePerSecond: p.RatePerSecond, Burst: p.Burst}
	}
	return api.Options{
		DB: a.DB, Version: a.Version, Plans: plans, DefaultPlan: config.SelfHosted,
		CORSOrigins: a.Config.Server.CORSOrigins, TrustedProxies: a.Config.Server.TrustedProxies, AllowInsecureURLs: a.Config.Security.AllowInsecureURLs, AllowLocalURLs: a.AllowLocalURLs,
		Files: a.files, Publisher: messaging.Publisher{PublicURL: a.URL()}, Fetch: a.fetch, Accounts: accounts, Log: a.Log, OnRequest: a.metrics.request,
	}
}

// warnOfPlans names the organizations whose plan the settings no longer have:
// they are served as self_hosted rather than cut off.
func (a *App) warnOfPlans() error {
	return a.DB.View(context.Background(), func(rx *storage.Rx) error {
		all, err := rx.Organizations()
		for _, o := range all {
			if _, known := a.Config.Plans[o.Plan]; !known {
				a.Log.Warn("an organization has a plan that the settings do not have", "org", o.PublicID, "plan", o.Plan)
			}
		}
		return err
	})
}

// URL is where the API is reached from this machine.
func (a *App) URL() string { return a.Config.PublicURL() }

// Run serves until ctx ends, then drains: what was accepted is answered, jobs
// finish or are released.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parts := []func(context.Context) error{a.serveHTTP, a.servePlain, a.serveControl, a.serveMetrics, a.runner.Run, a.keepAlive}
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() {
			err := part(ctx)
			stop() // one part down, all down
			ended <- err
		}()
	}
	a.tellSupervisor("READY=1\nSTATUS=serving " + a.URL())
	<-ctx.Done()
	a.tellSupervisor("STOPPING=1")
	a.Log.Info("stopping")
	close(a.draining)
	var errs []error
	for range parts {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
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
	if a.DB != nil {
		errs = append(errs, a.DB.Close())
	}
	a.closeWebhooks()
	errs = append(errs, a.closeMedia())
	if a.lock != nil {
		errs = append(errs, a.lock.Close())
	}
	return errors.Join(errs...)
}

// serveHTTP serves the public listener until ctx ends and its requests are answered.
func (a *App) serveHTTP(ctx context.Context) error {
	a.Log.Info("serving", "url", a.URL(), "data_dir", string(a.dir), "version", a.Version)
	return serveUntil(ctx, newHTTPServer(a.handler(), a.Log), a.serveListener)
}

// serveListener speaks TLS where the settings want it.
func (a *App) serveListener(server *http.Server) error {
	if a.tls == nil {
		return server.Serve(a.listener)
	}
	server.TLSConfig = a.tls
	return server.ServeTLS(a.listener, "", "")
}

// servePlain serves the port of http beside that of https, if there is one.
func (a *App) servePlain(ctx context.Context) error {
	if a.plainListener == nil {
		<-ctx.Done()
		return nil
	}
	return serveUntil(ctx, newHTTPServer(a.plainHandler(), a.Log), func(server *http.Server) error { return server.Serve(a.plainListener) })
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
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      120 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
