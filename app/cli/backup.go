package cli

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/backup"
	"confab/app/config"
	"confab/app/datadir"
)

func (e *env) backup() *cobra.Command {
	var withoutKey bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Back up the database, media and master key to one file",
		Long: "Write the whole data directory to one archive (tar; compressed if FILE ends in .gz; '-' is standard\n" +
			"output), whether the server is running or not. It includes everything acknowledged before it started.\n" +
			"It needs temporary space next to FILE for a copy of the database. Media in object storage (media.store)\n" +
			"stays there; the archive says where.\n\n" +
			"The archive contains master.key, which decrypts every secret in it: store it as safely as the key\n" +
			"itself, or leave the key out with --without-key and store it separately. A backup cannot be used\n" +
			"without the key, and a standby needs it too.",
		Example: "  confab backup /backups/confab-$(date +%F).tar.gz\n" +
			"  confab backup --without-key confab.tar\n" +
			"  confab backup - | ssh vault 'cat > confab.tar'",
		RunE: e.withSettings(func(cmd *cobra.Command, args []string, c config.Config) error {
			line := newProgress(cmd.ErrOrStderr(), "", formatBytes)
			o := backup.Options{
				Dir:        datadir.Dir(c.DataDir),
				WithoutKey: withoutKey,
				MediaStore: c.Media.Store,
				Version:    e.Version,
				Progress:   line.stepOf,
			}

			m, err := writeBackup(cmd, o, args[0])
			line.end()
			if err != nil {
				return err
			}
			return reportBackup(cmd, args[0], m)
		}),
	}

	cmd.Flags().BoolVar(&withoutKey, "without-key", false, "leave master.key out of the backup")
	return withJSON(cmd)
}

// writeBackup writes the archive to a temporary file beside its final place, and
// gives it its name when it is whole. It never replaces a file.
func writeBackup(cmd *cobra.Command, o backup.Options, file string) (backup.Manifest, error) {
	if file == "-" {
		out := cmd.OutOrStdout()
		if isTerminal(out) {
			return backup.Manifest{}, errors.New("cannot write a backup to a terminal: choose a file, or pipe the output")
		}
		return writeArchive(cmd.Context(), o, out, false)
	}

	// Checked before the work, too, which may take long.
	if _, err := os.Lstat(file); err == nil {
		return backup.Manifest{}, fmt.Errorf("%s already exists: choose another file", file)
	}

	// A temporary file in the same directory can be linked to its final name.
	o.Temp = filepath.Dir(file)
	temp, err := os.CreateTemp(o.Temp, "."+filepath.Base(file)+"-*") // made with mode 0600
	if err != nil {
		return backup.Manifest{}, fmt.Errorf("cannot write %s: %w", file, errors.Unwrap(err))
	}
	defer os.Remove(temp.Name())

	m, err := writeArchive(cmd.Context(), o, temp, strings.HasSuffix(file, ".gz") || strings.HasSuffix(file, ".tgz"))
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return m, err
	}

	// Unlike a rename, a link refuses to replace a file that has appeared.
	err = os.Link(temp.Name(), file)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s was created in the meantime: choose another file", file)
	}
	return m, err
}

func writeArchive(ctx context.Context, o backup.Options, to io.Writer, compress bool) (backup.Manifest, error) {
	buffered := bufio.NewWriterSize(to, 1<<20)
	if !compress {
		m, err := backup.Write(ctx, o, buffered)
		return m, errors.Join(err, buffered.Flush())
	}

	compressed, _ := gzip.NewWriterLevel(buffered, gzip.BestSpeed) // the server needs the processor too
	m, err := backup.Write(ctx, o, compressed)
	return m, errors.Join(err, compressed.Close(), buffered.Flush())
}

// reportBackup says what was written: on standard output, or on standard error
// where the backup itself went to standard output.
func reportBackup(cmd *cobra.Command, file string, m backup.Manifest) error {
	out := cmd.OutOrStdout()
	if file == "-" {
		out = cmd.ErrOrStderr()
	}

	if wantsJSON(cmd) {
		return printJSON(out, m)
	}

	key := "Without master.key: keep the key in a safe place, the backup cannot be used without it."
	if m.Key {
		key = "With master.key: store it as safely as the key itself."
	}

	fmt.Fprintf(out, "Wrote %s: %s, %s database, %s (%s). %s\n", file, plural(m.Messages, "message", "messages"),
		formatBytes(m.Database.Size), plural(m.Media.Files, "media file", "media files"), formatBytes(m.Media.Size), key)

	if m.Media.Store != "" {
		fmt.Fprintf(out, "%s in %s, not in the backup: keep that storage as long as the backup.\n",
			plural(m.Media.Stored, "more media file is", "more media files are"), m.Media.Store)
	}

	// Such a backup is still worth keeping: a message without its file is better than none.
	warn := func(files []string, what string) {
		if n := int64(len(files)); n > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: %s %s; see 'confab doctor'\n",
				plural(n, "media file is", "media files are"), what)
		}
	}
	warn(m.Media.Missing, "missing")
	warn(m.Media.Damaged, "damaged")
	return nil
}
