package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"confab/storage/sqlite"
)

// States of a job. Enqueue stores it in one of the first three, by what the
// Dispatcher decides.
//
//   - A due job is claimed by ClaimDue when its time has come: it becomes
//     running, or held if its lane has no room.
//   - A held job waits, out of the way of every claim, until ClaimHeld takes it.
//   - A running job is leased to a worker of the serving process. FinishJob
//     deletes it; RetryJob, ReleaseJob and InterruptJob make it due again; HoldJobs
//     makes it held again; FailJob gives it up.
//   - A failed job waits for a person: RetryJobNow makes it due, CancelJob
//     deletes it.
//
// Each lease counts up runs, and the end of a run names the job by (id, runs).
// A worker whose job was leased again or cancelled finds no such row: it gets
// ErrLeaseLost, and with it everything that it wrote in the same transaction is
// undone. A worker that overran its lease finds the row put back: only its
// success still counts then. After a crash the next process calls FreeJob for
// every job that is still running, so that none is lost; whether its outside call
// had begun is then only known by preparing and call_begun_at.
//
// leased_until shows people how long a run may take. The process that runs the job
// goes by its own clock, which cannot be set.
const (
	JobDue     = "due"     // waits for its time and a worker
	JobHeld    = "held"    // waits for a place in its lane, or a worker
	JobRunning = "running" // leased to the serving process
	JobFailed  = "failed"  // out of attempts; waits for a person
)

// ErrLeaseLost means that a job was cancelled, put back or leased anew: its run may not end it.
var ErrLeaseLost = errors.New("the job's lease was lost")

// Job is a piece of work as stored.
type Job struct {
	ID          int64   `db:"id" json:"id"`
	Kind        string  `db:"kind" json:"kind"`
	Lane        string  `db:"lane" json:"-"`
	Args        JSON    `db:"args" json:"-"`
	State       string  `db:"state" json:"state"`
	Runs        int     `db:"runs" json:"runs"`
	Failures    int     `db:"failures" json:"failures"`
	Crashes     int     `db:"crashes" json:"-"`
	LeasedUntil Time    `db:"leased_until" json:"-"`
	CallBegunAt Time    `db:"call_begun_at" json:"-"`
	LastError   *string `db:"last_error" json:"last_error"`
	DueAt       Time    `db:"due_at" json:"due_at"`
	CreatedAt   Time    `db:"created_at" json:"created_at"`

	// Memory is what the code that enqueued the job had already read. Only a first run
	// that follows at once in the same process has it; any other finds nil, and
	// reads what it needs.
	Memory any `db:"-" json:"-"`
}

// Attempt numbers the current run among those that count: 1 for the first.
func (j Job) Attempt() int { return j.Failures + 1 }

// NewJob is a job to be stored.
type NewJob struct {
	Kind  string
	Lane  string // "" for none
	Args  JobArgs
	DueAt Time // 0 for now
	// Memory spares a run that follows at once from reading it again.
	Memory any
}

// Dispatcher is the job runner as storage sees it. A due job can be inserted as leased and handed over in
// memory after the commit, which saves the claim.
type Dispatcher interface {
	// Admit decides how a due job is stored, and reserves a worker for AdmitNow.
	// It is called on the writer, so that its decisions have the order in which
	// the rows are written. The time is how long the lease of AdmitNow lasts, or how
	// long a job of AdmitLater waits until it is due.
	Admit(Job) (Admission, time.Duration)
	// Start takes a job for which Admit reserved a worker, once it is durable.
	Start(Job)
	// Withdraw gives a reservation back: its transaction was undone.
	Withdraw(kind, lane string)
	// Wait takes a job that was admitted to wait, once it is durable.
	Wait(Job)
	// Busy reports whether jobs of a lane run, are about to, or are held.
	Busy(kind, lane string) bool
	// Unsettled reports whether a job of a lane with a lower id than before runs, or
	// has run and the end of that is not written yet.
	Unsettled(kind, lane string, before int64) bool
	// Look says that held jobs of some lane may run now.
	Look()
	// Stored reports a job that was not admitted and will be due, once it is durable.
	Stored(kind string, due Time)
}

// Admission is a Dispatcher's decision.
type Admission int

// The three decisions of Admit.
const (
	AdmitLater Admission = iota // store it as due
	AdmitNow                    // store it as leased; Start follows
	AdmitHeld                   // store it as held: its lane has no room, or no worker is free
)

// SetDispatcher connects the runner. Without one, jobs just wait.
func (db *DB) SetDispatcher(d Dispatcher) { db.dispatcher.Store(&d) }

const selectJobs = `
	SELECT id, kind, lane, args, state, due_at, runs, failures, crashes, leased_until, call_begun_at, last_error, created_at
	FROM jobs j `

// jobFields are where the columns of selectJobs go.
func jobFields(j *Job) []any {
	return []any{
		&j.ID, &j.Kind, &j.Lane, &j.Args, &j.State, &j.DueAt, &j.Runs, &j.Failures, &j.Crashes,
		&j.LeasedUntil, &j.CallBegunAt, &j.LastError, &j.CreatedAt,
	}
}

