// Package rest serves requests of the JSON API, under /v1 and under /console/api. It knows
// no resource: those are in app/api, and what only the console needs in app/console/api.
//
// Every request takes the same way:
//
//	pipeline.go     gives it an id, runs the checks below, logs the result
//	auth.go         finds the key or the person, and the organization
//	table.go        finds the route
//	pipeline.go     checks the organization, the rate limit, the key's scopes and the plan
//	resource.go     finds the account of the number in the path, and the resource, where the route wants it
//	body.go         reads the body; multipart.go reads an upload
//	idempotency.go  answers a repeated request, or runs the handler once
//	reply.go        writes the reply, or the error envelope
//
// The order of the checks is part of the contract: a request that breaks several
// rules always gets the same error.
//
// Errors are returned, never written: a handler returns an *Error, or an error of
// storage that AsError translates. error_codes.go has all codes.
package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"confab/app/config"
	"confab/app/limit"
	"confab/storage"
)

// Plan is what an organization's plan allows.
type Plan = config.Plan

// Options configure a Server.
type Options struct {
	DB             *storage.DB
	Plans          map[string]Plan
	CORSOrigins    []string
	TrustedProxies []netip.Prefix
	// Files keeps uploads.
	Files *storage.Files
	// PageBytes is how many bytes a page of a list may have; 0 for the default.
	PageBytes int
	// LogBodies says of which calls the API log keeps the bodies; "" for none.
	LogBodies string
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

// Server serves requests: the part that is the same for all of them.
type Server struct {
	Options
	buckets    *limit.Buckets[limit.Holder] // of those who call
	made       *limit.Daily[madeBy]         // by people in the console
	inFlight   sync.Map                     // of inFlightKey and inFlightRequest; a crash leaves none
	quotas     logQuotas
	APILog     *callLog
	cursors    *cursorCodec
	largePages chan struct{}    // a place for each large page that may be under way
	bodies     *limit.Semaphore // for large ones
}

// New makes a Server. Close it to write the rest of the API log.
func New(o Options) *Server {
	return &Server{
		Options: o,
		buckets: new(limit.Buckets[limit.Holder]),
		made:    limit.NewDaily[madeBy](),
		quotas: logQuotas{
			lines:   limit.NewQuota(strangerLines, strangerLinesEach),
			probes:  limit.NewQuota(strangerLines, strangerLinesEach),
			refused: limit.NewQuota(refusedLines, refusedLinesEach),
		},
		APILog:     newCallLog(o.DB, o.Log),
		cursors:    newCursorCodec(o.DB.DeriveKey("cursor")),
		largePages: make(chan struct{}, maxLargePages),
		bodies: limit.NewSemaphore(limit.SemaphoreOptions{
			Total: maxBodies, Share: maxBodiesOfOne, Patience: bodyPatience, Grace: bodyGrace,
		}),
	}
}

// Flush writes the API log and the keys' last use now, for another process that wants
// to read them.
func (s *Server) Flush(ctx context.Context) error {
	return errors.Join(s.APILog.Flush(ctx), s.APILog.FlushLastUsed(ctx))
}

// Close writes the rest of the API log.
func (s *Server) Close() { s.APILog.close() }

// Plan is the plan of an organization: the one of a server of its own, if the settings have its
// plan no longer.
func (s *Server) Plan(o storage.Organization) Plan {
	if p, ok := s.Plans[o.Plan]; ok {
		return p
	}
	return s.Plans[config.SelfHosted]
}

// View runs a short read-only transaction: one that reads a resource, or a few.
func (s *Server) View(r *Request, fn func(*storage.Rx) error) error {
	return s.DB.View(r.HTTP.Context(), fn)
}

// List runs a read-only transaction of which it is not known how many rows it looks
// at: a list, or a count. It alternates with those of other organizations, and never
// the connection that short ones need. fn may be run twice.
func (s *Server) List(r *Request, fn func(*storage.Rx) error) error {
	return s.DB.List(r.HTTP.Context(), r.Org.ID, fn)
}

// Query is View for one value.
func Query[T any](s *Server, r *Request, fn func(*storage.Rx) (T, error)) (T, error) {
	return storage.Query(r.HTTP.Context(), s.DB, fn)
}

// QueryMany is List for one value.
func QueryMany[T any](s *Server, r *Request, fn func(*storage.Rx) (T, error)) (found T, err error) {
	err = s.List(r, func(rx *storage.Rx) (err error) {
		found, err = fn(rx)
		return err
	})
	return found, err
}

// Update runs fn in one transaction, together with the record that makes the request
// idempotent, and returns the reply as it will be sent.
//
// Billing is checked after fn, so every fault of the body or the path is reported
// first.
func (s *Server) Update(r *Request, fn func(*storage.Tx) (Reply, error)) (Reply, error) {
	var out Reply
	err := s.DB.Update(r.HTTP.Context(), func(tx *storage.Tx) error {
		if err := checkAccountExists(tx, r); err != nil {
			return err
		}

		rep, err := fn(tx)
		if err != nil {
			return err
		}

		if err := r.CheckBilling(); err != nil {
			return err
		}

		out = rep
		if err := s.Audit(tx, r, &out); err != nil {
			return err
		}
		return s.SaveAnswer(tx, r, &out)
	})
	return out, err
}

// UpdateInSteps does what would hold the writer too long in one transaction. It calls
// step until that returns a reply, each time in a transaction of its own; the last one
// also stores the reply, as update does. A step gets the state that the one before
// returned, and changes nothing else in memory: it may run twice.
//
// A client that disconnects does not stop the work half-way. A crash does, so that the
// request must have the same effect when it is repeated.
func UpdateInSteps[S any](s *Server, r *Request, state S, step func(*storage.Tx, S) (S, *Reply, error)) (Reply, error) {
	r.DetachContext()
	for first := true; ; first = false {
		var next S
		var unfinished bool

		out, err := s.Update(r, func(tx *storage.Tx) (Reply, error) {
			after, rep, err := step(tx, state)
			next, unfinished = after, rep == nil
			if unfinished { // a reply whose status no answer has is not stored
				return Reply{Unchanged: !first}, err
			}
			out := *rep
			out.Unchanged = out.Unchanged || !first // the first step is in the audit
			return out, err
		})
		if err != nil || !unfinished {
			return out, err
		}
		state = next
	}
}

// CheckBilling refuses a new resource while the subscription is inactive.
func (r *Request) CheckBilling() error {
	if r.route.Has(Creates) && r.Org.Subscription == storage.SubscriptionInactive {
		return Fail(SubscriptionInactive, "The organization's subscription is inactive.")
	}
	return nil
}
