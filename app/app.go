// Package app wires confab together: settings, database, job runner, servers.
package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/callback"
	"confab/app/config"
	"confab/app/console"
	"confab/app/datadir"
	"confab/app/gateway"
	"confab/app/limit"
	"confab/app/live"
	"confab/app/pages"
	"confab/app/replica"
	"confab/app/stream"
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/provisioning"
	"confab/jobs/queue"
	"confab/storage"
)

// Options are what New needs beside the settings.
type Options struct {
	Config    config.Config
	Schema    string // the text of schema.sql
	MasterKey string // CONFAB_MASTER_KEY, if set
	Version   string
	Log       *slog.Logger

	// Only a sandbox sets these, and no setting can. AllowLocalURLs admits http for URLs of this machine.
	AllowLocalURLs bool
	// SimulateSignup replaces the provider's signup on the pages of setup links. The name and the number may
	// be empty. A real server must never show a form that invents numbers.
	SimulateSignup func(name, phone string) (Signup, error)
	// SandboxUser returns the id of the user as whom visitors are signed in by themselves.
	SandboxUser func() string
	// Simulator returns what serves /_sim of the played provider, and nothing else of it, to admins in the console.
	Simulator func() http.Handler
	Clock     *storage.MovableClock // can be moved

	// Supervisor is notified of start, stop and health; the zero value is none.
	Supervisor Supervisor
	// ACME issues the certificates for server.tls_domains; nil is Let's Encrypt.
	ACME *acme.Client
	// BodyBudget is how many bytes the bodies of requests outside of /v1 may take in
	// memory together; 0 is defaultBodyBudget.
	BodyBudget int64
}

// defaultBodyBudget has room for thousands of usual callbacks, or for half a dozen of the largest.
const defaultBodyBudget = 32 << 20

// App is a server: New opens it, Run serves with it, Close frees it.
//
// New opens the parts in an order in which each finds what it needs:
//
//  1. The data directory and its lock. Opening the database may migrate it, and
//     the job runner frees the leases of a process that died: only one process
//     at a time may do either.
//  2. The metrics, because the database reports its commits to them.
//  3. The database, and the directory of the media files that its rows name. One that is
//     older than what was served here before is noticed before anybody reads it. Then the
//     replica: a server that another has superseded must not begin to listen.
//  4. The listeners. They come after the database: while a long migration runs,
//     clients are refused at once and are not left waiting. They come before all
//     that follows, because only the listener knows the port if the settings ask
//     for port 0, and the parts below copy the URL when they are made.
//  5. TLS, which listens for plain HTTP beside the port of https.
//  6. The workers of the jobs; the API, which shares their client of the
//     provider; the pages, which share the API's view of client addresses; the
//     callbacks; and the job runner, which is given the kinds of the workers.
//
// Nothing is answered before Run. If a step fails, New closes what was opened.
//
// Run ends as soon as its context or any part of it ends. Then all parts drain at
// the same time: requests are answered, jobs finish or are released.
//
// Close goes the other way where it matters. The API comes first: it still writes
// the rest of its log into the database. The replica follows the database: it sends what was
// written last. The lock comes last: the process that gets it may
// open the database. Close expects that Run has returned or was never called.
type App struct {
	Options
	DB              *storage.DB // exported for the sandbox, which seeds it, and for tests
	dir             datadir.Dir
	lock            io.Closer // exclusive, on the data directory
	progress        *progressKeeper
	replica         *replica.Replica // nil unless replica.url is set
	files           *storage.Files
	imports         storage.ImportFiles
	search          *storage.SearchIndex
	fetch           *guard.Client // for media that API clients name by URL
	endpoints       *guard.Client // for webhook deliveries
	media           *pages.Media
	docs            *pages.Docs
	onboard         *pages.Onboard
	hosts           pages.Hosts
	console         *console.Console // nil unless console.enabled is set
	mcp             http.Handler     // nil unless mcp.enabled is set
	gateway         *gateway.Server  // nil unless gateway.enabled is set
	api             *api.Server
	streams         *stream.Hub
	operatorStreams *stream.Class // those of commands, over the control socket
	live            *live.Hub     // notifies consoles of changes
	callback        *callback.Server
	bodies          *limit.Bodies // outside of /v1
	work            *jobs.Workers
	runner          *queue.Runner
	metrics         *metrics
	listener        net.Listener
	metricsListener net.Listener // nil unless server.metrics_listen is set
	plainListener   net.Listener // nil unless http is redirected to https
	tls             *tls.Config  // nil for http
	certificates    *autocert.Manager
	draining        context.Context // ends when the server begins to stop
	drain           context.CancelFunc
}

