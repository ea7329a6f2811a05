package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAQueueIsNotPolledForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := pollQueue(t.Context(), time.Second, func() (bool, error) { return false, nil })
		if err == nil || !strings.Contains(err.Error(), "did not come to rest") {
			t.Error(err)
		}

		calls := 0
		err = pollQueue(t.Context(), time.Second, func() (bool, error) { calls++; return calls == 3, nil })
		if err != nil || calls != 3 {
			t.Error(calls, err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err = pollQueue(ctx, time.Hour, func() (bool, error) { cancel(); return false, nil })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
