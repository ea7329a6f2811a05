package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"confab/app/backup"
	"confab/app/config"
	"confab/app/datadir"
	"confab/storage"
)

func (e *env) restore() *cobra.Command {
	var at time.Time
	cmd := &cobra.Command{
		Use:   "restore FILE|URL",
		Short: "Create a data directory from a backup or a replica",
		Long: "Unpack a backup ('-' is standard input) into the data directory, or fetch the replica at a URL (s3:// or\n" +
			"file://, as in replica.url). The directory must be empty except for a master.key, if the backup was made\n" +
			"without one; a replica never has it, so put it there or set CONFAB_MASTER_KEY. Everything is verified before\n" +
			"it is put in place: the archive, each file, and the whole database. All sessions and invitations end:\n" +
			"everyone signs in again. Broadcasts are paused, and messages that may have been sent since wait for\n" +
			"provider.reconcile_window. The credentials of a replica are those of [replica], or the usual variables.",
		Example: "  confab restore /backups/confab-2026-01-02.tar.gz --data-dir /var/lib/confab\n" +
			"  ssh vault cat confab.tar | confab restore -\n" +
			"  confab restore 's3://bucket/confab?endpoint=https://s3.example.com' --at 2026-01-02T15:04:05Z",
		RunE: e.withSettings(func(cmd *cobra.Command, args []string, c config.Config) error {
			line := newProgress(cmd.ErrOrStderr(), "", formatBytes)
			var size int64
			o := backup.RestoreOptions{
				Dir:        datadir.Dir(c.DataDir),
				MasterKey:  os.Getenv("CONFAB_MASTER_KEY"),
				MediaStore: c.Media.Store,
				Progress:   func(what string, done int64) { line.stepOf(what, done, size) },
			}

			out, err := restoreFrom(cmd, o, c, args[0], at, &size)
			line.end()
			if err != nil {
				return err
			}
			return reportRestore(cmd, c, out)
		}),
	}

	parsedFlag(cmd, &at, "at", "restore a replica as it was at this `time`, such as 2026-01-02T15:04:05Z", parseTime)
	return withJSON(cmd)
}

func parseTime(s string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, errors.New("must be a time such as 2026-01-02T15:04:05Z")
	}
	return at, nil
}

// restoreFrom restores a backup, or a replica if what is named is a URL of one.
func restoreFrom(
	cmd *cobra.Command, o backup.RestoreOptions, c config.Config, from string, at time.Time, size *int64,
) (backup.Restored, error) {
	if config.IsReplicaURL(from) {
		c.Replica.URL = from
		place, err := replicaPlace(c)
		if err != nil {
			return backup.Restored{}, err
		}
		return backup.RestoreReplica(o, func(file string) (storage.Time, error) {
			out, err := place.Restore(cmd.Context(), at, file)
			return storage.At(out.AsOf), err
		})
	}
	if !at.IsZero() {
		return backup.Restored{}, usage("--at is for a replica: a backup holds one time only")
	}

	in := cmd.InOrStdin()
	if from != "-" {
		f, err := os.Open(from)
		if err != nil {
			return backup.Restored{}, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			*size = info.Size()
		}
		in = f
	}

	// The first two bytes show whether the archive is compressed.
	archive := bufio.NewReaderSize(in, 1<<20)
	if start, _ := archive.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return backup.Restore(cmd.Context(), o, archive)
	}
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return backup.Restored{}, err
	}
	return backup.Restore(cmd.Context(), o, plain)
}

func reportRestore(cmd *cobra.Command, c config.Config, out backup.Restored) error {
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), out)
	}

	fmt.Fprintf(cmd.OutOrStdout(), "Restored %s as of %s: %s, %s. The database is sound.\n",
		c.DataDir, out.CreatedAt, plural(out.Messages, "message", "messages"), plural(out.Media.Files, "media file", "media files"))

	if n := len(out.Media.Missing); n > 0 && out.Object == "replica" {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s not part of the replica: "+
			"copy the directory %s from a backup, if there is one\n",
			plural(int64(n), "media file is", "media files are"), storage.MediaDir)
	}
	if !out.KeyChecked {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: the backup has no master.key: put it in %s, "+
			"or set CONFAB_MASTER_KEY, before you start the server\n", c.DataDir)
	}

	if store := out.Media.Store; store != "" && store != c.Media.Store {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s in %s: set media.store to it before you start the server\n",
			plural(out.Media.Stored, "media file is", "media files are"), store)
	}

	// Messages queued at the backup may have been sent after it by the old server.
	if out.Queued > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s messages were waiting to be sent when the backup was made, "+
			"and will be sent when the server starts;\n"+
			"confab: cancel those that were sent since: 'confab jobs list --kind send', 'confab jobs cancel ID'\n", formatCount(out.Queued))
	}
	return nil
}
