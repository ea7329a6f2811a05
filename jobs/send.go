package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"confab/jobs/errorcode"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

const kindSend = "send"

const (
	// maxTurnWait is how long a worker itself waits for a rate limit. Longer waits
	// are spent in the queue: after a crash, every leased send counts as a call
	// that may have begun, so none should be leased only to wait.
	maxTurnWait = 20 * time.Millisecond
	// maxSendPause is the longest Retry-After of the provider that is obeyed: a
	// message that arrives hours late helps no one.
	maxSendPause = 15 * time.Minute
	// maxPairWait is how long a message waits in the queue at once for the rate
	// limit of its recipient. Then it asks again, and its place is kept.
	maxPairWait = time.Hour
	// sendSpread is the part by which waits are made shorter or longer at random.
	sendSpread = 0.1
)

type sendArgs struct {
	storage.AboutMessage
	Content json.RawMessage `json:"content"` // only with fields that the provider knows
	// Passed says that the content is the whole body, as a client of the provider wrote it, and Kept
	// that the answer is kept.
	Passed bool `json:"passed,omitempty"`
	Kept   bool `json:"kept,omitempty"`

	// Of one that is sent later by a bot: its name, and the key that it used.
	Agent string `json:"agent,omitempty"`
	Key   string `json:"key,omitempty"`
}

func enqueueSend(tx *storage.Tx, m storage.Message, args sendArgs) error {
	return enqueue(tx, storage.NewJob{
		Kind:   kindSend,
		Lane:   "send:" + strconv.FormatInt(m.AccountID, 10),
		Args:   args,
		Memory: accepted{args, m, tx.Deletions()},
	})
}

// accepted is a message that the API accepted just now. It is the Memory of a job
// that runs at once, which need not read the message again.
type accepted struct {
	args      sendArgs
	message   storage.Message
	deletions int64
}

// outgoing is a message with the account and the token that send it.
type outgoing struct {
	message   storage.Message
	deletions int64 // DB.Deletions before the message was read
	sender    storage.Sender
	token     provider.Token
	began     time.Time    // this try at the provider
	beganAt   storage.Time // the same by the clock of the database
}

// sendRules are in what the sends of a direct message and of a broadcast's differ.
type sendRules struct {
	// check runs before the call, and may take a while. What it returns ends the run.
	check func(context.Context, storage.Job, outgoing) (queue.Commit, error)
	// concernsAccount reports whether the provider refused a message for a reason that holds
	// for others too. Such a refusal, and a token that cannot be read, go to refuse.
	concernsAccount func(error) bool
	refuse          func(context.Context, outgoing, messaging.Failure, ...storage.MessageTry) (queue.Commit, error)
}

func (w *Workers) send(ctx context.Context, job storage.Job) (queue.Commit, error) {
	fail := func(_ context.Context, out outgoing, why messaging.Failure, _ ...storage.MessageTry) (queue.Commit, error) {
		return failMessage(out, why), nil
	}
	return w.sendBy(ctx, job, sendRules{check: w.checkSend, concernsAccount: func(error) bool { return false }, refuse: fail})
}

// sendBy loads the message of a job, checks it, and hands it to the provider.
//
// The call is at least once: the provider has no idempotency key. So a call whose
// outcome is unknown is not repeated before a status callback, which carries our
// id of the message, has had time to arrive.
func (w *Workers) sendBy(ctx context.Context, job storage.Job, rules sendRules) (queue.Commit, error) {
	args, out, err := w.loadOutgoing(ctx, job)
	defer w.ahead.remove(args.Message)
	switch {
	case errors.Is(err, storage.ErrNotFound) && out.message.ID == "":
		return nil, nil // deleted meanwhile
	case errors.Is(err, storage.ErrNotFound):
		return func(tx *storage.Tx) error { return giveUpMessage(tx, args.AboutMessage, "The account was removed.") }, nil
	case errors.Is(err, storage.ErrSealed):
		return rules.refuse(ctx, out, messaging.Failure{
			Code:   errorcode.AuthExpired,
			Text:   "The account's access token cannot be read.",
			Own:    true,
			Effect: provider.Degraded,
		})
	case err != nil:
		return nil, err
	case out.message.Status != storage.MessageQueued && out.message.Status != storage.MessagePending:
		return nil, nil // a callback has reported how it ended
	case args.Passed:
		return w.passOn(ctx, job, args, out)
	}

	if commit, err := rules.check(ctx, job, out); commit != nil || err != nil {
		return commit, err
	}

	out.began, out.beganAt = time.Now(), w.DB.Now()
	content, err := w.prepareMedia(ctx, job, out, args.Content)
	if err != nil {
		return w.prepareFailed(ctx, job, out, err)
	}
	body, err := wireBody(out.message, content)
	if err != nil {
		return nil, err
	}

	if err := w.recheckSender(ctx, out); err != nil {
		return nil, err
	}
	if err := w.beginTrial(ctx, out); err != nil {
		return nil, err
	}
	var sent provider.Sent
	done, err := w.callProvider(ctx, out, func() (err error) {
		sent, err = w.Provider.Send(ctx, out.token, *out.sender.PhoneNumberID, body, nil)
		return err
	})
	switch {
	case done:
		return nil, err
	case queue.Stopped(ctx) && provider.OutcomeOf(err) == provider.NotSent && provider.IsTransient(err):
		return nil, queue.Postpone(0) // as if the run had not begun
	case queue.Stopped(ctx) && provider.IsTransient(err):
		return nil, err // only a callback can report the outcome
	case err != nil && rules.concernsAccount(err):
		return rules.refuse(ctx, out, messaging.FailureOf(err), failedTry(out, err))
	}
	return w.sendOutcome(job, out, sent, err)
}

