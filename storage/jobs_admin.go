package storage

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"confab/storage/sqlite"
)

// RunningJob names a leased job and its run.
type RunningJob struct {
	ID      int64 `db:"id"`
	Runs    int   `db:"runs"`
	Crashes int   `db:"crashes"`
	// LeasedUntil is 0 if the job was leased ahead of a free worker. It may have begun all
	// the same, because that is not written.
	LeasedUntil Time `db:"leased_until"`
}

// RunningJobs walks over the queue for leased jobs, which a runner frees at its start.
func (rx *Rx) RunningJobs() (all []RunningJob, err error) {
	err = rx.IDRanges("jobs", 0, func(after, until int64) (bool, error) {
		some, err := rx.runningJobs(after, until)
		all = append(all, some...)
		return false, err
	})
	return all, err
}

// RunningJobsAmong lists the leased jobs among so many jobs after one, in the order
// of their ids. It returns the id to go on after, which is 0 after the last job.
func (rx *Rx) RunningJobsAmong(after int64, limit int) (running []RunningJob, last int64, err error) {
	last, err = value[int64](rx, `SELECT id FROM jobs WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?`, after, limit-1)
	if IgnoreNotFound(err) != nil {
		return nil, 0, err
	}
	running, err = rx.runningJobs(after, cmp.Or(last, math.MaxInt64))
	return running, last, err
}

func (rx *Rx) runningJobs(after, last int64) (running []RunningJob, err error) {
	return list[RunningJob](rx, `
		SELECT id, runs, crashes, leased_until FROM jobs
		WHERE id > ? AND id <= ? AND state = 'running'`, after, last)
}

// ForgiveCrashes forgets the crashes that a running job met.
func (tx *Tx) ForgiveCrashes(j Job) error {
	return tx.Run(`UPDATE jobs SET crashes = 0 WHERE id = ? AND runs = ?`, j.ID, j.Runs)
}

// FreeJob makes a leased job due again that no worker has any more, not before due. An
// outside call may have been under way, unless the job was still preparing. crashes
// is how often its process died by now. It reports whether the job was still leased.
func (tx *Tx) FreeJob(j RunningJob, crashes int, due Time) (freed bool, err error) {
	n, err := tx.Exec(`
		UPDATE jobs
		SET state = 'due', due_at = max(min(due_at, ?1), ?2), leased_until = 0, crashes = ?3,
			call_begun_at = iif(preparing, call_begun_at, ?1), preparing = 0
		WHERE id = ?4 AND runs = ?5 AND state = 'running'`, tx.Now, due, crashes, j.ID, j.Runs)
	return n > 0, err
}

// HeldLane is a lane that has jobs waiting for a place, and their kind.
type HeldLane struct {
	Lane string `db:"lane"`
	Kind string `db:"kind"`
}

// HeldLanes lists the lanes in which jobs wait.
func (rx *Rx) HeldLanes() ([]HeldLane, error) {
	return list[HeldLane](rx, `
		SELECT lane, kind FROM jobs
		WHERE state = 'held'
		GROUP BY kind, lane`)
}

// NextDue is when the next job of a kind is due, or 0 if none waits.
func (rx *Rx) NextDue(kind string) (Time, error) {
	due, err := value[Time](rx, `
		SELECT due_at FROM jobs
		WHERE state = 'due' AND kind = ?
		ORDER BY due_at, id
		LIMIT 1`, kind)
	return due, IgnoreNotFound(err)
}

// DueJob is a job and when it is due.
type DueJob struct {
	ID    int64  `db:"id"`
	DueAt Time   `db:"due_at"`
	Kind  string `db:"kind"`
	Lane  string `db:"lane"`
}

// DueJobs walks over all jobs that are due, of all kinds, in the order of their times.
func (rx *Rx) DueJobs(after DueJob, limit int) ([]DueJob, error) {
	return list[DueJob](rx, `
		SELECT id, due_at, kind, lane FROM jobs
		WHERE state = 'due' AND due_at <= ? AND (due_at, id) > (?, ?)
		ORDER BY due_at, id
		LIMIT ?`, rx.db.Now(), after.DueAt, after.ID, limit)
}

// LateJobs lists up to limit jobs of a kind that wait, after one in the order of
// their times. Of those that have not run yet it lists only those that were made in
// the future and wait at most so long: the others wait for a time that was chosen.
func (rx *Rx) LateJobs(kind string, longest time.Duration, after DueJob, limit int) ([]DueJob, error) {
	return list[DueJob](rx, `
		SELECT id, due_at, kind, lane FROM jobs
		WHERE state = 'due' AND kind = ? AND (due_at, id) > (?, ?)
			AND (runs > 0 OR created_at > ? AND due_at - created_at <= ?)
		ORDER BY due_at, id
		LIMIT ?`, kind, after.DueAt, after.ID, rx.db.Now(), longest.Milliseconds(), limit)
}

