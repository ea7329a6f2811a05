// Package queue runs durable jobs: it claims what is due, hands it to handlers
// and writes the outcome in the same transaction as the handler's own results.
//
// A job is a row of the table jobs in one of four states; a job that is done has
// no row.
//
//	due      waits for its time and for a free worker
//	held     is due and waits for a place in its lane
//	running  is leased to this process until leased_until
//	failed   is out of attempts and kept for a person to look at
//
// Enqueue asks Admit and inserts a job as running (a worker is free: the job is
// started right after the commit and needs no claim), as held or as due. A claim
// makes due jobs running or held, and held jobs running. settle ends a run: it
// deletes the row, or makes the job due again or failed. Retry by a person makes
// a failed job due (storage.RetryJobNow).
//
// Lanes. A kind may limit how many jobs of one lane (an account or subscription)
// run at once. Jobs beyond that are held, so that claims do not scan past them,
// and a new job is held behind those that wait already: a lane stays in order.
// Storage closes the lanes of subscriptions that are not active.
//
// Leasing ahead. For kinds with LeaseAhead a claim also leases held jobs whose turn
// has not come. They are running in the table but wait in laneState.ready; when a
// run ends, takeReady starts the next one without a transaction. Those that a
// slower or closed lane cannot use in time are made held again.
//
// Order of calls. Run calls recoverState, connects the runner to storage, and
// repeats pass (expireLeases, followClock, enqueuePeriodic, claimAll, findNextDue)
// and wait.
// A job goes through reserve, start, the handler, finish and settle. finish frees
// the worker at the handler's answer, before settle has committed. When the
// context of Run ends, drain admits no more, makes jobs that were leased ahead
// held again, waits for the rest, and after the grace time cancels them.
//
// Locks. Runner.mu guards the counters and flags of the runner, its kinds and its
// lanes. Admit and claims run on the database's writer and take mu there, so
// nobody waits for a transaction while holding mu. The flags waiting and held
// change in the order in which rows are written, and Tx.OnUndo restores them, as
// it gives back workers that were reserved. Each reserve adds one to group and
// is answered by one Done: at the end of the run, or in withdraw.
//
// Leases and crashes. A handler's context ends with its lease; expireLeases takes
// the job from a handler that does not return. Settling is fenced on id and run
// number: whoever lost the lease writes nothing. After a crash the next Run frees
// all leases at once (only one process serves a database), counts the crash, and
// sets call_begun_at unless the job was marked as preparing: its handler then
// knows that an outside call may have had its effect. So our own effects happen
// exactly once, and outside calls at least once.
package queue
