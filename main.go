// Confab is a messaging platform in one executable.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

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

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once

	os.Exit(cli.Run(ctx, cli.Assets{Schema: schema, ExampleConfig: exampleConfig, Version: version}, os.Args[1:]))
}
