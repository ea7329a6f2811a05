package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// interleave runs each measurement once a round, so that a slow moment of the machine
// affects all of them, and returns the median of each.
func (b *bench) interleave(ctx context.Context, measure ...func() (float64, error)) ([]float64, error) {
	samples := make([][]float64, len(measure))

	for range b.rounds {
		for i, m := range measure {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v, err := m()
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], v)
		}
	}

	medians := make([]float64, len(measure))
	for i, s := range samples {
		medians[i] = median(s)
	}
	return medians, nil
}

func median(s []float64) float64 { return percentile(s, 50) }

// percentile sorts s and returns the smallest value that p percent of it do not exceed.
func percentile[T ~int64 | ~float64](s []T, p int) T {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[max(0, (len(s)*p+99)/100-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func perSecond(v float64) string { return fmt.Sprintf("%.0f/s", v) }

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// latencyText returns the median and the 99th percentile as text.
func latencyText(waits []time.Duration) string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", ms(percentile(waits, 50)), ms(percentile(waits, 99)))
}

// connectionsText returns a number of connections as text.
func connectionsText(connections int) string {
	if connections == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", connections)
}
