// Command soak tests a whole installation under load for a time: mixed traffic of two
// tenants, people in browsers, and faults on a schedule, among them the death of the server.
// Afterwards it compares what was acknowledged with what the provider saw, what the receivers
// and the readers of streams got, what the browsers show and what the database holds. Any
// difference is a bug. With -kills it does nothing but kill the server, and compares then.
//
// A trial has five steps. prepare starts the server, the simulator of the provider and a
// receiver of webhooks as processes, and makes the tenants. openConsoles lets people sign in,
// if there is a browser. runTraffic runs clients and faults at the same time; every client
// repeats its requests until they are answered and records what was acknowledged. settle ends
// the faults and waits until nothing is left to do. audit compares all sides.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"confab/app/tools/rig"
)

func main() {
	rig.Main("soak", map[string]func([]string){}, func() {
		report := soak(parseFlags())
		fmt.Print(report)
		if report.failed() {
			os.Exit(1)
		}
	})
}

func parseFlags() options {
	o := options{hasClock: true, self: rig.Program{Path: rig.Must(os.Executable())}}
	flag.StringVar(&o.program.Path, "confab", "bin/confab-trial", "the binary to try, built with -tags trial")
	flag.DurationVar(&o.length, "length", 10*time.Minute, "how long traffic and faults go on")
	flag.Float64Var(&o.rate, "rate", 0, "messages per second of each tenant; 0 is 60, or 10 beside browsers")
	flag.BoolVar(&o.people, "people", true, "let people work in browsers, if there is one")
	flag.IntVar(&o.kills, "kills", 0, "do nothing but kill the server this often, as fast as it starts again, instead of -length")
	flag.BoolVar(&o.replica, "replica", false, "keep a replica and media in object storage, which fails at times, and lose the machine")
	flag.StringVar(&o.only, "only", "", "play only the faults whose names match this `pattern`")
	flag.Parse()

	if o.rate == 0 {
		o.rate = 60
		// Four browsers take most of two cores: with more messages, callbacks come so late that it
		// is not known in time which calls of a killed server the provider has heard.
		if o.people && rig.FindWindowless() != "" {
			o.rate = 10
		}
	}
	if o.kills > 0 {
		o.length = time.Duration(o.kills) * 5 * time.Second // at most, on a busy machine
		if o.replica {
			o.length *= 6 // each time it is restored elsewhere
		}
	}
	return o
}
