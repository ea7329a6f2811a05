// Package api has the routes that only the web console needs, under /console/api. They are
// served as those of the API are, by package rest, for people who are signed in. What a
// program can do too is a route of the API, which the console has below /console/api/v1.
package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/factor"
	"confab/app/limit"
	"confab/app/live"
	"confab/app/password"
	"confab/jobs/provisioning"
	"confab/storage"
)

// Options configure a Server.
type Options struct {
	// InventNumber makes a number up at the provider, with a name and a phone number that
	// may be empty. Only a sandbox can.
	InventNumber func(ctx context.Context, name, phone string) (provisioning.NumberClaim, error)
	// Passwords hashes those of people, and PasswordTries counts failures.
	Passwords     *password.Hasher
	PasswordTries *limit.Throttle
	// PasswordsOff says that people sign in only through the identity provider.
	PasswordsOff bool
	// FactorPolicy says who must have a second factor.
	FactorPolicy FactorPolicy
	// Passkeys makes and checks passkeys; nil where browsers offer none.
	Passkeys *factor.Passkeys
	// ReadReceipts lets the people who wrote know when somebody reads it.
	ReadReceipts bool
	// CancelJob removes a job and ends what depends on it. InterruptJob then breaks off its
	// run, if there is one.
	CancelJob    func(tx *storage.Tx, id int64) error
	InterruptJob func(id int64)
	// PublicURL is where the server is reached.
	PublicURL string
	// Live sends consoles what happens.
	Live *live.Hub
	// ClockOffset is how far the clock of a sandbox was moved.
	ClockOffset func() time.Duration
	// Replica is what Health shows of the replica; nil without one.
	Replica func() any
}

// Server answers everything under /console/api.
type Server struct {
	*rest.Server
	Options
	api       *api.Server
	table     *rest.Table
	forecasts *limit.Semaphore
}

// New makes a server that shares what it can with the API.
func New(a *api.Server, o Options) *Server {
	s := &Server{Server: a.Server, Options: o, api: a}
	s.forecasts = limit.NewSemaphore(limit.SemaphoreOptions{Total: maxForecasts, Share: 1, Patience: forecastPatience})
	s.table = rest.NewTable(s.Routes())
	return s
}

// ServeConsole answers a request under /console/api. Below its /v1 are the routes of the
// API.
func (s *Server) ServeConsole(w http.ResponseWriter, hr *http.Request, who rest.Visitor) {
	if path := strings.TrimPrefix(hr.URL.Path, rest.ConsolePath); path == "/v1" || strings.HasPrefix(path, "/v1/") {
		s.api.ServeVisitor(w, hr, who)
		return
	}
	s.Serve(w, &rest.Request{HTTP: hr, Visitor: &who, Prefix: rest.ConsolePath, Table: s.table})
}
