package jobs

import (
	"cmp"
	"encoding/json"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// ApplyStatus moves a message to the status that a callback reports and emits
// message.status, once for each distinct status. The envelope is the callback,
// reduced to this status.
func ApplyStatus(tx *storage.Tx, account storage.Account, m *storage.Message, status provider.Status, envelope []byte) error {
	first, err := tx.MarkStatus(m, status.Status, HappenedAt(status.Timestamp, tx.Now))
	if err != nil || !first {
		return err
	}

	if status.Status == storage.MessageFailed {
		if err := recordReportedFailure(tx, m, append(status.Errors, noReason)[0]); err != nil {
			return err
		}
	}

	return event.MessageStatus(SubjectOf(account), status.ID, envelope).Emit(tx)
}

// noReason is the fault of a failure for which the provider gave none.
var noReason = provider.Fault{Code: provider.NoCode, Message: "The provider gave no reason."}

// recordReportedFailure records the reason that a callback gives for a failed
// message. One that had failed before keeps its first reason, as its event said.
func recordReportedFailure(tx *storage.Tx, m *storage.Message, fault provider.Fault) error {
	class := fault.Class()
	f := failure{
		code:   class.Code,
		text:   cmp.Or(fault.Details, fault.Message, fault.Title, noReason.Message),
		effect: class.Effect,
	}
	if fault.Code != provider.NoCode {
		f.providerCode = &fault.Code
	}

	if err := tx.MarkFailed(m, f.code, f.text, f.providerCode); err != nil {
		return err
	}
	return applyEffect(tx, *m, f)
}

// parseStatus reads the one status of a reduced envelope, which is in our words.
func parseStatus(envelope []byte) (provider.Status, bool) {
	var callback provider.Callback
	err := json.Unmarshal(envelope, &callback)
	if err != nil || len(callback.Entries) != 1 || len(callback.Entries[0].Changes) != 1 {
		return provider.Status{}, false
	}

	value, err := provider.Read[provider.Value](callback.Entries[0].Changes[0].Value)
	if err != nil || len(value.Statuses) != 1 {
		return provider.Status{}, false
	}

	status, err := provider.Read[provider.Status](value.Statuses[0])
	return status, err == nil
}