// New locks the data directory and opens the database, the listeners and
// everything that serves. Its errors say what the administrator can do.
func New(o Options) (*App, error) {
	a := newApp(o)
	if err := a.open(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func newApp(o Options) *App {
	a := &App{Options: o, dir: datadir.Dir(o.Config.DataDir)}
	a.draining, a.drain = context.WithCancel(context.Background())
	return a
}

// open opens the parts of the server in the order that App explains.
func (a *App) open() error {
	for _, step := range []func() error{
		a.lockDir, a.openDatabase, a.openMedia, a.openReplica, a.openListeners, a.logAdvice, a.openServices,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// lockDir locks the data directory, unless it was locked as a standby's.
func (a *App) lockDir() (err error) {
	if a.lock != nil {
		return nil
	}
	if err := a.dir.Prepare(); err != nil {
		return err
	}
	a.lock, err = a.dir.Lock()
	return err
}

// logAdvice logs what the administrator should know of the settings, now that there is a database.
func (a *App) logAdvice() error {
	return a.DB.View(context.Background(), func(rx *storage.Rx) error {
		return cmp.Or(a.warnAboutUnknownPlans(rx), a.warnOfNoOrganization(rx), a.hintAtFirstAdmin(rx))
	})
}

// openListeners binds the addresses in the settings, unless a standby has. Connections wait
// there, and are answered once Run serves.
func (a *App) openListeners() (err error) {
	if a.listener != nil {
		return nil
	}
	if a.listener, err = listen(a.Config.Server.Listen); err != nil {
		return fmt.Errorf("server.listen: %w", err)
	}
	a.Config.Server.Listen = a.listener.Addr().String() // from here on URL is right

	if address := a.Config.Server.MetricsListen; address != "" {
		if a.metricsListener, err = listen(address); err != nil {
			return fmt.Errorf("server.metrics_listen: %w", err)
		}
	}

	return a.openTLS()
}

func (a *App) openServices() (err error) {
	if a.work, err = a.newWorkers(); err != nil {
		return err
	}
	if a.streams, err = stream.New(a.DB); err != nil {
		return err
	}
	a.operatorStreams = a.streams.NewClass(stream.ClassOptions{Name: "operator", Max: maxOperatorStreams})
	a.live = live.New(live.Options{
		DB: a.DB, Streams: a.streams, MaxStreams: a.Config.Console.MaxStreams, Version: a.Version, Log: a.Log,
	})
	a.api = api.New(rest.New(a.requestOptions()), a.apiOptions(a.work.Accounts))
	a.metrics.watchStreams(a.streams)

	a.media = &pages.Media{DB: a.DB, Files: a.files, WriteError: a.api.WriteError}
	a.docs = pages.NewDocs(pages.DocsOptions{
		Description: api.OpenAPIDocument(),
		BaseURL:     a.URL() + "/v1",
		WriteError:  a.api.WriteError,
	})
	a.hosts = a.findHosts()
	a.openOnboard()
	a.openConsole()
	a.openMCP()
	a.openGateway()

	a.bodies = limit.NewBodies(cmp.Or(a.BodyBudget, defaultBodyBudget))
	a.metrics.watch("confab_body_bytes", "Memory used by request bodies outside /v1.", func() float64 { return float64(a.bodies.Used()) })
	a.callback = callback.New(callback.Options{
		DB:          a.DB,
		AppSecret:   a.Config.Provider.AppSecret.Reveal(),
		VerifyToken: a.Config.Provider.VerifyToken.Reveal(),
		Log:         a.Log,
		Publisher:   messaging.Publisher{PublicURL: a.URL()},
		WriteError:  a.refuseCallback,
		Gateway:     a.gateway != nil,
		Answers:     a.work.Answers,
		OnKept:      func(field, reason string) { a.metrics.kept.WithLabelValues(field, reason).Inc() },
	})

	a.runner = queue.New(queue.Options{
		DB:      a.DB,
		Kinds:   a.work.Kinds(),
		Workers: a.Config.Jobs.Workers,
		Poll:    a.Config.Jobs.PollInterval,
		Grace:   jobGrace,
		Log:     a.Log,
		OnRun:   a.metrics.observeJob,
		Fence:   a.fence,
	})
	a.work.Calls.Recovered = a.runner.Recovered()
	return nil
}

func (a *App) openGateway() {
	if !a.Config.Gateway.Enabled {
		return
	}
	a.gateway = gateway.New(gateway.Options{
		API:       a.api,
		Answers:   a.work.Answers,
		Wait:      a.Config.Gateway.Wait,
		PublicURL: a.URL(),
		AppID:     a.Config.Provider.AppID,
		Draining:  a.draining.Done(),
	})
}

// ProviderOptions are those of a client of the provider that the settings name.
func ProviderOptions(c config.Provider, version string) provider.Options {
	return provider.Options{
		BaseURL:   c.BaseURL,
		Version:   c.Version,
		AppID:     c.AppID,
		AppSecret: c.AppSecret.Reveal(),
		Timeout:   c.Timeout,
		UserAgent: "confab/" + version,
	}
}

func (a *App) requestOptions() rest.Options {
	return rest.Options{
		DB:             a.DB,
		Plans:          a.Config.Plans,
		CORSOrigins:    a.Config.Server.CORSOrigins,
		TrustedProxies: a.Config.Server.TrustedProxies,
		Files:          a.files,
		LogBodies:      a.Config.Log.Bodies,
		Log:            a.Log,
		OnRequest:      a.metrics.observeRequest,
	}
}

func (a *App) apiOptions(accounts *provisioning.Accounts) api.Options {
	return api.Options{
		Version:           a.Version,
		AllowInsecureURLs: a.Config.Security.AllowInsecureURLs,
		AllowLocalURLs:    a.AllowLocalURLs,
		Imports:           a.imports,
		Publisher:         messaging.Publisher{PublicURL: a.URL()},
		Fetch:             a.fetch,
		Accounts:          accounts,
		Calls:             a.work.Calls,
		Streams:           a.streams,
		MaxStreams:        a.Config.Server.MaxStreams,
	}
}

// URL is the public URL in the settings, or else one made from the address of the listener.
func (a *App) URL() string { return a.Config.PublicURL() }
