package queue

import (
	"context"
	"time"

	"confab/storage"
)

const (
	// checkEvery is how often the leases in the table are compared with the runs.
	checkEvery = time.Minute
	// checkedRows bounds the jobs that are looked at each time.
	checkedRows = 5000
)

// leaseCheck is the state of the comparison of the table with the runner's memory.
type leaseCheck struct {
	last     time.Time
	after    int64                // the job after which it goes on
	suspects []storage.RunningJob // leased, and unknown to the runner when last looked at
}

// checkLeases frees jobs that the table shows as running although the runner does
// not have them. None should exist; but one that did would wait until the next
// start. A job that is being handed over is in the table first, so a job is freed
// only if it is still unknown at the next check.
func (r *Runner) checkLeases(ctx context.Context) error {
	c := &r.check
	if time.Since(c.last) < checkEvery {
		return nil
	}
	c.last = time.Now()

	if err := r.freeUnknown(ctx, c.suspects); err != nil {
		return err
	}
	c.suspects = nil

	return r.DB.View(ctx, func(rx *storage.Rx) error {
		running, last, err := rx.RunningJobsAmong(c.after, checkedRows)
		if err != nil {
			return err
		}
		c.after, c.suspects = last, r.unknown(running)
		return nil
	})
}

// freeUnknown frees the jobs of a list that the runner does not have.
func (r *Runner) freeUnknown(ctx context.Context, jobs []storage.RunningJob) error {
	lost := r.unknown(jobs)
	if len(lost) == 0 {
		return nil
	}

	return r.DB.Update(ctx, func(tx *storage.Tx) error {
		for _, j := range lost {
			freed, err := tx.FreeJob(j, j.Crashes, 0)
			if err != nil {
				return err
			}
			if freed { // else it was settled while the table was read
				tx.AfterCommit(func() { r.Log.Error("freed a job that was leased to no worker", "job", j.ID) })
			}
		}
		return nil
	})
}

// unknown returns those of the jobs that neither run nor are leased ahead.
func (r *Runner) unknown(jobs []storage.RunningJob) (lost []storage.RunningJob) {
	if len(jobs) == 0 {
		return nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	ahead := make(map[int64]bool)
	for _, l := range r.lanes {
		for _, j := range l.ready {
			ahead[j.ID] = true
		}
		for _, j := range l.returning {
			ahead[j.ID] = true
		}
	}

	for _, j := range jobs {
		current := r.running[j.ID]
		if (current == nil || current.job.Runs != j.Runs) && !ahead[j.ID] {
			lost = append(lost, j)
		}
	}
	return lost
}
