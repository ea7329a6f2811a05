// Package api is the JSON API under /v1, and under /console/api for people.
//
// Every request takes the same way:
//
//	pipeline.go     gives it an id, runs the checks below, logs the result
//	auth.go         finds the key and the organization; visitor.go the person
//	routes.go       finds the route: one table, one line for each endpoint
//	pipeline.go     checks the organization, its plan and the rate limit
//	numbers.go      finds the account of the number in the path
//	route.find      finds the resource in the path, where the route wants it
//	body.go         reads the body; multipart.go reads an upload
//	idempotency.go  answers a repeated request, or runs the handler once
//	handler         decodes the body, runs one transaction, replies with a view
//	reply.go        writes the reply, or the error envelope
//
// The order of the checks is part of the contract: a request that breaks several
// rules always gets the same error. It also holds inside of a handler: first the
// body (validate), then what only the database knows, and billing last.
//
// A handler writes in one transaction, through Server.update: its rows, its events,
// its jobs and the answer for its Idempotency-Key are stored together or not at all.
// Nothing slow happens in a transaction. What calls the provider or fetches a link
// does so before, and once the provider was asked to do something, the request goes
// on even if its client disconnects (detachContext).
//
// Errors are returned, never written: a handler returns an *Error, or an error of
// storage that asError translates. error_codes.go has all codes.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

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

// Plan is what an organization's plan allows.
type Plan struct {
	API             bool
	Customers       bool
	MonthlyMessages int     // 0 for no limit
	RatePerSecond   float64 // 0 for no limit
	Burst           int
	// WebhookSubscriptions is how many there may be; 0 for no limit.
	WebhookSubscriptions int
}

// Options configure a Server.
type Options struct {
	DB             *storage.DB
	Version        string
	Plans          map[string]Plan
	DefaultPlan    string // for organizations whose plan the settings no longer have
	CORSOrigins    []string
	TrustedProxies []netip.Prefix
	// Files holds the media library, and Fetch downloads links into it.
	Files *storage.Files
	// Imports keeps the files of contacts that are being imported.
	Imports storage.ImportFiles
	Fetch   *guard.Client
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
	// PageBytes is how many bytes a page of a list may have; 0 for the default.
	PageBytes int
	Log       *slog.Logger
	OnRequest func(Observation)
}

// Observation describes one finished request to OnRequest.
type Observation struct {
	Method string
	Route  string // the template, never the path itself; "" if there was none
	Status int
	Took   time.Duration
	// Unlogged says that the request is not in the logs, because strangers make too
	// many.
	Unlogged bool
}

// Server answers everything under /v1 and /console/api.
type Server struct {
	Options
	v1         *table
	console    *table                       // of what only the console needs
	buckets    *limit.Buckets[limit.Holder] // of those who call
	inFlight   *inFlightRequests
	strangers  *strangerQuota
	calls      *callLog
	cursors    *cursorCodec
	streams    *stream.Class
	largePages chan struct{}    // a place for each large page that may be under way
	bodies     *limit.Semaphore // for large ones
}

// New makes a server. Close it to write the rest of the API log.
func New(o Options) *Server {
	if o.Calls == nil {
		o.Calls = jobs.NewSendCalls()
	}
	strangers := newStrangerQuota()
	s := &Server{
		Options:   o,
		buckets:   limit.NewBuckets[limit.Holder](),
		inFlight:  newInFlightRequests(),
		strangers: strangers,
		calls:     newCallLog(o.DB, o.Log, strangers),
		cursors:   newCursorCodec(o.DB.DeriveKey("cursor")),

		streams:    o.Streams.NewClass(stream.ClassOptions{Name: "api", Max: o.MaxStreams, PerOrganization: maxOrganizationStreams}),
		largePages: make(chan struct{}, maxLargePages),
		bodies:     newBodyRoom(),
	}
	s.mount(s.routes())
	s.console = newTable(s.consoleRoutes())
	return s
}

// Flush writes the API log and the keys' last use now, for another process that wants
// to read them.
func (s *Server) Flush(ctx context.Context) error {
	return errors.Join(s.calls.flush(ctx), s.calls.flushLastUsed(ctx))
}

// Close writes what is left of the API log.
func (s *Server) Close() { s.calls.close() }

// plan is the plan of an organization.
func (s *Server) plan(o storage.Organization) Plan {
	if p, ok := s.Plans[o.Plan]; ok {
		return p
	}
	return s.Plans[s.DefaultPlan]
}

// view runs a short read-only transaction: one that reads a resource, or a few.
func (s *Server) view(r *request, fn func(*storage.Rx) error) error {
	return s.DB.View(r.http.Context(), fn)
}

// list runs a read-only transaction of which it is not known how many rows it looks
// at: a list, or a count. It takes turns with those of other organizations, and never
// the connection that short ones need. fn may be run twice.
func (s *Server) list(r *request, fn func(*storage.Rx) error) error {
	return s.DB.List(r.http.Context(), r.org.ID, fn)
}

// readPage is list for a page: each run of fn has the page's whole budget.
func (s *Server) readPage(r *request, q *listQuery, fn func(*storage.Rx) error) error {
	left := *q.budget
	return s.list(r, func(rx *storage.Rx) error {
		*q.budget = left
		return fn(rx)
	})
}

// update runs fn in one transaction, together with the record that makes the request
// idempotent, and returns the reply as it will be sent.
//
// Billing is checked after fn, so every fault of the body or the path is reported
// first.
func (s *Server) update(r *request, fn func(*storage.Tx) (reply, error)) (reply, error) {
	var out reply
	err := s.DB.Update(r.http.Context(), func(tx *storage.Tx) error {
		if err := checkAccountExists(tx, r); err != nil {
			return err
		}

		rep, err := fn(tx)
		if err != nil {
			return err
		}

		if err := r.checkBilling(); err != nil {
			return err
		}

		out = rep
		if err := s.audit(tx, r, &out); err != nil {
			return err
		}
		return s.saveAnswer(tx, r, &out)
	})
	return out, err
}

// updateInSteps does what would hold the writer too long in one transaction. It calls
// step until that returns a reply, each time in a transaction of its own; the last one
// also stores the reply, as update does. A step gets the state that the one before
// returned, and changes nothing else in memory: it may run twice.
//
// A client that disconnects does not stop the work half-way. A crash does, so that the
// request must have the same effect when it is repeated.
func updateInSteps[S any](s *Server, r *request, state S, step func(*storage.Tx, S) (S, *reply, error)) (reply, error) {
	r.detachContext()
	for {
		var next S
		var unfinished bool

		out, err := s.update(r, func(tx *storage.Tx) (reply, error) {
			after, rep, err := step(tx, state)
			next, unfinished = after, rep == nil
			if unfinished {
				return reply{}, err // whose status no answer has: nothing is stored
			}
			return *rep, err
		})
		if err != nil || !unfinished {
			return out, err
		}
		state = next
	}
}

// checkBilling refuses a new resource while the subscription is inactive.
func (r *request) checkBilling() error {
	if r.route.has(creates) && r.org.Subscription == storage.SubscriptionInactive {
		return fail(SubscriptionInactive, "The organization's subscription is inactive.")
	}
	return nil
}