// checkSend waits until a direct message may be sent, or fails it.
func (w *Workers) checkSend(ctx context.Context, job storage.Job, out outgoing) (queue.Commit, error) {
	if commit, err := w.reconcile(job, out); commit != nil || err != nil {
		return commit, err
	}
	if refused := w.refusalNow(job, out); refused != nil {
		return failMessage(out, refused.Failure()), nil
	}
	return nil, w.awaitTurn(ctx, job, out)
}

// reconcile waits for a callback that reports the outcome of an earlier call. The last retry
// may have ended with an unknown outcome too: when no callback came within the window, the
// message has failed.
func (w *Workers) reconcile(job storage.Job, out outgoing) (queue.Commit, error) {
	if job.CallBegunAt == 0 {
		return nil, nil // what failed then were we
	}
	if wait := w.Steady.Left(job.CallBegunAt, w.ReconcileWindow); wait > 0 {
		return nil, queue.Postpone(wait)
	}
	if job.Attempt() > len(w.SendRetries)+1 {
		return failMessage(out, messaging.Unreachable), nil
	}
	return nil, nil
}

// maxSendDelay is the longest that a message waits for its next run.
func (w *Workers) maxSendDelay() time.Duration {
	return max(maxPairWait, messaging.MaxCooldown, maxSendPause, w.ReconcileWindow, longestOf(w.SendRetries, sendSpread))
}

// giveUpSend ends the message of a job that failed for reasons of our own.
func giveUpSend(tx *storage.Tx, args sendArgs, why error) error {
	return giveUpMessage(tx, args.AboutMessage, "The message could not be sent: "+why.Error())
}

// loadOutgoing loads a job's message and its sender. A message that was accepted
// just now cannot have changed: no callback can be about it before the first call,
// and whether it was deleted is asked right before that. Its sender can, and is
// always loaded.
func (w *Workers) loadOutgoing(ctx context.Context, job storage.Job) (args sendArgs, out outgoing, err error) {
	if just, ok := job.Memory.(accepted); ok {
		args, out.message, out.deletions = just.args, just.message, just.deletions
	} else {
		out.deletions = w.DB.Deletions()
		if args, out.message, err = w.loadQueued(ctx, job); err != nil {
			return args, out, err
		}
	}

	out.sender, out.token, err = w.loadSender(ctx, out.message.AccountID)
	return args, out, err
}

func (w *Workers) loadQueued(ctx context.Context, job storage.Job) (args sendArgs, m storage.Message, err error) {
	if args, err = argsOf[sendArgs](job); err != nil {
		return args, m, err
	}

	m, err = storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Message, error) {
		return rx.OutboundMessage(args.Account, args.Message)
	})
	return args, m, err
}

// deletedMeanwhile reports whether a message was cancelled, or deleted with its contact, after
// it was read: while it waited for a slot, or its media was uploaded. It reads nothing
// unless somebody has deleted or cancelled messages since.
func (w *Workers) deletedMeanwhile(ctx context.Context, out outgoing) (bool, error) {
	if w.DB.Deletions() == out.deletions {
		return false, nil
	}

	m, err := storage.Query(ctx, w.DB, func(rx *storage.Rx) (storage.Message, error) {
		return rx.OutboundMessage(out.message.AccountID, out.message.ID)
	})
	if ctx.Err() != nil {
		return false, queue.Postpone(0) // stopped, and nothing was sent
	}
	return err != nil || m.Status == storage.MessageFailed, storage.IgnoreNotFound(err)
}

// loadSender finds an account and its token. The error is ErrSealed if there is a token that
// cannot be decrypted.
func (w *Workers) loadSender(ctx context.Context, account int64) (s storage.Sender, token provider.Token, err error) {
	if s, err = w.DB.Sender(ctx, account); err != nil {
		return s, token, err
	}

	plain, err := w.DB.AccessToken(ctx, s.Account)
	return s, provider.NewToken(plain), err
}

