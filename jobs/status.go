package jobs

import (
	"cmp"
	"encoding/json"

	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// ApplyStatus moves a message as a callback reports and tells of it, once for
// each distinct status. The envelope is the callback, narrowed to it.
func ApplyStatus(tx *storage.Tx, account storage.Account, m *storage.Message, status provider.Status, envelope []byte) error {
	first, err := tx.MarkStatus(m, status.Status, HappenedAt(status.Timestamp, tx.Now))
	if err != nil || !first {
		return err
	}
	if status.Status == storage.MessageFailed {
		if err := failReported(tx, m, append(status.Errors, unexplained)[0]); err != nil {
			return err
		}
	}
	return event.MessageStatus(SubjectOf(account), status.ID, envelope).Emit(tx)
}

// unexplained is the fault of a failure that gives none.
var unexplained = provider.Fault{Code: provider.NoCode, Message: "The provider gave no reason."}

// failReported records why the provider's callback says that a message failed.
// One that had failed before keeps its first reason, which everybody was told.
func failReported(tx *storage.Tx, m *storage.Message, fault provider.Fault) error {
	class := fault.Class()
	f := failure{code: class.Code, text: cmp.Or(fault.Details, fault.Message, fault.Title, unexplained.Message), effect: class.Effect}
	if fault.Code != provider.NoCode {
		f.providerCode = &fault.Code
	}
	if err := tx.MarkFailed(m, f.code, f.text, f.providerCode); err != nil {
		return err
	}
	return applyEffect(tx, *m, f)
}

// statusIn reads the one status of a narrowed envelope, which is in our dialect.
func statusIn(envelope []byte) (provider.Status, bool) {
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
