// Package jobs has a handler for each kind of job, and the helpers of those. Kinds lists
// them for package queue, which runs them.
//
// A handler does its slow work outside of any transaction and returns what to write;
// the queue writes that together with the job's end. So our own effects happen once,
// and outside calls at least once: a handler must bear that its call is repeated after
// a crash. A job is stored in the transaction that makes it necessary, by the Enqueue
// function of its file or, where storage itself stores it, by package storage.
//
//	kind                     file                     stored                          a repeated run
//	send                     send.go, media_upload.go by a request to send            could send twice: after an unknown outcome
//	                                                                                  it first waits for a status callback
//	send.later               send_later.go            by a request to send later      enqueues the send, if it has not yet
//	conversation.wake        conversations.go         with a snooze                   finds it awake
//	push.notify              push.go                  with a message, mention or wake finds those notified just now
//	push.send                push.go                  by push.notify, by a test       sends the same again
//	rules.run                rules.go                 with a message of a person      had done nothing before
//	rules.idle               rule_idle.go             every five minutes              goes on with what is left
//	receipt                  receipt.go               by a request to mark as read    calls again, for an hour at most
//	broadcast.run            broadcast.go             when a broadcast is made        goes on with what is left
//	broadcast.send           broadcast_send.go        by broadcast.run                as send; sends again only if callbacks arrive
//	broadcast.resume         broadcast_moves.go       when a cooldown pauses one      changes nothing
//	webhook.fan_out          subscriptions.go         with an event, where there are  goes on with what is left
//	                                                  more than 32 subscriptions
//	deliver                  deliver.go               with each delivery              posts the same bytes with the same ids
//	onboard                  onboard.go               by the page of a setup link     makes all calls again
//	media.fetch              media_fetch.go           by a callback with a file       downloads again; the event comes at the end
//	account.unsubscribe      accounts.go              when an account is removed      asks the provider again, six times at most
//	account.purge            accounts.go              when an account is removed      goes on with what is left
//	account.check            accounts.go              by the sweep, by callbacks      reads the provider's state again
//	                                                  and by newly connected numbers
//	account.check_all        accounts.go              every hour                      leaves out what was checked lately
//	media.remove             media_removal.go         when media is deleted           goes on; waits for messages that need it
//	webhook.fail_deliveries  subscriptions.go         when a webhook is disabled      goes on with what is left
//	webhook.delete           subscriptions.go         when a webhook is deleted       goes on with what is left
//	contacts.import          contact_import.go        by a request or a command       goes on where it was
//	label.detach             labels.go                when a label is deleted         goes on with what is left
//	label.touch              labels.go                when a label is renamed         marks conversations again
//	jobs.blank               bulk_delete.go           when messages are deleted       looks again
//	media.remove_unused      media_removal.go         every six hours                 looks again
//	media.delete_objects     media_removal.go         every ten minutes               goes on with what is left
//	housekeeping             housekeeping.go          every ten minutes               goes on with what is left
//	retention                retention.go             every hour                      goes on with what is left
//
// Helpers: send_limiter.go keeps sends below the provider's limits, send_calls.go says
// which of them can still be cancelled, cooldown.go lets one go first after a rate limit,
// broadcast_make.go makes the messages of a broadcast, and batch_writer.go does bulk work in
// steps that let others write, which requests use by bulk_delete.go too.
// Package attempts shares the workers among webhook endpoints, and clockwatch notices when
// the clock was set or the process stopped.
//
// Steps that jobs share with requests, callbacks and commands are not here: those on a
// message are in messaging, those that call the provider about numbers and templates in
// provisioning, events in event, and what a file is, in filetype.
package jobs
