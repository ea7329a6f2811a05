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
	"strings"
	"syscall"
	"time"

	"confab/app/tools/rig"
)

// bench is one run of all measurements.
type bench struct {
	confab   rig.Program
	self     rig.Program // this program, which also runs as roles
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
	roles := map[string]func([]string){"ceiling": ceiling, "consoles": runConsoles}
	rig.Main("bench", roles, func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()

		b := parseFlags()
		defer func() { fmt.Print(b.table.String()) }() // with an error, too
		b.run(ctx)
	})
}

func parseFlags() *bench {
	b := &bench{schema: string(rig.Must(os.ReadFile("schema.sql")))} // run it from the top of the repository
	b.self.Path = rig.Must(os.Executable())

	flag.StringVar(&b.confab.Path, "confab", "bin/confab", "the binary to measure")
	flag.StringVar(&b.pocketbasePath, "pocketbase", "", "a binary of PocketBase, to be measured beside")
	flag.StringVar(&b.only, "only", "", "measure one part: "+partNames())
	flag.IntVar(&b.rounds, "rounds", 5, "interleaved rounds; the median counts")
	flag.DurationVar(&b.length, "length", time.Second, "length of one measurement in one round")
	flag.IntVar(&b.messages, "messages", 10_000_000,
		"messages to store for growth, and at most for a purge (600 bytes of disk each); 0 leaves both out")
	flag.BoolVar(&b.quick, "quick", false, "a rough look in a few minutes: short rounds, and growth to 100,000 messages")

	flag.Parse()
	if b.quick {
		b.length, b.messages = 200*time.Millisecond, 100_000
	}
	return b
}

// part is a group of measurements that share an installation.
type part struct {
	name    string
	measure func(*bench, context.Context)
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
func onInstallation(messages int, measure func(*bench, context.Context, *installation)) func(*bench, context.Context) {
	return func(b *bench, ctx context.Context) {
		o := b.openInstallation(ctx, messages)
		defer o.close()
		measure(b, ctx, o)
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
func (b *bench) run(ctx context.Context) {
	b.dir = rig.Must(os.MkdirTemp("", "confab-bench-*"))
	defer os.RemoveAll(b.dir)

	found := false
	for _, p := range parts {
		if b.only != "" && b.only != p.name {
			continue
		}

		found = true
		rig.Within(p.name, func() {
			fmt.Fprintf(os.Stderr, "%-11s", p.name)
			b.table.callbacks = ""
			began := time.Now()
			defer func() { fmt.Fprintf(os.Stderr, "%6.0f s\n", time.Since(began).Seconds()) }()
			p.measure(b, ctx)
		})
	}

	if !found {
		rig.Check(fmt.Errorf("there is no part %q: choose one of %s", b.only, partNames()))
	}
}
