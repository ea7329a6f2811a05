// Package api is the JSON API under /v1.
//
// A request walks one path: serve.go checks it in the contract's order, the
// route table names its handler, and the handler decodes, runs one transaction
// and shows the result.
package api

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/julienschmidt/httprouter"

	"confab/jobs"
	"confab/jobs/guard"
	"confab/storage"
)

// Plan is what an organization's plan allows.
type Plan struct {
	API             bool
	Customers       bool
	MonthlyMessages int     // 0 for no limit
	RatePerSecond   float64 // 0 for no limit
	Burst           int
}

// Options configure a Server.
type Options struct {
	DB             *storage.DB
	Version        string
	Plans          map[string]Plan
	DefaultPlan    string // for organizations whose plan the settings no longer have
	CORSOrigins    []string
	TrustedProxies []netip.Prefix
	// Files is where the media library lies, Host where it is seen, and Fetch
	// what fetches the links that go into it.
	Files *storage.Files
	Host  jobs.Host
	Fetch *guard.Client
	// Accounts speaks to the provider about accounts and templates.
	Accounts *jobs.Accounts
	// AllowInsecureURLs admits http where https is demanded.
	AllowInsecureURLs bool
	// AllowLocalURLs admits it for URLs of this machine.
	AllowLocalURLs bool
	Log            *slog.Logger
	OnRequest      func(Observation)
}

// Observation tells an observer about one request.
type Observation struct {
	Method string
	Route  string // the template, never the path itself; "" if there was none
	Status int
	Took   time.Duration
}

// Server answers everything under /v1.
type Server struct {
	Options
	organization *httprouter.Router // paths of the organization
	number       *httprouter.Router // paths of one business number
	publicPaths  []string           // paths that need no key
	limits       *limiters
	inFlight     *inFlightRequests
	calls        *callLog
	cursors      *cursorCodec
}

// New makes a server. Close it to write the rest of the API log.
func New(o Options) *Server {
	s := &Server{
		Options:  o,
		limits:   newLimiters(),
		inFlight: newInFlightRequests(),
		calls:    newCallLog(o.DB, o.Log),
		cursors:  newCursorCodec(o.DB.DeriveKey("cursor")),
	}
	s.mount(s.routes())
	return s
}

// Flush writes the API log and the keys' last use, for another process that
// wants to read them.
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

// view runs a read-only handler's query.
func (s *Server) view(r *request, fn func(*storage.Rx) error) error {
	return s.DB.View(r.http.Context(), fn)
}

// search runs a list's query, beside the other readers where it may take long.
func (s *Server) search(r *request, walks bool, fn func(*storage.Rx) error) error {
	if walks {
		return s.DB.Search(r.http.Context(), fn)
	}
	return s.view(r, fn)
}

// update runs fn in one transaction, together with the record that makes the
// request idempotent, and returns the reply as it will be sent.
//
// Only here, behind every rule that fn checks, does it refuse what an inactive
// subscription does not allow: the body's faults come before the bill.
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
		return s.saveAnswer(tx, r, &out)
	})
	return out, err
}

// checkBilling refuses what an inactive subscription does not allow.
func (r *request) checkBilling() error {
	if r.route.has(creates) && r.org.Subscription == storage.SubscriptionInactive {
		return fail(SubscriptionInactive, "The organization's subscription is inactive.")
	}
	return nil
}
