// Package messaging has the steps on a message that jobs, callbacks and requests share:
// each runs in the caller's transaction and writes the state of the message together
// with its event.
//
// An outbound message is queued by a request. It is accepted (MarkAccepted) or fails
// (FailMessage) when the send job has called the provider; a callback may report
// either before the answer to that call is known. Later callbacks move it on
// (ApplyStatus), edit it or delete it (Change). A callback that arrives before its
// message, or before the provider's id of it is known, is parked, and applied when the
// id is stored (ApplyParkedCallbacks). Every step may come twice and in any order: the
// second time it changes nothing and emits nothing.
//
// The provider names the person of a message in the answer to a send, in statuses and in
// messages, in its own form and by any of several ids: a Person. FindContacts finds the
// contacts that are meant, EnsureContact and Reconcile make one of them, and
// RecordRecipient does so for whom a message went to. While a call to the provider is
// under way, the message's contact and conversation may change: code that has read
// a message before a call reads these again by the message itself.
//
// RefusalOf has the rules by which an account may not send; a request and the job ask
// the same. ApplyEffect has what a code of the provider means beyond the one message.
package messaging
