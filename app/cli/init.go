package cli

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

//go:embed assets/confab.service
var systemdUnit string

//go:embed assets/Containerfile
var containerFile string

func (e *env) initialize() *cobra.Command {
	var systemd, docker bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a settings file with every setting explained",
		Long: "Write a settings file with every setting explained to FILE (default --config, or ./" + defaultConfigFile + "), or to\n" +
			"standard output for '-'. An existing file is never overwritten.\n\n" +
			"With --systemd or --docker it prints a unit file or a container file instead; the first lines explain how\n" +
			"to use it.",
		Example: "  confab init\n" +
			"  confab init /etc/confab.toml\n" +
			"  confab init -\n" +
			"  confab init --systemd > /etc/systemd/system/confab.service\n" +
			"  confab init --docker > Containerfile",
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			switch {
			case (systemd || docker) && len(args) > 0:
				return usage("--systemd and --docker print to standard output: redirect to %s with >", args[0])
			case systemd:
				return printText(cmd, systemdUnit)
			case docker:
				return printText(cmd, containerFile)
			}
			return e.writeSettings(cmd, args)
		}),
	}

	cmd.Flags().BoolVar(&systemd, "systemd", false, "print a unit file for systemd")
	cmd.Flags().BoolVar(&docker, "docker", false, "print a container file")
	cmd.MarkFlagsMutuallyExclusive("systemd", "docker")
	return cmd
}

func printText(cmd *cobra.Command, text string) error {
	_, err := io.WriteString(cmd.OutOrStdout(), text)
	return err
}

func (e *env) writeSettings(cmd *cobra.Command, args []string) error {
	file := cmp.Or(e.configFile, defaultConfigFile)
	if len(args) > 0 {
		file = args[0]
	}

	if file == "-" {
		return printText(cmd, e.ExampleConfig)
	}
	// Only its owner may read it, who may write secrets into it.
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: remove it first, or choose another file", file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(e.ExampleConfig)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}

	hint := "confab config check"
	if file != defaultConfigFile {
		hint += " --config " + file
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Wrote %s. Edit it, then check it with '%s'.\n", file, hint)
	return nil
}
