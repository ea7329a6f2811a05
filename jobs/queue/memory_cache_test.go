package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"confab/jobs/queue"
	"confab/storage"
)

func TestAJobRemembersWhatWasKnownForAMoment(t *testing.T) {
	for name, tt := range map[string]struct {
		each time.Duration // one job takes
		want string        // what each of four knew
	}{
		"short waits":           {100 * time.Millisecond, "[0 1 2 3]"},
		"two wait for too long": {400 * time.Millisecond, "[0 1 2 <nil>]"},
		"all wait for too long": {time.Second, "[0 <nil> <nil> <nil>]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
				var knew []any
				start(t, db, queue.Options{Kinds: []queue.Kind{{
					Name: "k", LaneLimit: func(string) int { return 1 },
					Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
						knew = append(knew, j.Memory)
						time.Sleep(tt.each)
						return nil, nil
					},
				}}})
				synctest.Wait() // until it takes jobs
				for i := range 4 {
					enqueue(t, db, storage.NewJob{Kind: "k", Lane: "l", Memory: i})
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				is.Equal(fmt.Sprint(knew), tt.want)
			})
		})
	}
}

func TestASecondRunReadsForItself(t *testing.T) {
	bubble(t, func(t *testing.T, is *is.I, db *storage.DB) {
		var knew []any
		start(t, db, queue.Options{Kinds: []queue.Kind{{
			Name: "k", LaneLimit: func(string) int { return 1 },
			Handle: func(_ context.Context, j storage.Job) (queue.Commit, error) {
				knew = append(knew, j.Memory)
				switch len(knew) {
				case 1, 2:
					return nil, queue.RetryAfter(time.Millisecond, errors.New("again"))
				case 3:
					return nil, queue.Postpone(time.Millisecond)
				}
				return nil, nil
			},
		}}})
		synctest.Wait() // until it takes jobs
		enqueue(t, db, storage.NewJob{Kind: "k", Lane: "l", Memory: "a"}, storage.NewJob{Kind: "k", Lane: "l", Memory: "b"})
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(fmt.Sprint(knew), "[a b <nil> <nil> <nil>]")
	})
}
