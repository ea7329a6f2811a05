// Package api has the resources of the JSON API under /v1, a file for each. routes.go is
// the table of all endpoints; package rest serves them.
//
// A handler decodes the body, runs one transaction through Server.Update, and replies with
// a view. Its rows, its events, its jobs and the answer for its Idempotency-Key are stored
// together or not at all. Nothing slow happens in a transaction: what calls the provider or
// fetches a link does so before, and once the provider was asked to do something, the
// request goes on even if its client disconnects (DetachContext).
//
// The order of the checks is part of the contract, also inside of a handler: first the body
// (Validate), then what only the database knows, and billing last.
package api

import (
	"context"
	"net/http"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/limit"
	"confab/app/live"
	"confab/app/password"
	"confab/app/stream"
	"confab/jobs"
	"confab/jobs/guard"
	"confab/jobs/messaging"
	"confab/jobs/provisioning"
	"confab/storage"
)

// Options configure a Server.
type Options struct {
	Version string
	// Imports keeps the files of contacts that are being imported.
	Imports storage.ImportFiles
	// Fetch downloads links into the media library.
	Fetch *guard.Client
	// Publisher has the public URL of media and of setup links.
	Publisher messaging.Publisher
	// Accounts calls the provider about accounts and templates.
	Accounts *provisioning.Accounts
	// InventNumber makes a number up at the provider, with a name and a phone number that
	// may be empty. Only a sandbox can.
	InventNumber func(ctx context.Context, name, phone string) (provisioning.NumberClaim, error)
	// Calls are the calls of the workers, which cannot be cancelled; nil if there are none.
	Calls *jobs.SendCalls
	// AllowInsecureURLs allows http where https is required.
	AllowInsecureURLs bool
	// AllowLocalURLs allows http for URLs of this machine.
	AllowLocalURLs bool
	// Passwords hashes those of people, and PasswordTries counts failures. Both are the
	// console's.
	Passwords     *password.Hasher
	PasswordTries *limit.Throttle
	// ReadReceipts tells the people who wrote when somebody reads it in the console.
	ReadReceipts bool
	// Streams are those who follow events, of whom there may be MaxStreams.
	Streams    *stream.Hub
	MaxStreams int
	// CancelJob removes a job and ends what depends on it. InterruptJob then breaks off its
	// run, if there is one.
	CancelJob    func(tx *storage.Tx, id int64) error
	InterruptJob func(id int64)
	// Live tells consoles what happens.
	Live *live.Hub
}

// Server answers everything under /v1.
type Server struct {
	*rest.Server
	Options
	v1      *rest.Table
	console *rest.Table // of what only the console needs
	streams *stream.Class
}

// New makes a server.
func New(c *rest.Server, o Options) *Server {
	if o.Calls == nil {
		o.Calls = jobs.NewSendCalls()
	}
	s := &Server{Server: c, Options: o, streams: o.Streams.NewClass(stream.ClassOptions{
		Name: "api", Max: o.MaxStreams, PerOrganization: maxOrganizationStreams,
	})}
	s.v1 = rest.NewTable(s.routes())
	s.console = rest.NewTable(s.consoleRoutes())
	return s
}

// ServeHTTP answers one request under /v1. Whatever happens, the answer is the
// success or the error envelope, and the call is logged.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	s.Serve(w, &rest.Request{HTTP: hr, Prefix: "/v1", Table: s.v1})
}

// ServeOperator answers a request under /v1 that a command of the operator makes in the
// name of an organization, without a key.
func (s *Server) ServeOperator(w http.ResponseWriter, hr *http.Request, organization storage.Organization) {
	s.Serve(w, &rest.Request{HTTP: hr, Prefix: "/v1", Table: s.v1, Operator: &organization})
}

// ServeConsole answers a request under /console/api. Below its /v1 are the routes of the
// API, beside it what only the console needs.
func (s *Server) ServeConsole(w http.ResponseWriter, hr *http.Request, who rest.Visitor) {
	r := &rest.Request{HTTP: hr, Visitor: &who, Prefix: rest.ConsolePath, Table: s.console}
	if path := strings.TrimPrefix(hr.URL.Path, rest.ConsolePath); path == "/v1" || strings.HasPrefix(path, "/v1/") {
		r.Prefix, r.Table = rest.ConsolePath+"/v1", s.v1
	}
	s.Serve(w, r)
}

// PlainHTTP says which URLs need not be https on this server.
func (s *Server) plainHTTP() content.PlainHTTP {
	switch {
	case s.AllowInsecureURLs:
		return content.AnyHTTP
	case s.AllowLocalURLs:
		return content.LocalHTTP
	}
	return content.NoHTTP
}
