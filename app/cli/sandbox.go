package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/storage"
)

// defaultSandboxDir is apart from a server's own directory.
const defaultSandboxDir = "./confab-sandbox"

func (e *env) sandbox() *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Run a server to try things out, with an organization and a key",
		Long: "Run a server to try things out, with an organization and a key, and print how to call it.\n" +
			"Everything is kept in its data directory (default " + defaultSandboxDir + "), the key too. The settings of a server\n" +
			"(./" + defaultConfigFile + ") are not the sandbox's: it reads only a file that is named, and CONFAB_ variables.",
		Example: "  confab sandbox\n  confab sandbox --fresh --listen 127.0.0.1:9000",
		Args:    arguments(),
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			c, err := e.sandboxSettings(cmd)
			if err != nil {
				return err
			}
			if err := claimSandbox(app.DataDir(c.DataDir), fresh); err != nil {
				return err
			}
			return e.runSandbox(cmd, c)
		}),
	}
	cmd.Flags().String("listen", "", "`address` to listen on (default 127.0.0.1:8080)")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "remove what the sandbox holds and start over")
	return cmd
}

// sandboxSettings are a server's, but for the defaults, and without the file
// that lies about for a real one.
func (e *env) sandboxSettings(cmd *cobra.Command) (config.Config, error) {
	from := e.sources(cmd, map[string]string{"listen": "server.listen"})
	if !from.FileRequired {
		from.File = ""
	}
	defaults := config.Default()
	defaults.DataDir = defaultSandboxDir
	defaults.Log.Level, defaults.Log.Format = "warn", "text"
	from.Defaults = &defaults
	return config.Load(from)
}

// claimSandbox makes sure that all in the directory is a sandbox's, so that
// --fresh may remove it, now or later.
func claimSandbox(dir app.DataDir, fresh bool) error {
	entries, err := os.ReadDir(string(dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	_, err = os.Stat(sandboxFile(dir))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil && (fresh || !dir.Exists()):
		return fmt.Errorf("%s is not empty and has no %s, so it may not be a sandbox: choose another directory with --data-dir, or empty it yourself",
			string(dir), sandboxFileName)
	case !fresh:
		return nil
	}
	served, err := dir.Served()
	if err != nil {
		return err
	}
	if served {
		return fmt.Errorf("%s is in use: stop its server first", string(dir))
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(string(dir), entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// runSandbox serves until it is told to stop.
func (e *env) runSandbox(cmd *cobra.Command, c config.Config) error {
	a, err := app.New(e.appOptions(cmd, c))
	if err != nil {
		return err
	}
	dir := app.DataDir(c.DataDir)
	state, err := readSandbox(dir)
	if err == nil {
		err = a.DB.Update(cmd.Context(), func(tx *storage.Tx) error { return state.seed(tx) })
	}
	if err == nil {
		state.BaseURL = a.URL() + "/v1"
		err = state.write(dir)
	}
	if err != nil {
		return errors.Join(err, a.Close())
	}
	if at, err := netip.ParseAddrPort(a.Config.Server.Listen); err != nil || !at.Addr().IsLoopback() {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: the sandbox listens on %s, where other machines reach it; it is made for this one only\n", c.Server.Listen)
	}
	state.greet(cmd.OutOrStdout(), c.DataDir)
	return errors.Join(a.Run(cmd.Context()), a.Close())
}

// greet says how to make the first calls, in words that can be copied into a
// shell. The label has a new name at each start, because two cannot share one.
func (s *sandboxState) greet(out io.Writer, dir string) {
	fmt.Fprintf(out, `The sandbox is ready.

  base URL   %[1]s
  API key    %[2]s
  data       %[3]s (both are in its %[4]s)

Who am I?

  curl %[1]s/me \
    -H 'Authorization: Bearer %[2]s'

Make a label:

  curl %[1]s/labels \
    -H 'Authorization: Bearer %[2]s' \
    -H 'Content-Type: application/json' \
    -d '{"name": "VIP since %[5]s", "color": "amber"}'

Ctrl-C stops it. All is kept for the next start, the key too; --fresh starts over.
`, s.BaseURL, s.APIKey, dir, sandboxFileName, time.Now().Format("Jan 2 15:04:05.000"))
}
