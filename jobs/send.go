package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const kindSend = "send"

const (
	// turnPatience is how long a worker waits for a message's turn. Longer waits
	// are spent in the queue: after a crash, a lease must mean that a call may
	// have begun, and nothing else waits for callbacks then.
	turnPatience = 20 * time.Millisecond
	// maxCooldown is how long a message waits for an account that cools down.
	maxCooldown = 15 * time.Minute
	// maxSendPause is how long the provider may put off a message that it did
	// not take: a message that comes out of the blue hours later helps nobody.
	maxSendPause = 15 * time.Minute
)

type sendArgs struct {
	storage.AboutMessage
	Content json.RawMessage `json:"content"` // with the fields that the provider knows and no others
}

// EnqueueSend stores the job that hands a message to the provider.
func EnqueueSend(tx *storage.Tx, m storage.Message, content json.RawMessage) error {
	args := sendArgs{storage.AboutMessage{Message: m.ID}, content}
	_, err := tx.Enqueue(storage.NewJob{
		Kind: kindSend, Lane: "send:" + strconv.FormatInt(m.AccountID, 10), Args: args, Memory: accepted{args, m},
	})
	return err
}

// accepted is a message that was accepted just now, for a job that follows at once.
type accepted struct {
	args    sendArgs
	message storage.Message
}

// outgoing is a message with what it takes to send it.
type outgoing struct {
	message storage.Message
	sender  storage.Sender
	token   provider.Token
}

// send hands a queued message to the provider.
//
// The call is at least once: the provider knows no idempotency key. What may
// have been accepted is therefore not repeated before a status callback, which
// carries the message's id, has had time to tell.
func (w *Workers) send(ctx context.Context, job storage.Job) (queue.Commit, error) {
	args, out, err := w.outgoing(ctx, job)
	switch {
	case errors.Is(err, storage.ErrNotFound) && out.message.ID == "":
		return nil, nil // deleted meanwhile
	case errors.Is(err, storage.ErrNotFound):
		return giveUpMessage(out.message.ID, "The account was removed."), nil
	case errors.Is(err, ErrToken):
		return failing(out, failure{code: authExpired, text: "The account's access token cannot be read.", own: true, effect: provider.Degraded}), nil
	case err != nil:
		return nil, err
	case out.message.Status != storage.MessageQueued && out.message.Status != storage.MessagePending:
		return nil, nil // settled by a callback
	}
	if wait := w.reconciling(job); wait > 0 {
		return nil, queue.Postpone(wait)
	}
	if job.Attempt() > len(w.SendRetries)+1 {
		return failing(out, failure{code: UpstreamError, text: unreachable}), nil // the last call's outcome stayed unknown
	}
	if refused := refusedNow(job, out); refused != nil {
		return failing(out, failure{code: refused.Code, text: refused.Text, own: true}), nil
	}
	if err := w.awaitTurn(ctx, job, out); err != nil {
		return nil, err
	}
	content, err := w.prepareMedia(ctx, job, out, args.Content)
	if err != nil {
		return w.notPrepared(ctx, job, out, err)
	}
	body, err := wireBody(out.message, content)
	if err != nil {
		return nil, err
	}
	sent, err := w.Provider.Send(ctx, out.token, *out.sender.PhoneNumberID, body)
	if ctx.Err() != nil && provider.Transient(err) {
		return nil, brokenOff(err)
	}
	return w.sent(job, out, sent, err)
}

// brokenOff is a call that a stop cut short: as good as not begun, if nothing left
// us, and otherwise something that only a callback can tell.
func brokenOff(err error) error {
	if provider.OutcomeOf(err) == provider.NotSent {
		return queue.Postpone(0)
	}
	return err
}

// giveUpSend ends the message of a job that failed for reasons of our own.
func giveUpSend(job storage.Job, failure error) queue.Commit {
	var args sendArgs
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return func(*storage.Tx) error { return nil } // names no message
	}
	return giveUpMessage(args.Message, "The message could not be sent: "+failure.Error())
}

// outgoing is a job's message and its sender. A message that was accepted just
// now has not changed since then: nobody else has touched it, and no callback
// can be about it before the first call. Its sender may have.
func (w *Workers) outgoing(ctx context.Context, job storage.Job) (args sendArgs, out outgoing, err error) {
	if just, ok := job.Memory.(accepted); ok {
		args, out.message = just.args, just.message
	} else if args, out.message, err = w.queued(ctx, job); err != nil {
		return args, out, err
	}
	out.sender, out.token, err = w.sender(ctx, out.message.AccountID)
	return args, out, err
}

// queued reads the message of a job that has waited in the queue.
func (w *Workers) queued(ctx context.Context, job storage.Job) (args sendArgs, m storage.Message, err error) {
	if err := json.Unmarshal(job.Args, &args); err != nil {
		return args, m, fmt.Errorf("arguments: %w", err)
	}
	err = w.DB.View(ctx, func(rx *storage.Rx) (err error) {
		m, err = rx.OutboundMessage(args.Message)
		return err
	})
	return args, m, err
}

