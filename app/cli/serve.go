package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"confab/app"
)

// serve runs the server.
func (e *env) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the server",
		Example: "  confab serve\n  confab serve --listen 0.0.0.0:8080 --data-dir /var/lib/confab",
		Args:    arguments(),
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
