package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/app/datadir"
)

func (e *env) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server: the API at /v1, its reference at /docs, and the console at /console/. The first start creates\n" +
			"the data directory; 'confab orgs create' creates the first organization in it, and 'confab keys create' its\n" +
			"key. An older database is upgraded first, and a copy of it is kept. SIGTERM or Ctrl-C stops the server once\n" +
			"accepted requests are answered.",
		Example: "  confab serve\n  confab serve --listen 0.0.0.0:8080 --data-dir /var/lib/confab",
		RunE: e.withSettings(func(cmd *cobra.Command, _ []string, c config.Config) error {
			a, err := app.New(e.appOptions(cmd, c))
			if err != nil {
				return err
			}

			return errors.Join(a.Run(cmd.Context()), a.Close())
		}),
	}

	cmd.Flags().String("listen", "", "`address` to listen on (server.listen, default 127.0.0.1:8080)")
	return cmd
}

// readyTimeout is how long the server may take to answer.
const readyTimeout = 5 * time.Second

func (e *env) ready() *cobra.Command {
	var target *url.URL
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Check whether the server is ready: exit status 0 or 1",
		Long: "Check whether the server of the data directory, or the one at --url, is ready for requests.\n" +
			"The exit status is the answer, as container health checks expect.",
		Example: "  confab ready\n  confab ready --url http://127.0.0.1:8080",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			var serverName string // for the certificate
			if target == nil {
				c, err := e.settings(cmd)
				if err != nil {
					return err
				}
				dir := datadir.Dir(c.DataDir)
				served, unknown := dir.IsServed()
				var at datadir.ServerAddress
				switch answered, _ := dir.Ask(cmd.Context(), datadir.CommandAddress, &at); {
				case answered:
					target, err = url.Parse(at.Local)
				case unknown != nil: // a user who may not read the directory asks at the address in the settings
					target, err = c.Server.LocalURL()
				case served:
					return fmt.Errorf("not ready: the server of %s does not answer yet", c.DataDir)
				default:
					return fmt.Errorf("not ready: no server is running on %s: check --data-dir, or set --url", c.DataDir)
				}
				if err != nil {
					return fmt.Errorf("%w: set the server's address with --url", err)
				}
				serverName = c.Server.CertificateName()
			}

			if err := checkReady(cmd.Context(), target.JoinPath("readyz"), serverName); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "ready")
			return nil
		}),
	}

	parsedFlag(cmd, &target, "url", "check the server at this `address` instead of the data directory's", parseURL)
	return cmd
}

func checkReady(ctx context.Context, target *url.URL, serverName string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	res, err := datadir.LocalClient(serverName, readyTimeout).Do(req)
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 200))
		return fmt.Errorf("not ready: %s answered %s: %s", target, res.Status, printable(strings.TrimSpace(string(text))))
	}
	return nil
}
