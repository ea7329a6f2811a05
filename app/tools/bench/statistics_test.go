package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
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
			if got := percentile(slices.Clone(tt.values), tt.p); got != tt.want {
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

func TestOver(t *testing.T) {
	if one, many := connectionsText(1), connectionsText(64); one != "1 connection" || many != "64 connections" {
		t.Error(one, many)
	}
}

func TestInterleaveTakesTurnsAndReturnsMedians(t *testing.T) {
	b := &bench{rounds: 3}
	var order []string
	measure := func(name string, values ...float64) func() (float64, error) {
		return func() (float64, error) {
			order = append(order, name)
			v := values[0]
			values = values[1:]
			return v, nil
		}
	}
	medians, err := b.interleave(t.Context(), measure("a", 1, 30, 2), measure("b", 10, 20, 300))
	if err != nil {
		t.Fatal(err)
	}
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
	_, err := b.interleave(t.Context(), func() (float64, error) { runs++; return 0, broken })
	if !errors.Is(err, broken) || runs != 1 {
		t.Error(err, runs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runs = 0
	if _, err := b.interleave(ctx, func() (float64, error) { runs++; return 0, nil }); !errors.Is(err, context.Canceled) || runs != 0 {
		t.Error(err, runs)
	}
}
