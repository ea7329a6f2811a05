package jobs

import (
	"context"
	"sync"
	"time"

	"confab/jobs/queue"
)

// cancelPause is how long a send waits for the end of the request that cancels it.
const cancelPause = 100 * time.Millisecond

// SendCalls knows which messages are being handed to the provider and which are being
// cancelled, so that no message is both. A message can be cancelled until its call begins;
// when the outcome of the call is stored, that says whether it can be again.
//
// It is about this process. Which calls had begun when another one ended, is in the jobs
// (storage.CallMayHaveBegun).
type SendCalls struct {
	mu        sync.Mutex
	begun     map[string]bool
	cancelled map[string]bool
}

// NewSendCalls knows of no call.
func NewSendCalls() *SendCalls {
	return &SendCalls{begun: make(map[string]bool), cancelled: make(map[string]bool)}
}

// begin begins the call of a message, unless somebody is cancelling it.
func (c *SendCalls) begin(message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.cancelled[message] {
		return false
	}
	c.begun[message] = true
	return true
}

// Begun reports whether the call of a message has begun and has no stored outcome.
func (c *SendCalls) Begun(message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun[message]
}

func (c *SendCalls) end(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.begun, message)
}

// Cancel keeps a message from being sent until EndCancel is called, when the message is
// stored as cancelled or is to be sent after all. It returns false for a message whose call
// has begun and has no stored outcome, or that somebody else is cancelling.
func (c *SendCalls) Cancel(message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.begun[message] || c.cancelled[message] {
		return false
	}
	c.cancelled[message] = true
	return true
}

// EndCancel ends what Cancel began.
func (c *SendCalls) EndCancel(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.cancelled, message)
}

// callProvider hands a message to the provider, unless it was deleted or cancelled
// meanwhile: then it is done with it. From the beginning of the call until its outcome is
// stored, the message cannot be cancelled.
func (w *Workers) callProvider(ctx context.Context, out outgoing, call func() error) (done bool, err error) {
	if !w.Calls.begin(out.message.ID) {
		return true, queue.Postpone(cancelPause)
	}
	queue.OnSettled(ctx, func() { w.Calls.end(out.message.ID) })

	if gone, err := w.deletedMeanwhile(ctx, out); err != nil || gone {
		return true, err
	}
	if w.Fence != nil {
		if err := w.Fence(ctx); err != nil {
			return true, err
		}
	}
	return false, call()
}
