package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

// initialize is `confab init`.
func (e *env) initialize() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a settings file with every setting explained",
		Long: "Write a settings file with every setting explained to FILE (default ./" + defaultConfigFile + "), or to standard\n" +
			"output for '-'. A file that is there already is never touched.",
		Example: "  confab init\n  confab init /etc/confab.toml\n  confab init -",
		Args:    arguments("[FILE]"),
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			file := defaultConfigFile
			if len(args) > 0 {
				file = args[0]
			}
			if file == "-" {
				_, err := io.WriteString(cmd.OutOrStdout(), e.ExampleConfig)
				return err
			}
			if err := writeNew(file, e.ExampleConfig); err != nil {
				return err
			}
			hint := "confab config check"
			if file != defaultConfigFile {
				hint += " --config " + file
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. Edit it, then try it with '%s'.\n", file, hint)
			return nil
		}),
	}
}

// writeNew writes a private file, for it may come to hold secrets. It replaces
// none, and leaves no half one.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and stays as it is: remove it first, or name another file", path)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