// refusalNow says why a message must not be sent any more, or nil: its account
// may not send, or the message has waited too long for the account's cooldown, which lasts
// until the provider has taken another one. How long is told by the job: rows of messages are
// dated ahead of a clock that was set back.
func (w *Workers) refusalNow(job storage.Job, out outgoing) *messaging.Refusal {
	waits := job.Attempt() == 1 && out.sender.CooldownUntil != 0
	if waits && w.DB.Now() >= job.CreatedAt.Add(messaging.MaxCooldown) {
		return &messaging.Refusal{Code: errorcode.AccountRateLimited, Text: "The account was rate limited for too long."}
	}
	return messaging.RefusalOf(out.sender)
}

// awaitTurn waits for the account's cooldown and for the rate limits. It returns
// what postpones the job if that takes long. Only a first try waits for the cooldown:
// retries have their own schedule, and find out whether the limit still holds.
func (w *Workers) awaitTurn(ctx context.Context, job storage.Job, out outgoing) error {
	if job.Attempt() == 1 && messaging.IsCoolingDown(out.sender.CooldownUntil, w.DB.Now()) {
		return queue.PostponeUntil(min(out.sender.CooldownUntil, job.CreatedAt.Add(messaging.MaxCooldown)))
	}
	if err := w.awaitTrial(job, out); err != nil {
		return err
	}

	wait := w.sends.reserve(out.message, maxTurnWait)
	if wait > maxTurnWait {
		return queue.Postpone(wait)
	}

	if !queue.Pause(ctx, wait) {
		return queue.Postpone(0)
	}
	return nil
}

// turnBy is how long a message that was accepted just now must wait by a limit, 0 if a worker itself waits so long.
func turnBy(limit func(storage.Message) time.Duration) func(storage.Job) time.Duration {
	return func(job storage.Job) time.Duration {
		if just, ok := job.Memory.(accepted); ok {
			if wait := limit(just.message); wait > maxTurnWait {
				return wait
			}
		}
		return 0
	}
}

// sendOutcome decides what becomes of a message: accepted, tried again, or failed.
func (w *Workers) sendOutcome(job storage.Job, out outgoing, sent provider.Sent, err error) (queue.Commit, error) {
	if err == nil {
		return w.markAccepted(out, sent), nil
	}

	failed := failedTry(out, err)
	tried := func(tx *storage.Tx) error { return markTried(tx, job, out.message, failed, err) }
	class := provider.ClassOf(err)
	retries := len(w.SendRetries)
	if class.Retries > 0 {
		retries = min(retries, class.Retries)
	}

	if class.Transient && job.Attempt() <= retries {
		delay := max(queue.Jitter(w.SendRetries[job.Attempt()-1], sendSpread), min(provider.RetryAfter(err), maxSendPause))
		return tried, queue.RetryAfter(delay, err)
	}

	// Out of retries: one more run, which looks whether a callback came meanwhile.
	if class.Transient && provider.OutcomeOf(err) == provider.Unknown {
		return tried, queue.RetryAfter(w.ReconcileWindow, err)
	}
	return failTry(out, failed, messaging.FailureOf(err)), nil
}

func (w *Workers) markAccepted(out outgoing, sent provider.Sent) queue.Commit {
	return func(tx *storage.Tx) error {
		if s := out.sender; s.CooldownUntil != 0 && !messaging.IsCoolingDown(s.CooldownUntil, tx.Now) {
			if err := tx.EndCooldown(s.ID, s.CooldownUntil); err != nil { // it is over, now that a message was taken
				return err
			}
		}
		to := messaging.NewPerson(sent.WaID, "", "")
		return w.Publisher.MarkAccepted(tx, out.sender.Account, out.message, sent.ID, to)
	}
}

func failMessage(out outgoing, f messaging.Failure) queue.Commit {
	return func(tx *storage.Tx) error { return messaging.FailMessage(tx, out.sender, out.message.ID, f) }
}

// giveUpMessage marks a message as failed that cannot be tried any more. If its account is gone,
// there is no event.
func giveUpMessage(tx *storage.Tx, about storage.AboutMessage, why string) error {
	m, err := tx.OutboundMessage(about.Account, about.Message)
	if err != nil || m.ProviderID != nil || m.Status == storage.MessageFailed {
		return storage.IgnoreNotFound(err)
	}

	s, err := tx.Sender(m.AccountID)
	if errors.Is(err, storage.ErrNotFound) {
		return tx.MarkFailed(&m, string(errorcode.UpstreamError), why, nil)
	}
	if err != nil {
		return err
	}
	return messaging.FailMessage(tx, s, m.ID, messaging.Failure{Code: errorcode.UpstreamError, Text: why, Own: true})
}
