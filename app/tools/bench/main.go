// Command bench measures confab on this machine and prints one table: figures, ratios,
// and goals.
//
// Absolute figures depend on the machine; the ratios, taken within one run from
// interleaved rounds, are what to compare. The machine's own limits are measured
// in the same run.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"confab/app/tools/rig"
)

// bench is one run of all measurements.
type bench struct {
	confab   rig.Program
	self     rig.Program // this program, which also runs as the roles below
	schema   string      // text of schema.sql
	dir      string      // directory of everything that is written
	only     string      // name of the only part to measure; "" for all
	quick    bool        // a rough look
	rounds   int
	length   time.Duration // of one measurement in one round
	messages int           // the most that are stored before something is measured
	table    table

	pocketbasePath string // "" if it is not measured
}

func main() {
	if len(os.Args) > 1 {
		if run, ok := roles[os.Args[1]]; ok {
			fatal(run(os.Args[2:]))
			return
		}
	}

	b := &bench{}
	flag.StringVar(&b.confab.Path, "confab", "bin/confab", "the binary to measure")
	flag.StringVar(&b.pocketbasePath, "pocketbase", "", "a binary of PocketBase, to be measured beside")
	flag.StringVar(&b.only, "only", "", "measure one part: "+partNames())
	flag.IntVar(&b.rounds, "rounds", 5, "interleaved rounds; the median counts")
	flag.DurationVar(&b.length, "length", time.Second, "length of one measurement in one round")
	flag.IntVar(&b.messages, "messages", 10_000_000,
		"messages to store for growth, and at most for a purge (600 bytes of disk each); 0 leaves both out")
	flag.BoolVar(&b.quick, "quick", false, "a rough look in a few minutes: short rounds, and growth to 100,000 messages")
	profile := flag.String("cpuprofile", "", "write a profile of the measuring process to this file")

	flag.Parse()
	if b.quick {
		b.length, b.messages = 200*time.Millisecond, 100_000
	}

	schema, err := os.ReadFile("schema.sql")
	fatal(err) // run it from the top of the repository
	b.schema = string(schema)
	b.self.Path, err = os.Executable()
	fatal(err)

	if *profile != "" {
		f, err := os.Create(*profile)
		fatal(err)
		fatal(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	err = b.run(ctx)
	fmt.Print(b.table.String())
	fatal(err)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// roles are what this program does in processes of its own: it starts itself with one of
// these words as the first argument.
var roles = map[string]func([]string) error{
	rig.ReceiveCommand: rig.Receive, rig.StorageCommand: rig.ServeStorage, "ceiling": ceiling, "consoles": runConsoles,
}

// part is a group of measurements that share an installation.
type part struct {
	name    string
	measure func(*bench, context.Context) error
}

var parts = []part{
	{"limits", (*bench).limits},
	{"start", onInstallation(0, (*bench).start)},
	{"commit", (*bench).groupCommit},
	{"queue", (*bench).queue},
	{"send", onInstallation(0, (*bench).send)},
	{"gateway", onInstallation(0, (*bench).gateway)},
	{"pocketbase", onInstallation(fewMessages, (*bench).pocketbase)},
	{"deliver", onInstallation(0, (*bench).deliver)},
	{"rules", onInstallation(0, (*bench).rules)},
	{"inbound", onInstallation(0, (*bench).inbound)},
	{"drain", onInstallation(0, (*bench).drain)},
	{"fairness", onInstallation(0, (*bench).fairness)},
	{"reading", onInstallation(storedMessages, (*bench).reading)},
	{"streams", onInstallation(0, (*bench).streams)},
	{"consoles", onInstallation(0, (*bench).consoles)},
	{"browser", onInstallation(0, (*bench).browser)},
	{"waiting", onInstallation(fewMessages, (*bench).waiting)},
	{"broadcast", onInstallation(0, (*bench).broadcast)},
	{"search", onInstallation(fewMessages, (*bench).search)},
	{"replica", onInstallation(0, (*bench).replica)},
	{"growth", onInstallation(fewMessages, (*bench).growth)},
	{"purge", (*bench).purge},
}

// onInstallation lets a part measure on an installation of its own, in which messages are
// stored already.
func onInstallation(messages int, measure func(*bench, context.Context, *installation) error) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		o, err := b.openInstallation(ctx, messages)
		if err != nil {
			return err
		}
		defer o.close()
		return measure(b, ctx, o)
	}
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// run measures the chosen parts and removes everything that they wrote.
func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "confab-bench-*"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)

	found := false
	for _, p := range parts {
		if b.only != "" && b.only != p.name {
			continue
		}

		found = true
		fmt.Fprintf(os.Stderr, "%-11s", p.name)
		began := time.Now()
		if err := p.measure(b, ctx); err != nil {
			fmt.Fprintln(os.Stderr)
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "%6.0f s\n", time.Since(began).Seconds())
	}

	if !found {
		return fmt.Errorf("there is no part %q: choose one of %s", b.only, partNames())
	}
	return nil
}
