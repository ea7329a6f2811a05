package api

import (
	"cmp"
	"strconv"

	"confab/storage"
)

// jobView is a job of the organization, as the console shows it.
type jobView struct {
	ID        int64        `json:"id"`
	Object    string       `json:"object"`
	Kind      string       `json:"kind"`
	State     string       `json:"state"`
	Runs      int          `json:"runs"`
	Failures  int          `json:"failures"`
	LastError *string      `json:"last_error"`
	DueAt     storage.Time `json:"due_at"`
	CreatedAt storage.Time `json:"created_at"`
}

func viewJob(j storage.Job) jobView {
	return jobView{
		ID:        j.ID,
		Object:    "job",
		Kind:      j.Kind,
		State:     j.State,
		Runs:      j.Runs,
		Failures:  j.Failures,
		LastError: j.LastError,
		DueAt:     j.DueAt,
		CreatedAt: j.CreatedAt,
	}
}

// jobKey is where a job stands in the list: by its number.
func jobKey(j storage.Job) storage.After { return storage.After{Key: storage.Time(j.ID)} }

// maxJobKind is longer than the name of any kind of job.
const maxJobKind = 64

// jobFilter reads the filters of a list of jobs. What the view calls state is also taken
// as status, as other lists call it.
func jobFilter(r *request) (storage.JobFilter, error) {
	f := filters{values: r.query()}
	states := []string{storage.JobDue, storage.JobHeld, storage.JobRunning, storage.JobFailed}
	state := cmp.Or(f.oneOf("status", states...), f.oneOf("state", states...))

	kind := f.values.Get("kind")
	if f.values.Has("kind") && !between(kind, 1, maxJobKind) {
		f.refuse("kind", lengthRule(1, maxJobKind))
	}
	return storage.JobFilter{State: state, Kind: kind}, f.err
}

// listJobs handles GET /console/api/jobs: oldest first.
func (s *Server) listJobs(r *request) (reply, error) {
	f, err := jobFilter(r)
	if err != nil {
		return reply{}, err
	}

	return listOf(s, r, lister[storage.Job, jobView]{
		scope: "jobs " + f.State + " " + f.Kind,
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Job, storage.After, error) {
			f.Limit = q.fetch()
			rows, reached, err := rx.JobsOfOrganization(r.org.ID, f, numberOf(q.after))
			return rows, storage.After{Key: storage.Time(reached)}, err
		},
		key:  jobKey,
		view: viewJob,
	})
}

// jobIn finds the job in the path.
func jobIn(rx *storage.Rx, r *request) (storage.Job, error) {
	id, err := strconv.ParseInt(r.param("id"), 10, 64)
	if err != nil {
		return storage.Job{}, notFound()
	}
	return rx.JobOfOrganization(r.org.ID, id)
}

// getJob handles GET /console/api/jobs/:id.
func (s *Server) getJob(r *request) (reply, error) {
	j, err := find(s, r, jobIn)
	return ok(viewJob(j)), err
}

// retryJob handles POST /console/api/jobs/:id/retry: a job that failed or waits runs now.
func (s *Server) retryJob(r *request) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		j, err := jobIn(&tx.Rx, r)
		if err == nil {
			j, err = tx.RetryJobNow(j.ID)
		}

		switch {
		case err != nil:
			return reply{}, err
		case j.State == storage.JobRunning:
			return reply{}, invalid("id", "is that of a job that is running: wait until it ends, or cancel it")
		case j.State == storage.JobHeld:
			return reply{}, invalid("id", "is that of a job that starts by itself as soon as those before it have ended")
		}
		return ok(viewJob(j)), nil
	})
}

// cancelJob handles POST /console/api/jobs/:id/cancel: a job is removed for good, and what
// waits for it ends as if it had failed for the last time. A running one is interrupted.
func (s *Server) cancelJob(r *request) (reply, error) {
	var j storage.Job
	rep, err := s.update(r, func(tx *storage.Tx) (_ reply, err error) {
		if j, err = jobIn(&tx.Rx, r); err != nil {
			return reply{}, err
		}
		if err := s.CancelJob(tx, j.ID); err != nil {
			return reply{}, err
		}
		tx.HintJob(r.org.ID, j.ID)
		return ok(deletedJobView{ID: j.ID, Object: "job", Deleted: true}), nil
	})
	if err == nil {
		s.InterruptJob(j.ID)
	}
	return rep, err
}

// deletedJobView is what cancelling answers.
type deletedJobView struct {
	ID      int64  `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}
