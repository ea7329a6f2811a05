package jobs

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// Answers tells the clients of the gateway what became of the messages that they wait for. It is
// in memory: who waits holds no transaction and reads nothing.
type Answers struct {
	mu      sync.Mutex
	waiting map[string][]chan provider.Answer // by message
}

// Await returns where the answer to a message comes, and what ends the waiting. An answer
// without a status says only that the message has changed.
func (a *Answers) Await(message string) (<-chan provider.Answer, func()) {
	a.mu.Lock()
	defer a.mu.Unlock()

	c := make(chan provider.Answer, 1)
	a.waiting[message] = append(a.waiting[message], c)
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()

		left := slices.DeleteFunc(a.waiting[message], func(other chan provider.Answer) bool { return other == c })
		if a.waiting[message] = left; len(left) == 0 {
			delete(a.waiting, message)
		}
	}
}

// Tell gives an answer to those who wait for it. It never waits: who was told of a change and has
// not looked yet gets the answer instead.
func (a *Answers) Tell(message string, answer provider.Answer) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()

	for _, c := range a.waiting[message] {
		if answer.Status != 0 {
			select {
			case <-c:
			default:
			}
		}
		select {
		case c <- answer:
		default:
		}
	}
}

// EnqueuePassed stores the job that hands a message to the provider in the words of its client.
// Kept says that the answer is kept for those who ask again.
func EnqueuePassed(tx *storage.Tx, m storage.Message, body json.RawMessage, kept bool) error {
	tagged := provider.SetMember(body, provider.TagMember, json.RawMessage(`"`+m.ID+`"`))
	return enqueueSend(tx, m, sendArgs{AboutMessage: storage.NewAboutMessage(m), Content: tagged, Passed: true, Kept: kept})
}

// passOn hands a message of a client of the gateway to the provider, once: what the provider
// answers is the client's answer, and a failure is final. A message that did not get its turn
// within the client's patience is cancelled. If it is unknown whether the provider has it, only
// callbacks tell.
func (w *Workers) passOn(ctx context.Context, job storage.Job, args sendArgs, out outgoing) (queue.Commit, error) {
	switch {
	case job.CallBegunAt != 0:
		return func(tx *storage.Tx) error { return tx.MarkPending(out.message) }, nil
	case w.DB.Now() >= job.CreatedAt.Add(w.GatewayWait):
		return func(tx *storage.Tx) error {
			m := out.message
			tx.AfterCommit(func() { w.Answers.Tell(args.Message, provider.Answer{}) })
			_, err := CancelMessage(tx, &m)
			return err
		}, nil
	}

	if refused := w.refusalNow(job, out); refused != nil {
		fail := failMessage(out, refused.Failure())
		return w.answered(args, out, provider.Answer{}, fail), nil
	}
	if err := w.awaitTurn(ctx, job, out); err != nil {
		return nil, err
	}
	if err := w.beginTrial(ctx, out); err != nil {
		return nil, err
	}

	out.began = time.Now()
	var sent provider.Sent
	var answer provider.Answer

	// A callback that was faster has ended the job, and the outcome is not stored. This runs before
	// the call counts as ended.
	queue.OnSettled(ctx, func() {
		if sent.ID != "" {
			w.Answers.Tell(args.Message, answer)
		}
	})
	done, err := w.callProvider(ctx, out, func() (err error) {
		sent, err = w.Provider.Send(ctx, out.token, *out.sender.PhoneNumberID, args.Content, &answer)
		return err
	})
	if done {
		return nil, err
	}
	return w.passedOutcome(ctx, args, out, sent, answer, err)
}

// passedOutcome decides what becomes of a message after its only call.
func (w *Workers) passedOutcome(
	ctx context.Context, args sendArgs, out outgoing, sent provider.Sent, answer provider.Answer, err error,
) (queue.Commit, error) {
	switch provider.OutcomeOf(err) {
	case provider.Done:
		return w.answered(args, out, answer, w.markAccepted(out, sent)), nil

	case provider.Unknown:
		// A callback may have told the id already, to clients that still waited for the answer. What came
		// in place of a readable answer, as of a proxy that has failed, is passed on like any other.
		queue.OnSettled(ctx, func() { w.Answers.Tell(args.Message, answer) })
		return func(tx *storage.Tx) error {
			if err := tx.InsertMessageTry(out.message, failedTry(out, err)); err != nil {
				return err
			}
			return tx.MarkPending(out.message)
		}, nil

	case provider.NotSent:
		if queue.Stopped(ctx) {
			return nil, queue.Postpone(0)
		}
		answer = provider.Refusal{
			Status: http.StatusServiceUnavailable, Code: provider.CodeService, IsTransient: true, Trace: out.message.ID,
			Details: string(messaging.Unreachable.Code) + ": " + messaging.Unreachable.Text,
		}.Answer()
	}
	return w.answered(args, out, answer, failTry(out, failedTry(out, err), messaging.FailureOf(err))), nil
}

// answered is what stores how a message ended, keeps the answer for those who ask again, and
// tells it to those who wait.
func (w *Workers) answered(args sendArgs, out outgoing, answer provider.Answer, end queue.Commit) queue.Commit {
	return func(tx *storage.Tx) error {
		if err := end(tx); err != nil {
			return err
		}
		if args.Kept && answer.Status != 0 {
			kept := storage.GatewaySend{Status: answer.Status, ContentType: answer.Type, Answer: answer.Body}
			if err := tx.SaveGatewayAnswer(out.message, kept); err != nil {
				return err
			}
		}
		tx.AfterCommit(func() { w.Answers.Tell(args.Message, answer) })
		return nil
	}
}
