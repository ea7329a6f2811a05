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

// change is one update for the app, named as in the payload of callbacks.
//
// Its states are: waiting in a delivery queue; in flight, as part of the one
// batch that the queue is posting; or in the timeline, waiting for another
// attempt. It is gone when the app answered 200, or when the next attempt would
// come more than 7 days after the first. Queues are made when something is
// enqueued, have one goroutine each while they are busy, and are removed when
// they are empty. Batches hold changes with the same number of attempts.
//
// All of it is guarded by Server.mu, which is released while a batch is posted.
// outbox.pending counts the changes in all three states. Delivery is at least
// once, and in order for each account and URL while nothing fails.
type change struct {
	Account  string          `json:"account"`
	URL      string          `json:"url,omitempty"` // when it is not the app's own
	Field    string          `json:"field"`
	Value    json.RawMessage `json:"value"`
	Time     int64           `json:"time,omitempty"` // of an account's entry, seconds
	First    int64           `json:"first"`
	Next     int64           `json:"next,omitempty"`
	Attempts int             `json:"attempts,omitempty"`

	content any // what Value will be made of, outside the lock
}

// encoded returns the change's value as JSON. Only attempts and times of a
// change ever vary, so this needs no lock.
func (c *change) encoded() (json.RawMessage, error) {
	if c.content == nil {
		return c.Value, nil
	}
	return marshal(c.content)
}

// MarshalJSON encodes a change for the state file.
func (c *change) MarshalJSON() ([]byte, error) {
	type plain change
	copied := plain(*c)

	var err error
	if copied.Value, err = c.encoded(); err != nil {
		return nil, err
	}
	return marshal(copied)
}

// queueKey gives each account and URL a queue of its own, so that a receiver
// that hangs does not delay the others.
type queueKey struct{ account, url string }

// deliveryQueue holds the changes for one account and URL. They are posted one
// batch after another, so that updates arrive in order while nothing fails.
type deliveryQueue struct {
	key      queueKey
	waiting  []*change
	inFlight []*change
	busy     bool
}

// outbox holds the changes that are waiting or in flight.
type outbox struct {
	queues  map[queueKey]*deliveryQueue
	pending int
}

// maxPending limits the changes that wait for a receiver that is down; later
// ones are dropped, and logged.
const maxPending = 100_000

func newOutbox() outbox { return outbox{queues: map[queueKey]*deliveryQueue{}} }

// targetOf finds where an update goes: to the override of the number, else of
// the account, else to the app. For the app the URL is left empty, so that
// pending updates follow when its URL changes. No updates are wanted about
// accounts that the app is not subscribed to.
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

// queueUpdate queues an update about a number, which it names.
func (s *Server) queueUpdate(n *number, field string, v value) {
	if url, ok := s.targetOf(n.Account, n, field); ok {
		v.Product, v.Metadata = "whatsapp", metadata{n.Phone, n.ID}
		s.enqueueNew(&change{Account: n.Account, URL: url, Field: field, First: s.nowMS(), content: v})
	}
}

// queueAccountUpdate queues an update about an account, with its time.
func (s *Server) queueAccountUpdate(accountID, field string, v any) {
	if url, ok := s.targetOf(accountID, nil, field); ok {
		now := s.nowMS()
		s.enqueueNew(&change{Account: accountID, URL: url, Field: field, First: now, Time: now / 1000, content: v})
	}
}

// enqueueNew counts a change and puts it into its queue, unless too many are waiting.
func (s *Server) enqueueNew(c *change) {
	if s.outbox.pending >= maxPending {
		s.log.Warn("callback dropped: too many are waiting", "account", c.Account, "field", c.Field)
		return
	}
	s.outbox.pending++
	s.enqueue(c)
}

// enqueue puts a change into its queue, and starts the queue if it is idle.
func (s *Server) enqueue(c *change) {
	q := s.outbox.queueOf(c)
	q.waiting = append(q.waiting, c)
	s.startQueue(q)
	s.markDirty()
}

// queueOf finds or makes the queue of a change.
func (o *outbox) queueOf(c *change) *deliveryQueue {
	key := queueKey{c.Account, c.URL}
	if o.queues[key] == nil {
		o.queues[key] = &deliveryQueue{key: key}
	}
	return o.queues[key]
}

// startQueue lets a queue that is idle post its changes.
func (s *Server) startQueue(q *deliveryQueue) {
	if !q.busy && !s.closing {
		q.busy = true
		s.deliveries.Go(func() { s.runQueue(q) })
	}
}

// resumeQueues starts the queues that were loaded from the state file.
func (s *Server) resumeQueues() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.outbox.queues {
		s.startQueue(q)
	}
}

const batchSize = 100

// take removes the next batch from the queue: changes that were tried equally
// often, so that new ones are not delayed by those that failed before.
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

// runQueue posts batches until the queue is empty or the server closes.
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

		// The app's URL may have changed since the change was queued.
		target := firstOf(q.key.url, s.world.Hook.URL)
		s.mu.Unlock()

		err := s.post(target, q.key.account, batch)

		s.mu.Lock()
		s.finishBatch(q, err)
		s.mu.Unlock()
	}
}

// retryAfter is how long to wait after each failed attempt; after the last of
// them the wait doubles each time, up to longestRetry.
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

// finishBatch drops the changes of a delivered batch and schedules those of a
// failed one again. A reset meanwhile has emptied the batch.
func (s *Server) finishBatch(q *deliveryQueue, err error) {
	batch := q.inFlight
	q.inFlight = nil
	s.markDirty()

	if err == nil || len(batch) == 0 {
		s.outbox.pending -= len(batch)
		return
	}

	if s.ctx.Err() != nil {
		q.waiting = append(batch, q.waiting...) // closing cut it off, which is no failed attempt
		return
	}

	now := s.nowMS()
	delay := retryDelay(batch[0].Attempts + 1).Milliseconds()
	batch = slices.DeleteFunc(batch, func(c *change) bool {
		c.Attempts++
		c.Next = now + delay
		expired := c.Next-c.First > giveUpAfter.Milliseconds()
		if expired {
			s.outbox.pending--
		}
		return expired
	})

	if len(batch) > 0 {
		s.scheduleEvent(&event{Due: now + delay, retry: batch})
	}
}
