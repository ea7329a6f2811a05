package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"confab/app"
	"confab/app/config"
	"confab/app/datadir"
	"confab/storage"
)

// defaultSandboxDir is never a server's own directory.
const defaultSandboxDir = "./confab-sandbox"

func (e *env) sandbox() *cobra.Command {
	var (
		fresh, show bool
		simulatorAt string
		forwardTo   *url.URL
	)
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run a server with a simulated provider, ready to try out",
		Long: "Run a server with a simulated provider: an organization, a key, a connected number, three approved\n" +
			"templates and a person who has just written. It prints the address of the console, which also shows that\n" +
			"person's phone, and how to send the first message. In a terminal it then prints a line for each message\n" +
			"and callback. Nothing leaves this machine except events, if you subscribe a URL elsewhere.\n\n" +
			"Everything is kept in the data directory, including the key; what a client needs is in its " + datadir.SandboxFile + ".\n" +
			"The sandbox does not use server settings (./" + defaultConfigFile + "): it reads only a file that you name, and\n" +
			"CONFAB_ variables. If other machines can reach it, the simulator's control API (/_sim) requires a token,\n" +
			"from $CONFAB_CONTROL_TOKEN or generated.\n\n" +
			"With --forward-to, a URL is subscribed to all events, now and at later starts, and its signing secret is\n" +
			"printed. The URL may be on this machine.",
		Example: "  confab sandbox --open\n" +
			"  confab sandbox --forward-to http://localhost:3000/hooks\n" +
			"  confab sandbox --fresh --listen 127.0.0.1:9000 --simulator-listen 127.0.0.1:0",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			c, err := e.sandboxSettings(cmd)
			if err != nil {
				return err
			}
			if err := prepareSandboxDir(datadir.Dir(c.DataDir), fresh); err != nil {
				return err
			}

			b, err := e.openSandbox(cmd, c, simulatorAt, forwardTo)
			if err != nil {
				return err
			}
			warnIfExposed(cmd.ErrOrStderr(), "sandbox", b.app.Config.Server.Listen)
			warnIfExposed(cmd.ErrOrStderr(), "simulator", b.simulator.listener.Addr().String())

			feed := newTerminalFeed(b.simulator.Server, cmd.OutOrStdout())
			err = b.serveWhile(cmd.Context(), func(ctx context.Context) error {
				b.printInstructions(cmd.OutOrStdout())
				if show {
					openBrowser(cmd.ErrOrStderr(), b.state.ConsoleURL)
				}
				feed.start()
				<-ctx.Done()
				return nil
			})
			feed.stop()
			return errors.Join(err, b.close())
		}),
	}

	dataDirFlag(cmd.Flags(), &e.dataDir, "for all data (default "+defaultSandboxDir+")")
	cmd.Flags().StringVar(&e.configFile, "config", "", "settings `file` (default $CONFAB_CONFIG, or none)")
	cmd.Flags().String("listen", "", "`address` of the server (default 127.0.0.1:8080)")
	parsedFlagWithDefault(cmd, &simulatorAt, "simulator-listen", defaultSimulatorListen, "`address` of the simulator", parseAddress)
	forwardFlag(cmd, &forwardTo)
	cmd.Flags().BoolVar(&fresh, "fresh", false, "delete the sandbox's data and start over")
	cmd.Flags().BoolVar(&show, "open", false, "open the console in the browser")

	cmd.AddCommand(e.sandboxExec(), e.sandboxPlay(), e.sandboxEnv())
	return cmd
}

// sandboxSettings has other defaults, and no ./confab.toml: that is probably a real server's.
func (e *env) sandboxSettings(cmd *cobra.Command) (config.Config, error) {
	from := e.sources(cmd)
	if !from.FileRequired {
		from.File = ""
	}

	defaults := config.Default()
	defaults.DataDir = defaultSandboxDir
	defaults.Log.Level, defaults.Log.Format, defaults.Log.Bodies = "warn", "text", "all"
	defaults.MCP = config.MCP{Enabled: true, AllowWrites: true} // so that an agent can be tried against the phone
	defaults.Gateway.Enabled = true
	from.Defaults = &defaults
	return config.Load(from)
}

