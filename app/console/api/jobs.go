package api

import (
	"cmp"
	"strconv"

	"confab/app/api/rest"
	"confab/storage"
)

// jobView is a job of the organization, as the console shows it.
type jobView struct {
	ID     int64  `json:"id"`
	Object string `json:"object"`
	storage.Job
}

func viewJob(j storage.Job) jobView { return jobView{j.ID, "job", j} }

// listedJobView is a job with what it is about.
type listedJobView struct {
	jobView
	About *storage.JobSubject `json:"about"` // null for what has no name
}

// maxJobKind is longer than the name of any kind of job.
const maxJobKind = 64

// listJobs handles GET /console/api/jobs: oldest first. What the view calls state is also taken as
// status, as other lists call it.
func (s *Server) listJobs(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	states := []string{storage.JobDue, storage.JobHeld, storage.JobRunning, storage.JobFailed}
	state := cmp.Or(q.OneOf("status", states...), q.OneOf("state", states...))
	f := storage.JobFilter{State: state, Kind: q.Text("kind", maxJobKind)}

	var subjects map[int64]storage.JobSubject
	return rest.ListOf(s.Server, r, rest.Lister[storage.Job, listedJobView]{
		Scope: "jobs " + f.State + " " + f.Kind,
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Job, storage.After, error) {
			f.Limit = q.Fetch()
			rows, reached, err := rx.JobsOfOrganization(r.Org.ID, f, rest.NumberOf(q.After))
			if err == nil {
				subjects, err = rx.JobSubjects(rows)
			}
			return rows, storage.After{Key: storage.Time(reached)}, err
		},
		Key: func(j storage.Job) storage.After { return storage.After{Key: storage.Time(j.ID)} },
		View: func(j storage.Job) listedJobView {
			v := listedJobView{jobView: viewJob(j)}
			if about, ok := subjects[j.ID]; ok {
				v.About = &about
			}
			return v
		},
	})
}

func jobIn(rx *storage.Rx, r *rest.Request) (storage.Job, error) {
	id, err := strconv.ParseUint(r.Param("id"), 10, 63)
	if err != nil {
		return storage.Job{}, rest.NotFound()
	}
	return rx.JobOfOrganization(r.Org.ID, int64(id))
}

// retryJob handles POST /console/api/jobs/:id/retry: a job that failed or waits runs now.
func (s *Server) retryJob(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		j, err := jobIn(&tx.Rx, r)
		if err == nil {
			j, err = tx.RetryJobNow(j.ID)
		}

		switch {
		case err != nil:
			return rest.Reply{}, err
		case j.State == storage.JobRunning:
			return rest.Reply{}, rest.Invalid("id", "is the id of a running job: wait until it ends, or cancel it")
		case j.State == storage.JobHeld:
			return rest.Reply{}, rest.Invalid("id", "is the id of a job that starts by itself once those before it have ended")
		}
		return rest.OK(viewJob(j)), nil
	})
}

// cancelJob handles POST /console/api/jobs/:id/cancel: a job is removed for good, and what
// waits for it ends as if it had failed for the last time. A running one is interrupted.
func (s *Server) cancelJob(r *rest.Request) (rest.Reply, error) {
	var j storage.Job
	rep, err := s.Update(r, func(tx *storage.Tx) (_ rest.Reply, err error) {
		if j, err = jobIn(&tx.Rx, r); err != nil {
			return rest.Reply{}, err
		}
		if err := s.CancelJob(tx, j.ID); err != nil {
			return rest.Reply{}, err
		}
		tx.HintJob(r.Org.ID, j.ID)
		return rest.Deleted("job", j.ID), nil
	})
	if err == nil {
		s.InterruptJob(j.ID)
	}
	return rep, err
}