// AdvanceJobs makes jobs that wait due so much earlier, but not before now.
func (tx *Tx) AdvanceJobs(late []DueJob, by time.Duration) error {
	return tx.Run(`
		UPDATE jobs
		SET due_at = max(?, due_at - ?)
		WHERE id IN (SELECT value FROM json_each(?)) AND state = 'due'`,
		tx.Now, by.Milliseconds(), listOf(late, func(j DueJob) int64 { return j.ID }))
}

// JobNames walks over the queue for a job of some kinds with a text, such as an id, in its arguments.
func (rx *Rx) JobNames(kinds []string, text string) (bool, error) {
	found, err := rx.FindIDs("jobs", 0, 1, `kind IN (SELECT value FROM json_each(?4)) AND instr(args, ?5) > 0`, jsonList(kinds), text)
	return len(found) > 0, err
}

// PeriodicRun is when a periodic kind was last put on the queue, 0 if never.
func (rx *Rx) PeriodicRun(kind string) (Time, error) {
	at, err := value[Time](rx, `SELECT ran_at FROM periodic_runs WHERE kind = ?`, kind)
	return at, IgnoreNotFound(err)
}

// EnqueuePeriodic puts a periodic kind on the queue, unless it waits there, and records the time.
func (tx *Tx) EnqueuePeriodic(kind string) error {
	if err := tx.Run(`INSERT OR REPLACE INTO periodic_runs (kind, ran_at) VALUES (?, ?)`, kind, tx.Now); err != nil {
		return err
	}
	return tx.enqueueOnce(kind, 0)
}

// enqueueOnce puts a job about no account on the queue, unless one of its kind waits there.
func (tx *Tx) enqueueOnce(kind string, due Time) error {
	waiting, err := tx.NextDue(kind)
	if err != nil || waiting != 0 {
		return err
	}
	_, err = tx.Enqueue(NewJob{Kind: kind, Args: AboutNoAccount{}, DueAt: due})
	return err
}

// JobFilter chooses jobs. Zero fields choose everything.
type JobFilter struct {
	Kind  string
	State string
	Limit int
}

// Jobs lists jobs, oldest first.
func (rx *Rx) Jobs(f JobFilter) ([]Job, error) {
	return list[Job](rx, selectJobs+`
		WHERE (? = '' OR kind = ?) AND (? = '' OR state = ?)
		ORDER BY id
		LIMIT ?`, f.Kind, f.Kind, f.State, f.State, f.Limit)
}

// Job finds a job.
func (rx *Rx) Job(id int64) (Job, error) { return get[Job](rx, selectJobs+`WHERE id = ?`, id) }

// RetryJobNow makes a failed or waiting job due at once, with all its attempts before it.
func (tx *Tx) RetryJobNow(id int64) (Job, error) {
	j, err := tx.Job(id)
	if err != nil || j.State == JobRunning || j.State == JobHeld {
		return j, err
	}

	j.State, j.DueAt, j.Failures, j.Crashes = JobDue, tx.Now, 0, 0
	err = tx.ExecOne(`UPDATE jobs SET state = 'due', due_at = ?, failures = 0, crashes = 0 WHERE id = ?`, tx.Now, id)

	if d := tx.db.currentDispatcher(); d != nil && err == nil {
		tx.AfterCommit(func() { d.Stored(j.Kind, j.DueAt) })
	}
	return j, tx.hintJob(err, id, j.Args)
}

// CancelJob removes a job in any state. A worker that has it finds its lease lost.
func (tx *Tx) CancelJob(id int64) error {
	return tx.ExecOne(`DELETE FROM jobs WHERE id = ?`, id)
}

// JobCount is how many jobs of a kind are in a state, and since when the oldest has been due.
type JobCount struct {
	Kind   string `db:"kind"`
	State  string `db:"state"`
	Count  int64  `db:"count"`
	Oldest Time   `db:"oldest"`
}

// JobCounts counts the queue by kind and state. It walks over all of it, and counts a job once.
func (rx *Rx) JobCounts() ([]JobCount, error) {
	counts := make(map[[2]string]JobCount)
	err := rx.IDRanges("jobs", 0, func(after, until int64) (bool, error) {
		some, err := list[JobCount](rx, `
			SELECT kind, state, count(*) AS count, min(due_at) AS oldest
			FROM jobs
			WHERE id > ? AND id <= ?
			GROUP BY kind, state`, after, until)

		for _, n := range some {
			key := [2]string{n.Kind, n.State}
			if sum, ok := counts[key]; ok {
				n.Count, n.Oldest = n.Count+sum.Count, min(n.Oldest, sum.Oldest)
			}
			counts[key] = n
		}
		return false, err
	})

	return slices.SortedFunc(maps.Values(counts), func(a, b JobCount) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
	}), err
}

