package cli

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"confab/app/config"
	"confab/app/datadir"
	"confab/app/replica"
	"confab/storage"
)

// replicate is the process that the server starts to replicate its database.
func (e *env) replicate() *cobra.Command {
	return &cobra.Command{
		Use:    replica.ChildCommand,
		Short:  "Replicate a database for the server that starts this",
		Hidden: true,
		RunE: e.run(func(cmd *cobra.Command, _ []string) error {
			return replica.RunChild(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
}

// replicaPlace is where the settings keep the replica.
func replicaPlace(c config.Config) (replica.Place, error) {
	if c.Replica.URL == "" {
		return replica.Place{}, errors.New("there is no replica: set replica.url")
	}
	if err := replica.PrepareProcess(); err != nil {
		return replica.Place{}, err
	}
	return replica.PlaceOf(c.Replica)
}

func (e *env) replicaStatus() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "status",
		Short: "Show how far behind the replica is",
		Long: "Show where the replica is kept, how far it is behind, how much waits to be sent, and when a restore of it was\n" +
			"last verified. How far it is behind only a running server knows. On a standby, show how far its copy is.",
		Example: "  confab replica status\n  confab replica status --json",
		RunE: e.withSettings(func(cmd *cobra.Command, args []string, c config.Config) error {
			var status replica.Status
			answered, err := datadir.Dir(c.DataDir).Ask(cmd.Context(), datadir.CommandReplica, &status)
			if err == nil && !answered {
				return e.withStore(false, printStoredStatus)(cmd, args)
			}
			if err != nil {
				return err
			}
			return printReplica(cmd, status)
		}),
	})
}

// printStoredStatus prints how far a replica is that no server sends to now.
func printStoredStatus(cmd *cobra.Command, _ []string, s *store) error {
	place, err := replicaPlace(s.config)
	if err != nil {
		return err
	}
	status, err := place.StatusOf(cmd.Context(), s.DB)
	if err != nil {
		return err
	}
	return printReplica(cmd, status)
}

func printReplica(cmd *cobra.Command, s replica.Status) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), s)
	}

	lag := "unknown, because no server is running"
	switch {
	case s.LagSeconds != nil:
		lag = fmt.Sprintf("%.1f s", *s.LagSeconds)
	case s.Standby:
		lag = "no copy yet"
	}

	out := cmd.OutOrStdout()
	if s.Standby {
		fmt.Fprintln(out, "Role            standby")
	}
	fmt.Fprintf(out, "URL             %s\n", printable(s.URL))
	fmt.Fprintf(out, "Generation      %s\n", printable(cmp.Or(s.Generation, "none yet")))
	fmt.Fprintf(out, "Behind          %s\n", lag)
	if !s.Standby {
		fmt.Fprintf(out, "Waiting         %s\n", formatBytes(s.BacklogBytes))
		fmt.Fprintf(out, "Last upload     %s\n", cmp.Or(optional("%s", storage.OrNil(s.LastUploadAt)), "never"))
		fmt.Fprintf(out, "Last verified   %s\n", cmp.Or(optional("%s", storage.OrNil(s.LastVerifiedAt)), "never"))
	}
	if s.Error != "" {
		fmt.Fprintf(out, "Last error      %s\n", printable(s.Error))
	}
	for _, warning := range s.Warnings(time.Now()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "confab: warning:", warning)
	}
	return nil
}

func (e *env) replicaVerify() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "verify",
		Short: "Restore the replica to a temporary directory and check it",
		Long: "Restore the newest state of the replica to a temporary directory inside the data directory, check the whole\n" +
			"database and that the master key opens it, and delete it again. The server does this by itself once a day. On a\n" +
			"standby it shows that the key there is the right one.",
		Example: "  confab replica verify\n  confab replica verify --json",
		RunE: e.withSettings(func(cmd *cobra.Command, args []string, c config.Config) error {
			if replica.IsStandby(c.DataDir) {
				return verifyReplica(cmd, c, func() error { return nil })
			}

			return e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
				return verifyReplica(cmd, s.config, func() error {
					return s.change(cmd.Context(), func(tx *storage.Tx) error { return tx.SetReplicaVerified() })
				})
			})(cmd, args)
		}),
	})
}

// verifyReplica restores the replica beside the data, checks it, and records that.
func verifyReplica(cmd *cobra.Command, c config.Config, record func() error) error {
	place, err := replicaPlace(c)
	if err != nil {
		return err
	}
	key, err := storage.ReadMasterKey(c.DataDir, os.Getenv("CONFAB_MASTER_KEY"))
	if err != nil {
		return err
	}

	out, err := place.Verify(cmd.Context(), c.DataDir, key)
	if err == nil {
		err = record()
	}
	if err != nil {
		return err
	}
	return printNew(cmd, fmt.Sprintf("The replica is intact as of %s: %s messages, %s.",
		storage.At(out.AsOf), formatCount(out.Messages), formatBytes(out.Bytes)), out)
}

func (e *env) replicaKey() *cobra.Command {
	var kept bool
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Print the master key for safekeeping",
		Long: "Print the master key, which is not part of the replica and without which it cannot be used: whoever has both\n" +
			"can read every secret. Store it where this machine's loss does not reach, then run this with --kept, and\n" +
			"'confab doctor' stops asking. Both are recorded in the audit log.",
		Example: "  confab replica key\n  confab replica key --kept",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			key, err := storage.ReadMasterKey(string(s.dir), os.Getenv("CONFAB_MASTER_KEY"))
			if err != nil {
				return err
			}

			return s.write(cmd, func(tx *storage.Tx) (written, error) {
				if kept {
					done := auditEntry{action: "replica.key_kept"}
					return written{entry: done, text: "Recorded that the master key is kept elsewhere."}, tx.SetKeyKept()
				}
				return written{entry: auditEntry{action: "replica.key_printed"}, text: base64.StdEncoding.EncodeToString(key)}, nil
			})
		}),
	}

	cmd.Flags().BoolVar(&kept, "kept", false, "record that the key is stored safely, instead of printing it")
	return cmd
}
