package messaging

import (
	"encoding/json"
	"errors"
	"time"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// ErrRepeat says that a callback tells what another has told before. What little is new in it is
// written: it is no failure.
var ErrRepeat = errors.New("the callback is a repeat")

// ApplyStatus moves a message to the status that a callback reports and emits
// message.status, once for each distinct status. The envelope is the callback,
// reduced to this status.
//
// Budget: with finding the message three statements, which change it in place and add
// the event; and one that counts, for all messages of the commit. TestCallbacksKeepToTheirBudget
// holds it, and that of a message that comes in from somebody known: three, which move the
// conversation in one index, and add the message to its table and four indexes, and the
// event; and one that counts.
func ApplyStatus(tx *storage.Tx, account storage.Account, m *storage.Message, status provider.Status, envelope []byte) error {
	price := pricingOf(m, status)
	first, err := tx.MarkStatus(m, status.Status, ReportedTime(status.Timestamp, tx.Now), price)
	if err == nil && !first && price != nil && m.Pricing == nil {
		err = tx.RecordPricing(m, price)
	}
	if err == nil && !first {
		err = ErrRepeat
	}
	if err != nil {
		return err
	}

	if status.Status == storage.MessageFailed {
		if err := recordReportedFailure(tx, m, append(status.Errors, noReason)[0]); err != nil {
			return err
		}
	}

	return event.MessageStatus(SubjectOf(account), status.ID, envelope).Emit(tx)
}

// pricingOf is the pricing of a message: what is stored, or else what a callback says.
func pricingOf(m *storage.Message, status provider.Status) *storage.Pricing {
	raw := json.RawMessage(m.Pricing)
	if raw == nil {
		raw = status.Pricing
	}

	p, ok := provider.ReadPricing(raw)
	if !ok {
		return nil
	}
	return &storage.Pricing{Raw: storage.JSON(raw), Category: p.Category, Billable: p.Billable != nil && *p.Billable}
}

// recordReportedFailure records the reason that a callback gives for a failed
// message. One that had failed before keeps its first reason, as its event said.
func recordReportedFailure(tx *storage.Tx, m *storage.Message, fault provider.Fault) error {
	f := failureOf(fault, fault.Class())
	if err := tx.MarkFailed(m, string(f.Code), f.Text, f.ProviderCode); err != nil {
		return err
	}
	if m.Broadcast != nil && fault.IsTemplateUnusable() {
		if err := tx.PauseActiveBroadcast(*m.Broadcast, string(f.Code)); err != nil {
			return err
		}
	}
	return ApplyEffect(tx, *m, f)
}

// ReportedTime is the time that the provider reports in seconds, or now if that is
// missing or too far in the future.
func ReportedTime(seconds provider.Int, now storage.Time) storage.Time {
	const latest = 24 * time.Hour // clocks differ
	if seconds <= 0 || int64(seconds) > now.Add(latest).Std().Unix() {
		return now
	}
	return storage.At(time.Unix(int64(seconds), 0))
}
