package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"confab/app/tools/rig"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i) // 100 down to 1
	}
	for _, tt := range []struct {
		name   string
		values []float64
		p      int
		want   float64
	}{
		{"nothing", nil, 50, 0},
		{"one", []float64{7}, 99, 7},
		{"the middle of an odd number", []float64{9, 1, 5}, 50, 5},
		{"the middle of rounds", []float64{5, 4, 1, 3, 2}, 50, 3},
		{"median of a hundred", hundred, 50, 50},
		{"p99 of a hundred", hundred, 99, 99},
		{"the largest", hundred, 100, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rig.Percentile(slices.Clone(tt.values), tt.p); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	if got := latencyText([]time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}); got != "p50 2.00 ms, p99 3.00 ms" {
		t.Error(got)
	}
}

func TestInterleaveTakesTurnsAndReturnsMedians(t *testing.T) {
	b := &bench{rounds: 3}
	var order []string
	measure := func(name string, values ...float64) func() float64 {
		return func() float64 {
			order = append(order, name)
			v := values[0]
			values = values[1:]
			return v
		}
	}
	medians := b.interleave(measure("a", 1, 30, 2), measure("b", 10, 20, 300))
	if !slices.Equal(order, []string{"a", "b", "a", "b", "a", "b"}) {
		t.Error(order)
	}
	if !slices.Equal(medians, []float64{2, 20}) {
		t.Error(medians)
	}
}

func TestInterleaveEndsWithTheFirstFault(t *testing.T) {
	b := &bench{rounds: 3}
	broken := errors.New("broken")
	runs := 0
	err := rig.Catch(func() { b.interleave(func() float64 { runs++; return rig.Must(0.0, broken) }) })
	if !errors.Is(err, broken) || runs != 1 {
		t.Error(err, runs)
	}
}

func TestASeriesSharesProcessorTime(t *testing.T) {
	var used, load, more time.Duration
	s := &series{
		measure: func() round {
			used += more
			load += time.Millisecond
			return round{count: 10}
		},
		processes: []process{
			{name: "server", used: func() time.Duration { return used }},
			{name: loadGenerator, used: func() time.Duration { return load }},
		},
	}
	for _, more = range []time.Duration{time.Millisecond, 3 * time.Millisecond, 2 * time.Millisecond} {
		s.measureRound()
	}
	if got := s.costText(); got != "µs of processor each: server 200, load generator 100" {
		t.Error(got)
	}
	if got := s.cost(); got != 200 {
		t.Errorf("%v µs without the load generator, want 200", got)
	}
}

func TestGeneratorUsesProcessorTime(t *testing.T) {
	for before := ownProcess("").used(); ownProcess("").used() <= before; {
	}
}

func TestNothingIsPolledForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := rig.Catch(func() { poll(time.Second, func() bool { return false }) })
		if err == nil || !strings.Contains(err.Error(), "did not happen") {
			t.Error(err)
		}

		calls := 0
		poll(time.Second, func() bool { calls++; return calls == 3 })
		if calls != 3 {
			t.Error(calls)
		}
	})
}
