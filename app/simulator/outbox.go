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
// Its states are: waiting in a delivery queue, the first ones perhaps being posted as one
// batch; or in the timeline, waiting for another attempt, or after a restart for the first.
// It is gone when the app answered 200, or when the next attempt would come more than 7 days
// after the first. A queue has a goroutine of its own and is removed when it is empty. Batches
// hold changes with the same number of attempts.
//
// All of it is guarded by Server.mu, which is released while a batch is posted.
// outbox.pending counts the changes in all states. Delivery is at least
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
}

// queueKey gives each account and URL a queue of its own, so that a receiver
// that hangs does not delay the others.
type queueKey struct{ account, url string }

// deliveryQueue holds the changes for one account and URL. They are posted one
// batch after another, so that updates arrive in order while nothing fails.
type deliveryQueue struct{ waiting []*change }

// outbox holds the changes that are to be posted. A reset replaces it: the queues of the old
// one end.
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

	return "", s.world.Hook.wants(field)
}

// queueUpdate queues an update about a number, which it names.
func (s *Server) queueUpdate(n *number, field string, v value) {
	if url, ok := s.targetOf(n.Account, n, field); ok {
		v.Product, v.Metadata = "whatsapp", metadata{n.Phone, n.ID}
		s.enqueueNew(&change{Account: n.Account, URL: url, Field: field}, v)
	}
}

// queueAccountUpdate queues an update about an account, with its time.
func (s *Server) queueAccountUpdate(accountID, field string, v any) {
	if url, ok := s.targetOf(accountID, nil, field); ok {
		s.enqueueNew(&change{Account: accountID, URL: url, Field: field, Time: s.nowMS() / 1000}, v)
	}
}

// enqueueNew counts a change and puts it into its queue, unless too many are waiting.
func (s *Server) enqueueNew(c *change, v any) {
	if s.outbox.pending >= maxPending {
		s.log.Warn("callback dropped", "account", c.Account, "field", c.Field, "waiting", s.outbox.pending)
		return
	}

	c.Value, c.First = marshal(v), s.nowMS()
	s.outbox.pending++
	s.enqueue(c)
}

// enqueue puts a change into its queue, which is made and started if there is none.
func (s *Server) enqueue(c *change) {
	key := queueKey{c.Account, c.URL}
	q := s.outbox.queues[key]
	if q == nil {
		q = &deliveryQueue{}
		s.outbox.queues[key] = q
		if !s.closing {
			s.work.Go(func() { s.runQueue(key, q) })
		}
	}

	q.waiting = append(q.waiting, c)
	s.markDirty()
}

const batchSize = 100

// next is the next batch of the queue: changes that were tried equally
// often, so that new ones are not delayed by those that failed before.
func (q *deliveryQueue) next() []*change {
	batch := q.waiting[:min(len(q.waiting), batchSize)]
	other := slices.IndexFunc(batch, func(c *change) bool { return c.Attempts != batch[0].Attempts })
	if other > 0 {
		return batch[:other]
	}
	return batch
}

// runQueue posts batches until the queue is empty, the outbox is replaced or the server closes.
func (s *Server) runQueue(key queueKey, q *deliveryQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for s.outbox.queues[key] == q && s.ctx.Err() == nil {
		if len(q.waiting) == 0 {
			delete(s.outbox.queues, key)
			return
		}
		batch := q.next()
		target := firstOf(key.url, s.world.Hook.URL) // it may have changed since the change was queued

		s.mu.Unlock()
		err := s.post(target, key.account, batch)
		s.mu.Lock()

		if s.outbox.queues[key] == q {
			s.finishBatch(q, batch, err)
		}
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

func (s *Server) finishBatch(q *deliveryQueue, batch []*change, err error) {
	s.markDirty()
	if err != nil && s.ctx.Err() != nil {
		return // closing cut it off, which is no failed attempt
	}

	now := s.nowMS()
	var again []*change
	for _, c := range batch {
		c.Attempts++
		c.Next = now + retryDelay(c.Attempts).Milliseconds()
		if err != nil && c.Next-c.First <= giveUpAfter.Milliseconds() {
			again = append(again, c)
		}
	}

	s.outbox.pending -= len(batch) - len(again)
	q.waiting = slices.Delete(q.waiting, 0, len(batch))
	if len(again) > 0 {
		s.scheduleEvent(&event{Due: again[0].Next, retry: again})
	}
}
