package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// job is a job as `confab jobs list` shows it.
type job struct {
	ID        int64           `json:"id"`
	Kind      string          `json:"kind"`
	State     string          `json:"state"`
	Args      json.RawMessage `json:"args"`
	DueAt     time.Time       `json:"due_at"`
	LastError *string         `json:"last_error"`
}

func (j job) String() string {
	why := "it did not fail"
	if j.LastError != nil {
		why = *j.LastError
	}
	return fmt.Sprintf("job %d, %s, is %s, due in %s: %s", j.ID, j.Kind, j.State, time.Until(j.DueAt).Round(time.Second), why)
}

// workKinds are the jobs that messages and events need. There are others, which come
// by themselves.
var workKinds = []string{
	"send", "receipt", "deliver", "media.fetch", "send.later", "contacts.import",
	"broadcast.run", "broadcast.send", "broadcast.resume", "rules.run",
}

// work lists the jobs of workKinds that wait or run.
func (t *trial) work() ([]job, error) {
	text, err := t.server.Command("jobs", "list", "--json", "--limit", "100000")
	if err != nil {
		return nil, err
	}

	var all []job
	err = json.Unmarshal([]byte(text), &all)
	return slices.DeleteFunc(all, func(j job) bool {
		return j.State == "failed" || !slices.Contains(workKinds, j.Kind)
	}), err
}

// findWork names a job that is left to do, or returns "".
func (t *trial) findWork() (string, error) {
	left, err := t.work()
	if err != nil || len(left) == 0 {
		return "", err
	}
	return left[0].String(), nil
}

// lateAfter is longer than any pause before another try.
const lateAfter = 3 * time.Minute

// hurryLateJobs reports the jobs that wait for a time to which only a wrong clock has
// put them, and lets them run now, as an administrator would do: so the rest of the
// audit still means something.
func (t *trial) hurryLateJobs() error {
	all, err := t.work()
	for _, j := range all {
		if j.State != "due" || time.Until(j.DueAt) < lateAfter {
			continue
		}

		if t.kills == 0 { // after many crashes a job waits on purpose
			t.report.discrepancy("waits for a time that a wrong clock showed: %s", j)
		}
		if _, err := t.server.Command("jobs", "retry", strconv.FormatInt(j.ID, 10)); err != nil {
			return err
		}
	}
	return err
}
