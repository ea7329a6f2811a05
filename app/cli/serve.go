package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"confab/app"
)

// serve runs the server.
func (e *env) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: "Run the server: the API at /v1, its reference at /docs, and the console at /console/. The first start creates\n" +
			"the data directory; 'confab orgs create' creates the first organization in it, and 'confab keys create' its\n" +
			"key. An older database is upgraded first, and a copy of it is kept. SIGTERM or Ctrl-C stops the server once\n" +
			"accepted requests are answered.",
		Example: "  confab serve\n  confab serve --listen 0.0.0.0:8080 --data-dir /var/lib/confab",
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			c, err := e.settings(cmd, map[string]string{"listen": "server.listen"})
			if err != nil {
				return err
			}

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
