package queue

import (
	"time"

	"confab/storage"
)

const (
	// maxCrashes stops a job that takes the process down each time it runs.
	maxCrashes = 10
	// freeCrashes is how many crashes delay a job by nothing.
	freeCrashes = 2
)

// freeCrashed frees the jobs that were running when the process died.
//
// Any of them may be to blame, and most are not. So each waits longer after each
// crash, and by chance not as long as the others: before long those that are
// innocent run while the culprit does not, and end. A job fails for good after
// maxCrashes. Its runs were spread over about a quarter of an hour by then: a server
// that is killed again and again meanwhile, for reasons of its own, finds the job
// waiting most of the time, and counts nothing.
//
// A job that was leased ahead counts nothing either. If it is to blame,
// it will be the first of its lane before long, and then it counts.
func freeCrashed(tx *storage.Tx, jobs []storage.RunningJob) error {
	for _, j := range jobs {
		crashes, due := j.Crashes, storage.Time(0)
		if j.LeasedUntil != 0 {
			crashes++
			if crashes > freeCrashes {
				due = tx.Now.Add(crashDelay(crashes))
			}
		}
		if _, err := tx.FreeJob(j, crashes, due); err != nil {
			return err
		}
	}
	return nil
}

// crashDelay is how long a job waits after so many crashes, if they are more than
// freeCrashes: four seconds after the third, doubled each time, ±50 %.
func crashDelay(crashes int) time.Duration {
	d := time.Second << min(crashes-1, maxCrashes)
	return Jitter(d, 0.5)
}