// sender finds an account and its token.
func (w *Workers) sender(ctx context.Context, account int64) (s storage.Sender, token provider.Token, err error) {
	if s, err = w.DB.Sender(ctx, account); err != nil {
		return s, token, err
	}
	plain, err := w.DB.AccessToken(ctx, s.Account)
	if err != nil {
		return s, token, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return s, provider.NewToken(plain), nil
}

// reconciling is how long a job whose call may have had its effect still waits
// for a callback. While we were down none could come, so it counts from our start.
func (w *Workers) reconciling(job storage.Job) time.Duration {
	if job.CallBegunAt == 0 {
		return 0
	}
	return max(job.CallBegunAt, w.started).Add(w.ReconcileWindow).Sub(storage.Now())
}

// refusedNow tells why a message must not be sent any more, or nil: what its
// account may not do, or has had to wait for too long.
func refusedNow(job storage.Job, out outgoing) *Refusal {
	if cooling(job, out) && storage.Now() >= out.message.CreatedAt.Add(maxCooldown) {
		return &Refusal{AccountRateLimited, "The account was rate limited for too long."}
	}
	return Refused(out.sender)
}

// cooling tells whether a message waits for its account to cool down. One that
// was tried does not: it has a schedule of its own, and finds out whether the
// account is well again.
func cooling(job storage.Job, out outgoing) bool {
	return job.Attempt() == 1 && storage.Now() < out.sender.CooldownUntil
}

// awaitTurn waits for what must pass before the call: the account's cooldown and
// the rates.
func (w *Workers) awaitTurn(ctx context.Context, job storage.Job, out outgoing) error {
	if cooling(job, out) {
		return queue.PostponeUntil(min(out.sender.CooldownUntil, out.message.CreatedAt.Add(maxCooldown)))
	}
	wait := w.pace.take(out.message, turnPatience)
	if wait > turnPatience {
		return queue.Postpone(wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return queue.Postpone(0)
	}
}

// sent decides what becomes of a message after its call.
func (w *Workers) sent(job storage.Job, out outgoing, sent provider.Sent, err error) (queue.Commit, error) {
	if err == nil {
		return func(tx *storage.Tx) error { return w.Host.settle(tx, out.sender.Account, out.message, sent.ID) }, nil
	}
	tried := func(tx *storage.Tx) error { return markTried(tx, job, out.message, err) }
	class := provider.ClassOf(err)
	retries := len(w.SendRetries)
	if class.Retries > 0 {
		retries = min(retries, class.Retries)
	}
	if class.Transient && job.Attempt() <= retries {
		delay := max(jitter(w.SendRetries[job.Attempt()-1]), min(provider.RetryAfter(err), maxSendPause))
		return tried, queue.RetryAfter(delay, err)
	}
	if class.Transient && provider.OutcomeOf(err) == provider.Unknown {
		return tried, queue.RetryAfter(w.ReconcileWindow, err) // a callback may still tell
	}
	return failing(out, failureOf(err)), nil
}

// markTried records a try that failed for now.
func markTried(tx *storage.Tx, job storage.Job, m storage.Message, failed error) error {
	if provider.EffectOf(failed) == provider.Cooldown {
		if err := tx.CoolDown(m.AccountID, tx.Now.Add(maxCooldown)); err != nil {
			return err
		}
	}
	if provider.OutcomeOf(failed) == provider.Unknown {
		if err := tx.MarkCallBegun(job); err != nil {
			return err
		}
	}
	return tx.MarkPending(m.ID)
}

// jitter spreads a delay by a tenth both ways.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64()))
}

// wireMessage is a message around its content, in our own dialect.
type wireMessage struct {
	MessagingProduct string       `json:"messaging_product"`
	RecipientType    string       `json:"recipient_type"`
	To               *string      `json:"to,omitempty"`
	Recipient        *string      `json:"recipient,omitempty"`
	Context          storage.JSON `json:"context,omitempty"`
	Type             string       `json:"type"`
	Tag              string       `json:"biz_opaque_callback_data"`
}

// wireBody is the message as the provider takes it, with our id along so that
// every status callback names it.
func wireBody(m storage.Message, content json.RawMessage) ([]byte, error) {
	around := wireMessage{
		MessagingProduct: "chat", RecipientType: "individual", Recipient: m.Recipient, Context: m.Context, Type: m.Type, Tag: m.ID,
	}
	if m.Recipient == nil {
		around.To = m.PhoneNumber
	}
	body, err := json.Marshal(around)
	if err != nil {
		return nil, err
	}
	body = append(body[:len(body)-1], `,"`+m.Type+`":`...) // a type is one of our own words
	return provider.ToProvider(append(append(body, content...), '}'))
}
