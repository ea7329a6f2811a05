package jobs

import (
	"errors"
	"strings"
	"time"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/jobs/queue"
	"confab/storage"
)

// failedTry is a try at the provider that failed just now, as it is kept for the trace of
// its message.
func failedTry(out outgoing, failed error) storage.MessageTry {
	t := storage.MessageTry{
		BeganAt:    out.beganAt,
		DurationMS: time.Since(out.began).Milliseconds(),
		Reason:     failed.Error(),
	}

	e, ok := errors.AsType[*provider.Error](failed)
	if !ok {
		return t
	}
	if e.Status != 0 {
		t.HTTPStatus = &e.Status
	}
	t.Reason = strings.TrimPrefix(t.Reason, e.Op+": ")
	if e.Code != provider.NoCode {
		t.Code, t.Reason = &e.Code, messaging.FailureOf(failed).Text
	}
	if e.Answer != "" {
		t.Answer = &e.Answer
	}
	return t
}

// failTry is failMessage for a message whose last try failed.
func failTry(out outgoing, try storage.MessageTry, f messaging.Failure) queue.Commit {
	fail := failMessage(out, f)
	return func(tx *storage.Tx) error {
		if err := tx.InsertMessageTry(out.message, try); err != nil {
			return err
		}
		return fail(tx)
	}
}

// markTried records a failed try that is followed by another one.
func markTried(tx *storage.Tx, job storage.Job, m storage.Message, try storage.MessageTry, failed error) error {
	if err := tx.InsertMessageTry(m, try); err != nil {
		return err
	}

	if provider.EffectOf(failed) == provider.Cooldown {
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
