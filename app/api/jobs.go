package api

import (
	"math"

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

// listJobs handles GET /console/api/jobs: oldest first.
func (s *Server) listJobs(r *request) (reply, error) {
	f := filters{values: r.query()}
	state := f.oneOf("state", storage.JobDue, storage.JobHeld, storage.JobRunning, storage.JobFailed)
	if f.err != nil {
		return reply{}, f.err
	}

	q, err := s.parseListQuery(r, "jobs "+state)
	if err != nil {
		return reply{}, err
	}
	after := int64(q.after.Key)
	if after == math.MaxInt64 {
		after = 0 // the first page
	}

	var rows []storage.Job
	err = s.readPage(r, &q, func(rx *storage.Rx) error {
		var reached int64
		rows, reached, err = rx.JobsOfOrganization(r.org.ID, state, after, q.fetch())
		q.reached = storage.After{Key: storage.Time(reached)}
		return err
	})
	if err != nil {
		return reply{}, err
	}
	return page(s, q, rows, jobKey, viewJob)
}
