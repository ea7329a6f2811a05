package simulator

import (
	"encoding/json"
	"slices"
	"time"
)

// The fields of callbacks.
const (
	fieldMessages       = "messages"
	fieldEchoes         = "smb_message_echoes"
	fieldPreferences    = "user_preferences"
	fieldUserID         = "user_id_update"
	fieldTemplateStatus = "message_template_status_update"
	fieldAccountUpdate  = "account_update"
	fieldHistory        = "history"
	fieldStateSync      = "smb_app_state_sync"
)

// messageFields follow an override of the callback URL and carry no time.
var messageFields = []string{fieldMessages, fieldEchoes, fieldPreferences, fieldUserID, fieldHistory, fieldStateSync}

// change is one update for the app: it is in a lane, in flight, or waiting in
// the timeline for another try.
type change struct {
	Account  string          `json:"account"`
	URL      string          `json:"url,omitempty"` // when it is not the app's own
	Field    string          `json:"field"`
	Value    json.RawMessage `json:"value"`
	Time     int64           `json:"time,omitempty"` // of an account's entry, seconds
	First    int64           `json:"first"`
	Next     int64           `json:"next,omitempty"`
	Attempts int             `json:"attempts,omitempty"`

	pending any // what Value will be made of, outside the lock
}

// encoded returns the change's value as JSON. Only attempts and times of a
// change ever vary, so this needs no lock.
func (c *change) encoded() (json.RawMessage, error) {
	if c.pending == nil {
		return c.Value, nil
	}
	return marshal(c.pending)
}

// queueKey keeps accounts and receivers apart, so that one that hangs does not
// hold up the others.
type queueKey struct{ account, url string }

// deliveryQueue is a queue of changes for one account and URL, posted one batch after
// another, so that updates arrive in order while all goes well.
type deliveryQueue struct {
	key      queueKey
	waiting  []*change
	inFlight []*change
	busy     bool
}

// outbox is everything that waits to be told.
type outbox struct {
	queues  map[queueKey]*deliveryQueue
	pending int
}

// maxPending bounds what waits for a receiver that is down; later updates are
// dropped, and logged.
const maxPending = 100_000

func newOutbox() outbox { return outbox{queues: map[queueKey]*deliveryQueue{}} }

// targetOf finds where an update goes: number before account before app, for
// which the URL is left empty, so that it follows when the app moves. Nothing
// is told of accounts that the app is not subscribed to.
func (s *Server) targetOf(accountID string, n *number, field string) (override string, wanted bool) {
	a := s.world.Accounts[accountID]
	if a == nil || !a.Subscribed {
		return "", false
	}

	if slices.Contains(messageFields, field) {
		if n != nil && n.Override.URL != "" {
			return n.Override.URL, true
		}
		if a.Override.URL != "" {
			return a.Override.URL, true
		}
	}

	hook := s.world.Hook
	return "", hook.URL != "" && (len(hook.Fields) == 0 || slices.Contains(hook.Fields, field))
}

// queueUpdate queues an update about a number.
func (s *Server) queueUpdate(n *number, field string, v any) {
	if url, ok := s.targetOf(n.Account, n, field); ok {
		s.enqueue(&change{Account: n.Account, URL: url, Field: field, First: nowMS(), pending: v})
		s.outbox.pending++
	}
}

// queueAccountUpdate queues an update about an account.
func (s *Server) queueAccountUpdate(accountID, field string, v any) {
	if url, ok := s.targetOf(accountID, nil, field); ok {
		now := nowMS()
		s.enqueue(&change{Account: accountID, URL: url, Field: field, First: now, Time: now / 1000, pending: v})
		s.outbox.pending++
	}
}

// enqueue puts a change into its lane and sets the lane going.
func (s *Server) enqueue(c *change) {
	// Changes that were tried before are counted already and never dropped here.
	if s.outbox.pending >= maxPending && c.Attempts == 0 {
		s.log.Warn("callback dropped: too many are waiting", "url", c.URL, "field", c.Field)
		// Callers count each change after they enqueued it.
		s.outbox.pending--
		return
	}

	key := queueKey{c.Account, c.URL}
	q := s.outbox.queues[key]
	if q == nil {
		q = &deliveryQueue{key: key}
		s.outbox.queues[key] = q
	}
	q.waiting = append(q.waiting, c)

	if !q.busy && !s.closing {
		q.busy = true
		s.deliveries.Go(func() { s.runQueue(q) })
	}
	s.markDirty()
}

// resumeQueues sets lanes going that were loaded from the state file.
func (s *Server) resumeQueues() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.outbox.queues {
		if len(q.waiting) > 0 && !q.busy {
			q.busy = true
			s.deliveries.Go(func() { s.runQueue(q) })
		}
	}
}

const batchSize = 100

// take removes the next batch from the lane: changes that have been tried
// equally often, so that a bad one holds up only its like.
func (q *deliveryQueue) take() []*change {
	attempts := q.waiting[0].Attempts
	n := 1
	for n < min(len(q.waiting), batchSize) && q.waiting[n].Attempts == attempts {
		n++
	}

	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// runQueue posts batches until the lane is empty.
func (s *Server) runQueue(q *deliveryQueue) {
	for {
		s.mu.Lock()
		if len(q.waiting) == 0 || s.ctx.Err() != nil {
			q.busy = false
			if len(q.waiting) == 0 {
				delete(s.outbox.queues, q.key)
			}
			s.mu.Unlock()
			return
		}
		batch := q.take()
		q.inFlight = batch
		target := firstOf(q.key.url, s.world.Hook.URL)
		s.mu.Unlock()

		err := s.post(target, q.key.account, batch)

		s.mu.Lock()
		s.finishBatch(q, err)
		s.mu.Unlock()
	}
}

// retryAfter is how long to wait after each failed attempt; then ever longer.
var retryAfter = []time.Duration{
	time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second,
}

const (
	longestRetry = 6 * time.Hour
	giveUpAfter  = 7 * 24 * time.Hour
)

func retryDelay(attempts int) time.Duration {
	if attempts <= len(retryAfter) {
		return retryAfter[attempts-1]
	}
	last := retryAfter[len(retryAfter)-1]
	return min(last<<min(attempts-len(retryAfter), 20), longestRetry)
}

// finishBatch drops delivered changes and schedules the others again, unless a
// reset has made them forgotten meanwhile.
func (s *Server) finishBatch(q *deliveryQueue, err error) {
	batch := q.inFlight
	q.inFlight = nil
	s.markDirty()

	if err == nil || len(batch) == 0 {
		s.outbox.pending -= len(batch)
		return
	}

	if s.ctx.Err() != nil {
		q.waiting = append(batch, q.waiting...) // not the receiver's fault
		return
	}

	now := nowMS()
	delay := retryDelay(batch[0].Attempts + 1).Milliseconds()
	batch = slices.DeleteFunc(batch, func(c *change) bool {
		c.Attempts++
		c.Next = now + delay
		given := c.Next-c.First > giveUpAfter.Milliseconds()
		if given {
			s.outbox.pending--
		}
		return given
	})

	if len(batch) > 0 {
		s.scheduleEvent(&event{Due: now + delay, retry: batch})
	}
}
