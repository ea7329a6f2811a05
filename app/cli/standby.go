package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

func (e *env) standby() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "standby URL",
		Short: "Follow the replica of another server, ready to take over",
		Long: "Keep a copy of the replica at a URL (s3:// or file://, as in replica.url), usually 2 seconds behind, in a data\n" +
			"directory that holds nothing but the same master.key. Use the settings of the server: 'confab promote' makes\n" +
			"this process the server. Until then only /livez, /readyz (503, with how far the copy is behind) and a page that\n" +
			"says what it is are served. The credentials are those of [replica], or the usual variables.",
		Example: "  confab standby 's3://bucket/confab?endpoint=https://s3.example.com' --data-dir /var/lib/confab",
		RunE: e.withSettings(func(cmd *cobra.Command, args []string, c config.Config) error {
			if !config.IsReplicaURL(args[0]) {
				return usage("%q is not the URL of a replica, such as s3://bucket/prefix or file:///path", args[0])
			}
			if err := replica.PrepareProcess(); err != nil {
				return err
			}
			slog.SetDefault(slog.New(slog.DiscardHandler)) // the engine says there what it does each second

			o := e.appOptions(cmd, c)
			if c.Replica.URL != args[0] {
				o.Log.Warn("set replica.url to what this standby follows: else nothing is replicated when it is restarted as the server",
					"replica_url", c.Replica.URL, "follows", args[0])
			}
			o.Config.Replica.URL = args[0]
			return app.ServeStandby(cmd.Context(), o)
		}),
	}

	cmd.Flags().String("listen", "", "`address` to listen on (server.listen, default 127.0.0.1:8080)")
	return cmd
}

func (e *env) promote() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "promote",
		Short: "Make the standby of the data directory the server",
		Long: "Make the standby that runs on the data directory the server: it fetches what was sent last, checks the whole\n" +
			"database, begins a new generation of the replica, and serves. The previous server stops as soon as it notices.\n" +
			"Stop it first if you can: then nothing is lost. As after a restore, broadcasts are paused, messages that may have\n" +
			"been sent wait for provider.reconcile_window, and invitations end; people stay signed in. It is recorded in the\n" +
			"audit log. If it is refused, nothing has changed.",
		Example: "  confab promote\n  confab promote --data-dir /var/lib/confab",
		RunE: e.withSettings(func(cmd *cobra.Command, _ []string, c config.Config) error {
			dir := datadir.Dir(c.DataDir)
			var began replica.Generation
			if err := dir.Promote(cmd.Context(), storage.OrEmpty(operator().Name), &began); err != nil {
				return err
			}

			// It opens its socket again as soon as it is the server.
			err := dir.SendCommand(cmd.Context(), datadir.CommandRefresh)
			if served, _ := dir.IsServed(); err == nil && !served {
				err = errors.New("it has ended: see its log, and start it with 'confab serve'")
			}
			if err != nil {
				return fmt.Errorf("this machine has taken over, but %w", err)
			}
			listen, _, err := dir.Address(cmd.Context(), c.Server)
			if err != nil {
				return err
			}
			return printNew(cmd, fmt.Sprintf("This machine is the server now, on %s. It took over at %s (generation %d).",
				listen, storage.At(began.Since), began.Number), began)
		}),
	})
}
