// Confab is a messaging platform in one executable.
package main

import (
	_ "embed"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"confab/app/cli"
)

//go:embed schema.sql
var schema string

//go:embed config.example.toml
var exampleConfig string

// version is set by the build.
var version = "dev"

// gcPercent lets the heap grow to five times its live size before a collection.
// The live heap is small, a few megabytes, and almost everything else is garbage
// when its request ends. Measured on sends at 64 connections: 8 to 30 % more
// throughput, in a few noisy rounds, for some 30 MB under load. GOGC overrides it.
const gcPercent = 400

// memoryLimit is from where on garbage is collected however little of it there is. Under load
// with 20 consoles it saves 70 to 90 MB, and what it costs could not be measured. GOMEMLIMIT
// overrides it.
const memoryLimit = 128 << 20

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
		go raiseMemoryLimit()
	}

	os.Exit(cli.Run(cli.UntilSignal(), cli.Assets{Schema: schema, ExampleConfig: exampleConfig, Version: version}, os.Args[1:]))
}

// raiseMemoryLimit keeps the limit well above what is in use. While strangers hold thousands of
// requests open that comes close to the limit, and a collector that has no room collects without
// a pause: the slowest hundredth of authenticated calls took four to ten times as long.
func raiseMemoryLimit() {
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}

	for range time.Tick(time.Second) {
		metrics.Read(used)
		live, stacks := used[0].Value.Uint64(), used[1].Value.Uint64()
		debug.SetMemoryLimit(int64(max(memoryLimit, 3*live+stacks)))
	}
}
