package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNothingIsPolledForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := poll(t.Context(), time.Second, func() (bool, error) { return false, nil })
		if err == nil || !strings.Contains(err.Error(), "did not happen") {
			t.Error(err)
		}

		calls := 0
		err = poll(t.Context(), time.Second, func() (bool, error) { calls++; return calls == 3, nil })
		if err != nil || calls != 3 {
			t.Error(calls, err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err = poll(ctx, time.Hour, func() (bool, error) { cancel(); return false, nil })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
