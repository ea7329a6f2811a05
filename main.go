// Confab is a messaging platform in one executable.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"confab/app/cli"
)

//go:embed schema.sql
var schema string

//go:embed config.example.toml
var exampleConfig string

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, cli.Assets{Schema: schema, ExampleConfig: exampleConfig, Version: version}, os.Args[1:]))
}
