// Command bench measures confab on this machine and prints one table: figures, ratios,
// and goals.
//
// Absolute figures depend on the machine; the ratios, taken within one run from
// interleaved rounds, are what to compare.
package main

import (
	"flag"
	"os"
	"slices"
	"strings"
	"time"

	"confab/app/tools/rig"
)

type bench struct {
	confab   rig.Program
	self     rig.Program // this program, which also runs as roles
	schema   string      // text of schema.sql
	dir      string      // directory of everything that a part writes
	only     string      // name of the only part to measure; "" for all
	rounds   int
	length   time.Duration // of one measurement in one round
	messages int           // the most that are stored before something is measured; with fewer, all parts do less
	table    table

	pocketbasePath string // "" if it is not measured
}

func main() {
	rig.Main("bench", map[string]func([]string){"ceiling": ceiling}, func() { parseFlags().run() })
}

func parseFlags() *bench {
	b := &bench{schema: string(rig.Must(os.ReadFile("schema.sql")))} // run it from the top of the repository
	b.self.Path = rig.Must(os.Executable())
	b.table.out = os.Stdout

	flag.StringVar(&b.confab.Path, "confab", "bin/confab", "the binary to measure")
	flag.StringVar(&b.pocketbasePath, "pocketbase", "", "a binary of PocketBase, to be measured beside")
	flag.StringVar(&b.only, "only", "", "measure one part: "+partNames())
	flag.IntVar(&b.rounds, "rounds", 5, "interleaved rounds; the median counts")
	flag.DurationVar(&b.length, "length", time.Second, "length of one measurement in one round")
	flag.IntVar(&b.messages, "messages", 10_000_000, "messages to store for growth (700 bytes of disk each)")
	quick := flag.Bool("quick", false, "a rough look in a few minutes: short rounds, and growth to 100,000 messages")

	flag.Parse()
	if *quick {
		b.length, b.messages = 200*time.Millisecond, 100_000
	}
	return b
}

// part is a group of measurements that share an installation, in which messages are stored already.
type part struct {
	name     string
	messages int
	measure  func(*bench, *installation)
}

var parts = []part{
	{"start", 0, (*bench).start},
	{"queue", 0, (*bench).queue},
	{"send", 0, (*bench).send},
	{"gateway", 0, (*bench).gateway},
	{"deliver", 0, (*bench).deliver},
	{"rules", 0, (*bench).rules},
	{"drain", 0, (*bench).drain},
	{"fairness", 0, (*bench).fairness},
	{"reading", storedMessages, (*bench).reading},
	{"streams", 0, (*bench).streams},
	{"consoles", 0, (*bench).consoles},
	{"browser", 0, (*bench).browser},
	{"waiting", fewMessages, (*bench).waiting},
	{"broadcast", 0, (*bench).broadcast},
	{"search", fewMessages, (*bench).search},
	{"replica", 0, (*bench).replica},
	{"growth", fewMessages, (*bench).growth},
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// run measures the chosen parts, and removes everything that each wrote.
func (b *bench) run() {
	chosen := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return b.only != "" && b.only != p.name })
	rig.Require(len(chosen) > 0, "there is no part %q: choose one of %s", b.only, partNames())
	b.table.print("", "WHAT", "CALLBACKS", "FIGURE", "GOAL", "VERDICT", "DETAIL")
	defer b.table.end() // with an error, too

	for _, p := range chosen {
		rig.Within(p.name, func() {
			defer rig.Clean()
			b.dir = rig.Must(os.MkdirTemp("", "confab-bench-*"))
			rig.Cleanup(func() { os.RemoveAll(b.dir) })
			p.measure(b, b.openInstallation(p.messages))
		})
	}
}