// Enqueue stores a job with the rest of the transaction and returns its id.
func (tx *Tx) Enqueue(n NewJob) (int64, error) {
	args, err := json.Marshal(n.Args)
	if err != nil {
		return 0, fmt.Errorf("enqueue %s: %w", n.Kind, err)
	}

	j := Job{
		Kind:      n.Kind,
		Lane:      n.Lane,
		Args:      args,
		State:     JobDue,
		DueAt:     max(n.DueAt, tx.Now),
		CreatedAt: tx.Now,
		Memory:    n.Memory,
	}
	d := tx.db.currentDispatcher()
	admitted := d != nil && j.DueAt == tx.Now

	// A due job may start at once: then it is stored as leased, which saves the
	// claim. Its worker is reserved here and given back if nothing is committed. One
	// that is not due yet is not run early, only to be put back.
	if admitted {
		switch admission, span := d.Admit(j); admission {
		case AdmitNow:
			tx.OnUndo(func() { d.Withdraw(j.Kind, j.Lane) })
			j.State, j.Runs, j.LeasedUntil = JobRunning, 1, tx.Now.Add(span)
		case AdmitHeld:
			j.State, j.DueAt = JobHeld, tx.Order
		case AdmitLater:
			j.DueAt = tx.Now.Add(span)
			admitted = span == 0
		}
	}

	j.ID, err = tx.Insert(`
		INSERT INTO jobs (kind, lane, args, state, due_at, runs, leased_until, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, j.Kind, j.Lane, j.Args, j.State, j.DueAt, j.Runs, j.LeasedUntil, j.CreatedAt)
	if err != nil || d == nil {
		return j.ID, err
	}

	// The runner hears of the job when it is durable, not before.
	tx.AfterCommit(func() {
		switch {
		case j.State == JobRunning:
			d.Start(j)
		case admitted:
			d.Wait(j)
		default:
			d.Stored(j.Kind, j.DueAt)
		}
	})

	return j.ID, nil
}

// NextJob is a higher id than any job has had.
func (rx *Rx) NextJob() (id int64, err error) {
	return value[int64](rx, `SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'jobs'`)
}

// ClaimDue leases up to limit jobs of a kind that are due, oldest first. Those
// whose lane admit refuses become held, out of the way of the next claim. There
// a retry takes the place that the job had before its first run.
func (tx *Tx) ClaimDue(kind string, limit int, lease time.Duration, admit func(lane string) bool) (claimed, held []Job, err error) {
	due, err := sqlite.ScanAll(&tx.Rx.Rx, jobFields, selectJobs+`
		WHERE state = 'due' AND kind = ? AND due_at <= ?
		ORDER BY due_at, id
		LIMIT ?`, kind, tx.Now, limit)
	if err != nil {
		return nil, nil, err
	}
	return tx.leaseOrHold(due, lease, admit)
}

// ClaimJob leases a job if it is due, as ClaimDue does.
func (tx *Tx) ClaimJob(id int64, lease time.Duration, admit func(lane string) bool) (claimed, held []Job, err error) {
	due, err := sqlite.ScanAll(&tx.Rx.Rx, jobFields, selectJobs+`WHERE id = ? AND state = 'due' AND due_at <= ?`, id, tx.Now)
	if err != nil {
		return nil, nil, err
	}
	return tx.leaseOrHold(due, lease, admit)
}

func (tx *Tx) leaseOrHold(due []Job, lease time.Duration, admit func(lane string) bool) (claimed, held []Job, err error) {
	for _, j := range due {
		if !admit(j.Lane) {
			held = append(held, j) // in the place of its lane that it has by its id
			if err := tx.ExecOne(`UPDATE jobs SET state = 'held', due_at = ? WHERE id = ?`, j.CreatedAt, j.ID); err != nil {
				return nil, nil, err
			}
			continue
		}

		if err := tx.lease(&j, lease); err != nil {
			return nil, nil, err
		}
		claimed = append(claimed, j)
	}
	return claimed, held, nil
}

// ClaimHeld leases up to limit held jobs of a kind and lane, oldest first: by their ids, because
// times go back when the clock is corrected. Only the first of them begin now; the others wait for a worker, and their row has no
// leased_until.
func (tx *Tx) ClaimHeld(kind, lane string, limit, begin int, lease time.Duration) ([]Job, error) {
	held, err := sqlite.ScanAll(&tx.Rx.Rx, jobFields, selectJobs+`
		WHERE state = 'held' AND kind = ? AND lane = ?
		ORDER BY id
		LIMIT ?`, kind, lane, limit)
	if err != nil || len(held) == 0 {
		return nil, err
	}

	ids := make([]int64, len(held))
	for i := range held {
		until := tx.Now.Add(lease)
		if i >= begin {
			until = 0
		}
		held[i].markLeased(until)
		ids[i] = held[i].ID
	}

	begun := ids[:min(begin, len(ids))]
	_, err = tx.Exec(`
		UPDATE jobs
		SET state = 'running', runs = runs + 1, leased_until = iif(id IN (SELECT value FROM json_each(?)), ?, 0)
		WHERE id IN (SELECT value FROM json_each(?))`, jsonList(begun), tx.Now.Add(lease), jsonList(ids))
	return held, err
}

// markLeased makes a job in memory what its lease makes of the row.
func (j *Job) markLeased(until Time) {
	j.State, j.LeasedUntil = JobRunning, until
	j.Runs++
}

func (tx *Tx) lease(j *Job, lease time.Duration) error {
	j.markLeased(tx.Now.Add(lease))
	return tx.ExecOne(`
		UPDATE jobs
		SET state = 'running', runs = ?, leased_until = ?
		WHERE id = ?`, j.Runs, j.LeasedUntil, j.ID)
}

// HoldJobs puts jobs back that were leased and have not begun, if they still are the caller's.
func (tx *Tx) HoldJobs(jobs []Job) error {
	for _, j := range jobs {
		_, err := tx.Exec(`
			UPDATE jobs
			SET state = 'held', leased_until = 0
			WHERE id = ? AND runs = ? AND state = 'running'`, j.ID, j.Runs)
		if err != nil {
			return err
		}
	}

	return nil
}

// storeArgs replaces the arguments of a running job: the next run goes on from there.
func (tx *Tx) storeArgs(j Job, args JobArgs) error {
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", j.Kind, err)
	}
	n, err := tx.Exec(`UPDATE jobs SET args = ? WHERE id = ? AND runs = ? AND state = 'running'`, JSON(text), j.ID, j.Runs)
	return fenced(n, err)
}

// FinishJob removes a job that is done. That is a fact even if the job was put back
// meanwhile because its run took too long, as long as it was not leased since.
func (tx *Tx) FinishJob(j Job) error {
	n, err := tx.Exec(`DELETE FROM jobs WHERE id = ? AND runs = ?`, j.ID, j.Runs)
	return fenced(n, err)
}

// RetryJob puts a failed run's job back for another one at due.
func (tx *Tx) RetryJob(j Job, due Time, cause string) error {
	return tx.endRun(j, JobDue, due, j.Failures+1, cause)
}

// FailJob gives a job up. It stays for a person to look at.
func (tx *Tx) FailJob(j Job, cause string) error {
	return tx.endRun(j, JobFailed, tx.Now, j.Failures+1, cause)
}

// ReleaseJob makes a job due again whose run does not count, as if it had not begun.
func (tx *Tx) ReleaseJob(j Job, due Time) error {
	return tx.endRun(j, JobDue, max(due, tx.Now), j.Failures, "")
}

// InterruptJob puts a job back whose run was cut off, with an unknown effect.
func (tx *Tx) InterruptJob(j Job) error {
	if err := tx.MarkCutOff(j); err != nil {
		return err
	}
	return tx.ReleaseJob(j, tx.Now)
}

// MarkPreparing records whether a running job is certain not to have begun its
// outside call. Without that, a job whose process died counts as one whose call
// may have begun, so that most jobs need not write anything before their call.
func (tx *Tx) MarkPreparing(j Job, prepares bool) error {
	n, err := tx.Exec(`
		UPDATE jobs
		SET preparing = ?
		WHERE id = ? AND runs = ? AND state = 'running'`, prepares, j.ID, j.Runs)
	return fenced(n, err)
}

// MarkCallBegun records that it is unknown whether a job's outside call had an effect.
func (tx *Tx) MarkCallBegun(j Job) error {
	return tx.ExecOne(`UPDATE jobs SET call_begun_at = ? WHERE id = ?`, tx.Now, j.ID)
}

// MarkCutOff is MarkCallBegun for a run that was cut off at an unknown point, unless it was preparing. It is
// called before what ends the run.
func (tx *Tx) MarkCutOff(j Job) error {
	return tx.Run(`
		UPDATE jobs
		SET call_begun_at = ?
		WHERE id = ? AND runs = ? AND state = 'running' AND preparing = 0`, tx.Now, j.ID, j.Runs)
}

func (tx *Tx) endRun(j Job, state string, due Time, failures int, cause string) error {
	n, err := tx.Exec(`
		UPDATE jobs
		SET state = ?, due_at = ?, failures = ?, leased_until = 0, preparing = 0, last_error = coalesce(nullif(?, ''), last_error)
		WHERE id = ? AND runs = ? AND state = 'running'`, state, due, failures, cause, j.ID, j.Runs)
	if err := tx.hintJob(fenced(n, err), j.ID, j.Args); err != nil {
		return err
	}

	if d := tx.db.currentDispatcher(); d != nil && state == JobDue {
		tx.AfterCommit(func() { d.Stored(j.Kind, due) })
	}
	return nil
}

// fenced is the outcome of a statement on (id, runs) of a running job: when it
// changed no row, another run or none has the job by now.
func fenced(n int64, err error) error {
	if err == nil && n == 0 {
		return ErrLeaseLost
	}
	return err
}
