package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"confab/app/backup"
	"confab/app/config"
	"confab/app/datadir"
)

func (e *env) restore() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "restore FILE",
		Short: "Create a data directory from a backup",
		Long: "Unpack a backup ('-' is standard input) into the data directory, which must be empty except for a\n" +
			"master.key if the backup was made without one. Everything is verified before it is put in place: the\n" +
			"archive, each file, and the whole database. All sessions and invitations end: everyone signs in again.",
		Example: "  confab restore /backups/confab-2026-01-02.tar.gz --data-dir /var/lib/confab\n" +
			"  ssh vault cat confab.tar | confab restore -",
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			c, err := e.settings(cmd, nil)
			if err != nil {
				return err
			}

			from, size, closeFile, err := openBackup(cmd, args[0])
			if err != nil {
				return err
			}
			defer closeFile()

			line := newProgress(cmd.ErrOrStderr(), "", formatBytes)
			o := backup.RestoreOptions{
				Dir:       datadir.Dir(c.DataDir),
				MasterKey: os.Getenv("CONFAB_MASTER_KEY"),
				Progress: func(what string, done int64) {
					line.what = what
					line.step(done, size)
				},
			}

			out, err := backup.Restore(cmd.Context(), o, from)
			line.end()
			if err != nil {
				return err
			}
			return reportRestore(cmd, c, out)
		}),
	})
}

// openBackup opens an archive, compressed or not, and returns the size of the
// file; 0 for standard input.
func openBackup(cmd *cobra.Command, file string) (r io.Reader, size int64, done func() error, err error) {
	raw, done := cmd.InOrStdin(), func() error { return nil }
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, 0, nil, err
		}
		if info, err := f.Stat(); err == nil {
			size = info.Size()
		}
		raw, done = f, f.Close
	}

	// The first two bytes show whether it is gzip; its name does not matter.
	buffered := bufio.NewReaderSize(raw, 1<<20)
	if start, _ := buffered.Peek(2); !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return buffered, size, done, nil
	}

	uncompressed, err := gzip.NewReader(buffered)
	return uncompressed, size, done, err
}

func reportRestore(cmd *cobra.Command, c config.Config, out backup.Restored) error {
	dir := c.DataDir
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), out)
	}

	fmt.Fprintf(cmd.OutOrStdout(), "Restored %s as of %s: %s messages, %s media files. The database is sound.\n",
		dir, out.CreatedAt, formatCount(out.Messages), formatCount(out.Media.Files))

	if !out.KeyChecked {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: the backup has no master.key: put it in %s, "+
			"or set CONFAB_MASTER_KEY, before you start the server\n", dir)
	}

	if store := out.Media.Store; store != "" && store != c.Media.Store {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s media files are in %s: set media.store to it before you start the server\n",
			formatCount(out.Media.Stored), store)
	}

	// Messages queued at the backup may have been sent after it by the old server.
	if out.Queued > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s messages were waiting to be sent when the backup was made, "+
			"and will be sent when the server starts;\n"+
			"confab: cancel those that were sent since: 'confab jobs list --kind send', 'confab jobs cancel ID'\n", formatCount(out.Queued))
	}
	return nil
}
