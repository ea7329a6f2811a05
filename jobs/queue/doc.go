// Package queue runs durable jobs: it claims due jobs, hands them to handlers
// and writes the outcome in the same transaction as the handler's own results.
//
// A job is a row of the table jobs in one of four states; a job that is done has
// no row.
//
//	due      waits for its time and for a free worker
//	held     is due and waits for a place in its lane, or for a worker
//	running  is leased to this process
//	failed   is out of attempts and kept for a person to look at
//
// Enqueue asks Admit and inserts a job as running (a worker is free: the job is
// started right after the commit and needs no claim), as held or as due. A claim
// makes due jobs running or held, and held jobs running. settle ends a run: it
// deletes the row, or makes the job due again or failed. Retry by a person makes
// a failed job due (storage.RetryJobNow).
//
// Workers. Each kind has workers that no other can take (Kind.Reserved), and all
// share the rest, the kinds that were given first before the others. A kind uses its
// own workers first.
//
// Lanes. A kind may limit how many jobs of one lane (an account or subscription)
// run at once. Jobs beyond that are held, so that claims do not scan past them,
// and a new job is held after those that wait already: a lane stays in order. If no
// worker is free, jobs of such a kind are held too. Lanes that wait share the workers
// that become free, so that no lane has to wait for the end of another's backlog.
// Storage closes the lanes of subscriptions that are not active.
//
// Leasing ahead. For kinds with LeaseAhead a claim also leases held jobs that may
// not run yet. They are running in the table but wait in laneState.ready; when a
// run ends, takeReady starts the next one without a transaction. Those that a
// slower or closed lane cannot use in time are made held again; until that is
// durable they are in laneState.returning, and each pass tries it once more.
//
// Moves. move.go explains what happens when the clock of a sandbox is moved.
//
// Order of calls. Run calls recoverState, connects the runner to storage, and
// repeats pass (followClock, checkLeases, enqueuePeriodic, claimAll, findNextDue) and wait.
// A job goes through reserve, start, the handler, finish, settle and forget. finish
// frees the worker at the handler's answer, before settle has committed; the run
// stays in Runner.running until then. When the context of Run ends, drain admits no
// more, makes jobs that were leased ahead held again, waits for the rest, and after
// the grace time cancels them.
//
// Locks. Runner.mu guards the counters and flags of the runner, its kinds, lanes and
// runs. Admit and claims run on the database's writer and take mu there, so
// nothing waits for a transaction while holding mu. The flags waiting and held
// change in the order in which rows are written, and Tx.OnUndo restores them, as
// it gives back workers that were reserved. Each reserve adds one to group and
// is answered by one Done: at the end of the run, or in withdraw.
//
// Leases. A run has its kind's lease from its start on, by the monotonic clock; a
// handler that makes progress may extend it (Extend). At its end:
//
//   - The handler's context ends with errLeaseExpired, and the run keeps its job for
//     lapseGrace. What the handler returns in that time is written: a success as any
//     other, and a failure as one that counts, Postpone too. Stopped says to a handler
//     whether it was stopped or took too long.
//   - From a handler that does not return even then, abandon takes job and worker. The
//     run counts as failed, and the job waits for abandonedDelay at least.
//   - A success that comes still later is written if no other run has had the job:
//     settling is fenced on id and run number. Any other late result is dropped.
//
// A run that was cut off so, or by the end of the process, may have had the effect
// of its outside call. Then call_begun_at is set, unless the job was marked as
// preparing, and its handler knows. So our own effects happen exactly once, and
// outside calls at least once.
//
// Table and memory. Every row that is running belongs to a run, or is ready or
// returning in a lane. Memory lets go of a job only when its new state is durable:
// settle tries until the database takes the outcome, and a job whose end cannot be
// written as its kind wants is kept as failed. checkLeases looks for rows that
// no run has, which would be a fault of ours, and frees them.
//
// Crashes. Only one process serves a database, so the next Run frees all leases at
// once. It counts the crash for each job that was running, and lets a job wait ever
// longer from its third crash on (freeCrashed). One with too many fails for good.
package queue