// prepareSandboxDir makes sure that no server runs on the directory, and that it
// is empty or a sandbox's: --fresh removes everything in it, now or later.
func prepareSandboxDir(dir datadir.Dir, fresh bool) error {
	if empty, err := isEmptyDirectory(string(dir)); err != nil || empty {
		return err
	}

	// A directory with a database but without sandbox.json may be a sandbox that
	// lost its file: seed finds out. --fresh does not take the risk.
	_, err := os.Stat(sandboxFile(dir))
	exists, _ := dir.Exists()
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && (fresh || !exists):
		return fmt.Errorf("%s is not empty and has no %s, so it may not be a sandbox: "+
			"choose another directory with --data-dir, or empty it yourself", string(dir), datadir.SandboxFile)
	}

	served, err := dir.IsServed()
	if err == nil && served {
		err = fmt.Errorf("%s is in use: stop its server first", string(dir))
	}
	if err != nil || !fresh {
		return err
	}

	// Only the content is removed: the directory itself may be a mount point.
	entries, err := os.ReadDir(string(dir))
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(string(dir), entry.Name())))
	}
	return err
}

// sandbox is a server together with the simulator that is its provider, in one
// process and one data directory.
//
// Its life: openSandbox opens both and creates in them what is missing (an organization, a key, a
// number, templates, a webhook subscription), serveWhile serves both while a function runs, and
// close saves and frees everything. The order matters:
//
//   - Both addresses are tried before anything is written, so that a start that
//     fails for a taken port leaves nothing.
//   - The server is opened before the simulator: it takes the lock of the data
//     directory, and its database shows whether the directory is a sandbox's.
//   - When serving ends, the server stops first, because its last work may still
//     need the provider.
//
// What a client needs to know is in state, which is also written to sandbox.json.
// That file is the only copy of the API key; where it is lost, the next start
// finds its organization by name and issues another key.
type sandbox struct {
	dir       string
	app       *app.App
	simulator *simulatorHost
	clock     *storage.MovableClock
	state     *sandboxState
	token     string // demanded by /_sim; empty where only this machine reaches it

	webhookSecret string // of the URL that events are forwarded to, if there is one
}

// openSandbox opens everything, and creates in it what is missing.
func (e *env) openSandbox(cmd *cobra.Command, c config.Config, simulatorAt string, forwardTo *url.URL) (*sandbox, error) {
	l, err := openListener(simulatorAt, "simulator-listen")
	if err != nil {
		return nil, err
	}

	b := &sandbox{dir: c.DataDir, clock: &storage.MovableClock{}}
	if err = b.open(e, cmd, c, l); err == nil {
		err = b.subscribeForwardURL(cmd.Context(), forwardTo)
	}
	if err != nil {
		return nil, errors.Join(err, b.close(), closeListener(l))
	}
	return b, nil
}

// serveWhile serves, calls f once everything answers, and stops when f returns. The context of f
// ends with the caller's, or when the server or the simulator fails.
func (b *sandbox) serveWhile(ctx context.Context, f func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()

	group.Go(b.simulator.serve)
	group.Go(func() error {
		defer stop()
		err := b.app.Run(ctx)
		b.simulator.stop()
		return err
	})

	err := b.waitUntilReady(ctx)
	if err == nil {
		err = f(ctx)
	}
	stop()
	return errors.Join(err, group.Wait())
}

// waitUntilReady waits until the server answers, and lets the sample person write to it.
func (b *sandbox) waitUntilReady(ctx context.Context) error {
	target, err := b.app.Config.Server.LocalURL()
	if err == nil {
		err = checkReady(ctx, target.JoinPath("readyz"), "")
	}
	switch {
	case ctx.Err() != nil:
		return nil // interrupted, which is no error
	case err != nil:
		return err
	}
	return openServiceWindow(b.simulator.Server, b.state.PhoneNumberID)
}

// close frees everything. It may be called after open has failed half-way.
func (b *sandbox) close() (err error) {
	if b.simulator != nil {
		err = b.simulator.close()
	}
	if b.app != nil {
		err = errors.Join(err, b.app.Close())
	}
	return err
}

// controlToken is the token that the control API demands: the one of the variable or, where other
// machines reach it, that of the last start, or a new one.
func controlToken(known string, exposed bool) string {
	set := os.Getenv(controlTokenVariable)
	if set == "" && exposed {
		return cmp.Or(known, "sim_"+rand.Text())
	}
	return set
}

// openBrowser opens a page in the browser of the person: that of $BROWSER, or the system's.
// Where there is none, it says so: the address was printed before.
func openBrowser(warnings io.Writer, url string) {
	system := "xdg-open"
	if runtime.GOOS == "darwin" {
		system = "open"
	}
	command := exec.Command(cmp.Or(os.Getenv("BROWSER"), system), url)
	if err := command.Start(); err != nil {
		fmt.Fprintf(warnings, "confab: warning: could not open a browser: %v\n", err)
		return
	}
	go command.Wait() // it may stay open as long as we run
}
