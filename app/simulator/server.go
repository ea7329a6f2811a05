// Package simulator plays the provider: the Graph API of the WhatsApp Cloud
// platform as far as a messaging application needs it, with the same paths,
// bodies, ids, errors and signed callbacks, so that any client of the real one
// works by changing its base URL. It adds a control surface under /_sim with
// which tests and people play the users on the other side.
//
// A Graph request goes through graph.go: path, token, object, fault, and then
// the handler of its edge. A message that is accepted is stored in the message
// log, and its statuses are scheduled in the timeline. When an event of the
// timeline is due, its update is put into the outbox, which posts it to the
// app; what the app does not take goes back into the timeline for another try.
// Requests to /_sim use the same log, timeline and outbox.
//
// One mutex, Server.mu, guards all state in memory. It is held for short
// steps only: callbacks are encoded and posted, files are received and links
// are fetched without it. Handlers take it, most of them by reading and writing in
// the tables of routes; the unexported methods that read or change this state (those of world,
// outbox and timeline, and what queues or schedules) expect that the caller holds it.
//
// Everything lives in memory; a state file keeps it over a restart. A crash may
// lose the last second, or more where there is much to save, and may post
// callbacks a second time.
package simulator

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Server is a simulated provider. It is an [http.Handler]; Close it when done.
type Server struct {
	opt Options
	log *slog.Logger

	blobs   *blobs
	control http.Handler

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // timeline, saver and the running queues of the outbox

	// mu guards all that follows. It is held for moments only: nothing is
	// encoded, written or posted under it, but for small chunks of a save.
	mu       sync.Mutex
	world    world
	messages messageLog
	timeline timeline
	outbox   outbox
	limits   limits
	closing  bool // no background work may be started any more

	moving sync.Mutex // held while the clock is moved; taken before mu

	wake  chan struct{} // the timeline has an earlier event
	dirty chan struct{} // there is something to save

	subscriber atomic.Pointer[func(Activity)] // see Subscribe

	// These have locks of their own.
	calls   callLog
	streams streamHub
}

// New makes a simulator, with the state that its state file holds.
func New(opt Options) (*Server, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}

	store, err := newBlobs(opt.StateFile)
	if err != nil {
		return nil, err
	}

	s := &Server{
		opt: opt, log: opt.Log, blobs: store,
		messages: newMessageLog(opt.MaxMessages),
		outbox:   newOutbox(),
		limits:   limits{},
		calls:    callLog{kept: map[string][]callRecord{}},
		wake:     make(chan struct{}, 1),
		dirty:    make(chan struct{}, 1),
	}

	s.world = newWorld(s.nowMS)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.streams.ctx, s.streams.stop = context.WithCancel(s.ctx)
	s.streams.subscribers = map[*subscriber]bool{}
	s.control = s.newControl()
	if err := s.load(); err != nil {
		s.cancel()
		return nil, err
	}

	s.initCredentials()

	// From here on goroutines are running, which only Close ends.
	s.work.Go(s.runTimeline)
	s.work.Go(s.runSaver)
	return s, nil
}

func (s *Server) initCredentials() {
	w := &s.world
	w.Creds.AppID = firstOf(s.opt.AppID, w.Creds.AppID, randomDigits(15))
	w.Creds.AppSecret = firstOf(s.opt.AppSecret, w.Creds.AppSecret, newSecret(16))
	w.Creds.VerifyToken = firstOf(s.opt.VerifyToken, w.Creds.VerifyToken, "verify-"+newSecret(8))
	w.Creds.AccessToken = firstOf(s.opt.AccessToken, w.Creds.AccessToken, newAccessToken())

	if w.Tokens[w.Creds.AccessToken] == nil {
		w.Tokens[w.Creds.AccessToken] = &token{Token: w.Creds.AccessToken, State: tokenValid}
	}

	if s.opt.WebhookURL != "" {
		w.Hook.URL = s.opt.WebhookURL
	}
	s.markDirty()
}

func firstOf(texts ...string) string { return cmp.Or(texts...) }

// ServeHTTP answers a request to the provider, or to the control surface.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/_sim/"):
		s.control.ServeHTTP(w, r)
	case r.URL.Path == downloadPath:
		s.serveDownload(w, r)
	default:
		s.serveGraph(w, r)
	}
}

// Control serves /_sim and nothing else, to callers who were let in already: it adds the
// token that the control surface demands.
func (s *Server) Control() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+s.opt.ControlToken)
		s.control.ServeHTTP(w, r)
	})
}

// Close stops the background and saves the state. Callbacks that were not
// delivered go out after the next start.
func (s *Server) Close() error {
	s.cancel()

	// No delivery may be started while Close waits for those that run.
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()

	s.work.Wait()
	s.opt.CallbackClient.CloseIdleConnections()
	s.blobs.close()
	return s.save()
}

// Credentials returns the app's identity and the first access token.
func (s *Server) Credentials() Credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Creds
}

// markDirty asks for a save. It may be called with or without the lock.
func (s *Server) markDirty() { signal(s.dirty) }

// signal wakes who waits for a channel, now or next.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
