// Command bench measures confab on this machine and prints one table.
//
// Absolute figures depend on the machine; the ratios, taken within one run from
// interleaved rounds, are what to compare.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"text/tabwriter"
	"time"
)

// bench is one run of all measurements.
type bench struct {
	confab   string // path of the binary
	schema   string // text of schema.sql
	only     string // one part's name, or all
	rounds   int
	length   time.Duration // of one measurement in one round
	messages int           // stored before the second half of the sends
	rows     []row
}

// row is one line of the result.
type row struct {
	what, figure, ratio string
}

func main() {
	b := &bench{}
	flag.StringVar(&b.confab, "confab", "bin/confab", "the binary to measure")
	flag.StringVar(&b.only, "only", "", "measure one part: commit, queue, http, send, inbound, deliver or purge")
	flag.IntVar(&b.rounds, "rounds", 5, "interleaved rounds; the median counts")
	flag.DurationVar(&b.length, "length", time.Second, "length of one measurement in one round")
	flag.IntVar(&b.messages, "messages", 1_000_000, "messages to store before sends are measured again")
	profile := flag.String("cpuprofile", "", "write a profile of the measuring process to this file")
	receiving := flag.Bool("receive", false, "be the endpoint that deliveries are measured with")
	flag.Parse()
	if *receiving {
		fmt.Fprintln(os.Stderr, "bench:", receive())
		os.Exit(1)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run() error {
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		return fmt.Errorf("run it from the top of the repository: %w", err)
	}
	b.schema = string(schema)
	parts := []struct {
		name    string
		measure func() error
	}{{"commit", b.groupCommit}, {"queue", b.queue}, {"http", b.http}, {"send", b.send}, {"inbound", b.inbound}, {"deliver", b.deliver}, {"purge", b.purge}}
	for _, part := range parts {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.measure(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return b.print()
}

func (b *bench) add(what, figure, ratio string) {
	b.rows = append(b.rows, row{what, figure, ratio})
	fmt.Fprint(os.Stderr, ".") // it takes a while
}

func (b *bench) print() error {
	fmt.Fprintln(os.Stderr)
	tab := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "WHAT\tFIGURE\tRATIO")
	for _, r := range b.rows {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", r.what, r.figure, r.ratio)
	}
	return tab.Flush()
}

// interleave runs each measurement once a round, so that a slow moment of the
// machine hits all of them, and returns each one's median.
func (b *bench) interleave(measure ...func() (float64, error)) ([]float64, error) {
	samples := make([][]float64, len(measure))
	for range b.rounds {
		for i, m := range measure {
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

// percentile sorts s and returns the value below which p percent of it lie.
func percentile[T ~int64 | ~float64](s []T, p int) T {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[min(len(s)-1, len(s)*p/100)]
}

func perSecond(v float64) string { return fmt.Sprintf("%.0f/s", v) }

func times(a, b float64) string { return fmt.Sprintf("%.1f×", a/b) }
