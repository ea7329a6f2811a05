// Package provisioning makes the provider's calls about numbers and templates,
// for jobs, requests and commands: to connect a number, to register it so that it can
// send, to read its state, to submit templates and to keep ours in sync.
//
// Every call goes through Accounts. Calls are made outside of any transaction; what
// they change is returned, and the caller writes it in its own transaction. Two things
// are written at once, because they hold no matter what the caller does next: what a refusal
// means for the account (recordRefusal), and the templates of a sync.
//
// Rows that may have changed while the provider was asked are compared before the write:
// an account or a template that a callback, a request or a command changed meanwhile is
// newer than the answer and stays. A number is registered by one caller at a time.
package provisioning
