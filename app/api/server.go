// Package api has the resources of the JSON API under /v1, a file for each. routes.go is
// the table of all endpoints; package rest serves them. Routes that only the web console needs are
// in app/console/api.
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
	"net/http"

	"confab/app/api/content"
	"confab/app/api/rest"
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
	// Calls are the calls of the workers, which cannot be cancelled; nil if there are none.
	Calls *jobs.SendCalls
	// AllowInsecureURLs allows http where https is required.
	AllowInsecureURLs bool
	// AllowLocalURLs allows http for URLs of this machine.
	AllowLocalURLs bool
	// Streams are those who follow events, of whom there may be MaxStreams.
	Streams    *stream.Hub
	MaxStreams int
}

// Server answers everything under /v1, and the same under /console/api/v1.
type Server struct {
	*rest.Server
	Options
	table   *rest.Table
	streams *stream.Class
}

// New makes a server.
func New(c *rest.Server, o Options) *Server {
	if o.Calls == nil {
		o.Calls = new(jobs.SendCalls)
	}
	s := &Server{Server: c, Options: o, streams: o.Streams.NewClass(stream.ClassOptions{
		Name: "api", Max: o.MaxStreams, PerOrganization: maxOrganizationStreams,
	})}
	s.table = rest.NewTable(s.Routes())
	return s
}

// ServeHTTP answers one request under /v1. In every case the answer is the
// success or the error envelope, and the call is logged.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	s.Serve(w, &rest.Request{HTTP: hr, Prefix: "/v1", Table: s.table})
}

// ServeOperator answers a request under /v1 that a command of the operator makes in the
// name of an organization, without a key.
func (s *Server) ServeOperator(w http.ResponseWriter, hr *http.Request, organization storage.Organization) {
	s.Serve(w, &rest.Request{HTTP: hr, Prefix: "/v1", Table: s.table, Operator: &organization})
}

// ServeVisitor answers a request under /console/api/v1 of somebody who visits the console.
func (s *Server) ServeVisitor(w http.ResponseWriter, hr *http.Request, who rest.Visitor) {
	s.Serve(w, &rest.Request{HTTP: hr, Visitor: &who, Prefix: rest.ConsolePath + "/v1", Table: s.table})
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
