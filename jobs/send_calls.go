package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// cancelPause is how long a send waits for the end of the request that cancels it.
const cancelPause = 100 * time.Millisecond

// SendCalls knows which messages are being handed to the provider and which are being
// cancelled, so that no message is both. A message can be cancelled until its call begins;
// when the outcome of the call is stored, that says whether it can be again.
//
// It is about this process. Which calls had begun when another one ended, is in the jobs
// (storage.CallMayHaveBegun) as soon as the runner has freed those that were running.
type SendCalls struct {
	states sync.Map // callBegun or callCancelled, by message

	// Recovered is closed when the runner has freed those jobs; nil if there is none to wait for.
	Recovered <-chan struct{}
}

const (
	callBegun = iota
	callCancelled
)

// begin begins the call of a message, unless somebody is cancelling it.
func (c *SendCalls) begin(message string) bool {
	state, _ := c.states.LoadOrStore(message, callBegun)
	return state == callBegun
}

// Begun reports whether the call of a message has begun and has no stored outcome.
func (c *SendCalls) Begun(message string) bool {
	state, _ := c.states.Load(message)
	return state == callBegun
}

func (c *SendCalls) end(message string) { c.states.CompareAndDelete(message, callBegun) }

// Cancel keeps a message from being sent until EndCancel is called, when the message is
// stored as cancelled or is to be sent after all. It returns false for a message whose call
// has begun and has no stored outcome, or that somebody else is cancelling. Right after a start
// it waits until it is stored which calls the process before had begun, or until ctx ends.
func (c *SendCalls) Cancel(ctx context.Context, message string) bool {
	if c.Recovered != nil {
		select {
		case <-c.Recovered:
		case <-ctx.Done():
			return false
		}
	}
	_, known := c.states.LoadOrStore(message, callCancelled)
	return !known
}

// EndCancel ends what Cancel began.
func (c *SendCalls) EndCancel(message string) { c.states.CompareAndDelete(message, callCancelled) }

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

// wireMessage is the provider's message without its content, in our own words.
type wireMessage struct {
	MessagingProduct string       `json:"messaging_product"`
	RecipientType    string       `json:"recipient_type"`
	To               *string      `json:"to,omitempty"`
	Recipient        *string      `json:"recipient,omitempty"`
	Context          storage.JSON `json:"context,omitempty"`
	Type             string       `json:"type"`
	Tag              string       `json:"biz_opaque_callback_data"`
}

// wireBody is the request body of a send. It carries our id of the message, which
// comes back with every status callback.
func wireBody(m storage.Message, content json.RawMessage) ([]byte, error) {
	around := wireMessage{
		MessagingProduct: "chat",
		RecipientType:    "individual",
		Recipient:        m.Recipient,
		Context:          m.Context,
		Type:             m.Type,
		Tag:              m.ID,
	}
	if m.Recipient == nil {
		around.To = m.PhoneNumber
	}

	body, err := json.Marshal(around)
	if err != nil {
		return nil, err
	}

	// The content is under the name of its type, one of a fixed list without escapes.
	body = append(body[:len(body)-1], `,"`+m.Type+`":`...)
	return provider.ToProvider(append(append(body, content...), '}'))
}

// failedTry is a try that failed just now, for the trace of its message.
func failedTry(out outgoing, failed error) storage.MessageTry {
	t := storage.MessageTry{BeganAt: out.beganAt, DurationMS: time.Since(out.began).Milliseconds(), Reason: failed.Error()}
	if e, ok := errors.AsType[*provider.Error](failed); ok {
		t.HTTPStatus, t.Answer = storage.OrNil(e.Status), storage.OrNil(e.Answer)
		t.Reason = strings.TrimPrefix(t.Reason, e.Op+": ")
		if e.Code != provider.NoCode {
			t.Code, t.Reason = &e.Code, messaging.FailureOf(failed).Text
		}
	}
	return t
}

// failTry is failMessage for a message whose last try failed.
func failTry(out outgoing, try storage.MessageTry, f messaging.Failure) queue.Commit {
	return func(tx *storage.Tx) error {
		if err := tx.InsertMessageTry(out.message, try); err != nil {
			return err
		}
		return failMessage(out, f)(tx)
	}
}

// markTried records a failed try that is followed by another one.
func markTried(tx *storage.Tx, job storage.Job, m storage.Message, try storage.MessageTry, failed error) error {
	if err := tx.InsertMessageTry(m, try); err != nil {
		return err
	}

	if provider.ClassOf(failed).Effect == provider.Cooldown {
		if err := tx.SetCooldown(m.AccountID, tx.Now.Add(messaging.MaxCooldown)); err != nil {
			return err
		}
	}
	if provider.OutcomeOf(failed) == provider.Unknown {
		if err := tx.MarkCallBegun(job); err != nil {
			return err
		}
	}
	return tx.MarkPending(m)
}