// jobOfOrganization is the condition that a job j is an organization's, ?1: it follows
// from what the job is about. A job of the server itself has no organization.
const jobOfOrganization = `
	EXISTS (SELECT 1 FROM accounts a WHERE a.id = coalesce(j.args ->> '$.account', j.args ->> '$.tombstone') AND a.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM messages m JOIN accounts a ON a.id = m.account_id
		WHERE m.id = j.args ->> '$.message' AND a.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM deliveries d WHERE d.id = j.args ->> '$.delivery' AND d.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = j.args ->> '$.subscription' AND s.organization_id = ?1)
	OR EXISTS (SELECT 1 FROM labels l WHERE l.id = j.args ->> '$.label' AND l.organization_id = ?1)`

// JobsOfOrganization walks over the queue for up to f.Limit jobs of an organization after one. It says how
// far it came: to 0, the end, unless the page was full or its time was up before.
func (rx *Rx) JobsOfOrganization(organization int64, f JobFilter, after int64) (page []Job, reached int64, err error) {
	began := time.Now()
	err = rx.IDRanges("jobs", after, func(after, until int64) (bool, error) {
		some, err := list[Job](rx, selectJobs+`
			WHERE id > ?2 AND id <= ?3 AND (?5 = '' OR state = ?5) AND (?6 = '' OR kind = ?6) AND (`+jobOfOrganization+`)
			ORDER BY id
			LIMIT ?4`, organization, after, until, f.Limit-len(page), f.State, f.Kind)
		page = append(page, some...)

		reached = 0
		if len(page) >= f.Limit || until < math.MaxInt64 && time.Since(began) >= min(sqlite.BriefScanTime, rx.ScanTime()) {
			reached = until
		}
		return reached != 0, err
	})
	return page, reached, err
}

// JobOfOrganization finds a job of an organization.
func (rx *Rx) JobOfOrganization(organization, id int64) (Job, error) {
	return get[Job](rx, selectJobs+`WHERE id = ?2 AND (`+jobOfOrganization+`)`, organization, id)
}

// HintJob notes for consoles that a job of an organization was changed.
func (tx *Tx) HintJob(organization, id int64) {
	_ = tx.hint(nil, HintJob, Scope{Organization: organization}, strconv.FormatInt(id, 10))
}

// JobSubject is what a job is about.
type JobSubject struct {
	Job  int64   `db:"job" json:"-"`
	Type string  `db:"type" json:"type"`
	ID   *string `db:"id" json:"id"`     // public; nil for what is gone
	Name *string `db:"name" json:"name"` // of the contact of a message, or the webhook of a delivery
}

// JobSubjects finds what jobs are about, by their numbers, if that has a name.
func (rx *Rx) JobSubjects(jobs []Job) (map[int64]JobSubject, error) {
	all, err := list[JobSubject](rx, `
		SELECT j.id AS job,
			CASE
				WHEN m.id IS NOT NULL THEN 'message'
				WHEN d.id IS NOT NULL THEN 'delivery'
				WHEN s.id IS NOT NULL THEN 'webhook'
				WHEN l.id IS NOT NULL THEN 'label'
				WHEN b.id IS NOT NULL THEN 'broadcast'
				ELSE 'number'
			END AS type,
			coalesce(m.id, d.id, s.id, l.id, b.id, iif(a.deleted_at = 0, a.phone_number_id, NULL)) AS id,
			CASE
				WHEN m.id IS NOT NULL THEN coalesce(c.name, c.phone_number, c.username, c.bsuid)
				WHEN s.id IS NOT NULL THEN coalesce(s.description, s.url)
				ELSE coalesce(l.name, b.name, a.name, a.phone_number, a.phone_number_id)
			END AS name
		FROM jobs j
			LEFT JOIN accounts a ON a.id = coalesce(j.args ->> '$.account', j.args ->> '$.tombstone')
			LEFT JOIN messages m ON m.account_id = a.id AND m.id = j.args ->> '$.message'
			LEFT JOIN contacts c ON c.id = m.contact_id
			LEFT JOIN deliveries d ON d.id = j.args ->> '$.delivery'
			LEFT JOIN subscriptions s ON s.id = coalesce(d.subscription_id, j.args ->> '$.subscription')
			LEFT JOIN labels l ON l.id = j.args ->> '$.label'
			LEFT JOIN broadcasts b ON b.number = j.args ->> '$.broadcast'
		WHERE j.id IN (SELECT value FROM json_each(?)) AND coalesce(m.id, s.id, l.id, b.id, a.id) IS NOT NULL`,
		listOf(jobs, func(j Job) int64 { return j.ID }))

	subjects := make(map[int64]JobSubject, len(all))
	for _, one := range all {
		subjects[one.Job] = one
	}
	return subjects, err
}
