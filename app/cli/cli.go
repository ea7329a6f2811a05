// Package cli is the command line, with a file for each noun.
//
// Commands work on the data directory itself, whether a server runs on it or
// not: they open the same SQLite file (see store), and after a write they notify a
// running server over its socket, so that it reads again what it holds in memory
// before the command ends. The commands of 'confab trigger' are different: they
// call the control API of a running simulator over HTTP (see simulatorClient).
//
// A command writes its result to standard output and everything else to standard
// error. Its exit status is 0, 1 when it failed, 2 for wrong usage; 'sandbox
// exec' passes on the status of the command that it ran.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/jobs"
	"confab/storage"
)

// Assets are the files embedded by package main, and its version.
type Assets struct {
	Schema        string
	ExampleConfig string
	Version       string
	Clock         *storage.MovableClock // of a test that sets it; nil for this machine's
}

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// exitError is an exit status that a command chose itself; err, if any, is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d: %v", e.status, e.err) }

// defaultConfigFile is read if it exists and no other file is named.
const defaultConfigFile = "confab.toml"

// env is what all commands share: the embedded files and the global flags.
type env struct {
	Assets
	dataDir    string
	configFile string
	running    bool // a command's own code has begun: its errors are not about usage
}

// UntilSignal is a context that ends with the first SIGINT or SIGTERM. From then on none is caught, so
// that a second one ends the process at once.
func UntilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}

// Run runs one command line and returns its exit status.
func Run(ctx context.Context, assets Assets, args []string) int {
	e := &env{Assets: assets}
	root := e.root()
	root.SetArgs(args)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		if exit.err != nil {
			printError(cmd.ErrOrStderr(), exit.err)
		}
		return exit.status
	}

	// An error before the command's own code has begun is about its flags or
	// arguments, which cobra has refused.
	printError(cmd.ErrOrStderr(), err)
	if _, wrong := errors.AsType[usageError](err); e.running && !wrong {
		return exitFailed
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Run '%s --help' for usage.\n", cmd.CommandPath())
	return exitUsage
}

// printError prints an error, with the program's name before every line: an
// error may join several, such as all bad settings of a file.
func printError(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(w, "confab:", strings.TrimRight(line, "\n"))
	}
}

func (e *env) root() *cobra.Command {
	root := e.group("confab", "A messaging platform in one executable")
	root.Long = "confab sends and receives chat messages for your business numbers, keeps them in a shared inbox,\n" +
		"and notifies your systems with signed webhooks. All data lives in one directory."
	root.Example = "  confab sandbox                      # try everything locally\n" +
		"  confab orgs create \"Acme\"           # create a tenant\n" +
		"  confab keys create --org org_01J…   # create its API key\n" +
		"  confab serve                        # run the server"
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SilenceErrors, root.SilenceUsage = true, true

	root.PersistentFlags().StringVar(&e.dataDir, "data-dir", "",
		"`directory` for all data (default ./confab-data, or $STATE_DIRECTORY)")
	root.PersistentFlags().StringVar(&e.configFile, "config", "",
		"settings `file` (default $CONFAB_CONFIG, or ./"+defaultConfigFile+" if it exists)")

	e.addCommands(root)
	checkArguments(root)
	addHelpTopics(root)
	configureBuiltinCommands(root)
	return root
}

// addCommands adds all commands, in sections: the first one is the first in the help, and so on.
func (e *env) addCommands(root *cobra.Command) {
	section := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, cmd := range commands {
			cmd.GroupID = title
		}
		root.AddCommand(commands...)
	}

	section("Run it:", e.serve(), e.standby(), e.promote(), e.ready(), e.mcp())
	section("Try it out:", e.sandbox(), e.simulator(), e.trigger(), e.listen())

	section("Access:",
		e.group("orgs", "Create and manage organizations (tenants)",
			e.orgsCreate(), e.orgsList(), e.orgsShow(), e.orgsSet(),
			e.orgsSuspension("suspend", "Suspend an organization, effective immediately", "organization.suspended"),
			e.orgsSuspension("resume", "Resume a suspended organization", "organization.resumed")),
		e.group("teams", "Create, change and list teams", e.teamsCreate(), e.teamsSet(), e.teamsList()),
		e.users(),
		e.group("keys", "Create, list and revoke API keys", e.keysCreate(), e.keysList(), e.keysRevoke()),
		e.group("rates", "Import and list prices of messages", e.ratesImport(), e.ratesList()),
		e.audit())

	section("Messaging:",
		e.group("accounts", "Connect, list, register and check business numbers",
			e.accountsConnect(), e.accountsList(), e.accountsRegister(), e.accountsCheck(), e.accountsDisconnect()),
		e.group("customers", "List end-customers and restore archived ones", e.customersList(), e.customersRestore()),
		e.group("contacts", "Import and export contacts as CSV", e.contactsImport(), e.contactsExport()),
		e.group("templates", "Sync message templates with the provider", e.templatesSync()),
		e.group("broadcasts", "Send a template to many people and track it",
			e.broadcastsCreate(), e.broadcastsList(), e.broadcastsShow(),
			e.broadcastsMove("pause", "Pause a broadcast", "broadcast.paused", jobs.PauseBroadcast),
			e.broadcastsMove("resume", "Resume a paused broadcast", "broadcast.resumed", jobs.ResumeBroadcast),
			e.broadcastsMove("cancel", "Cancel a broadcast: remaining recipients get no message",
				"broadcast.cancelled", jobs.CancelBroadcast)),
		e.group("quick-replies", "Create, list and delete quick replies",
			e.quickRepliesCreate(), e.quickRepliesList(), e.quickRepliesDelete()),
		e.group("rules", "List, try and switch rules",
			e.rulesList(), e.rulesShow(),
			e.rulesSwitch("enable", "Enable a rule", true), e.rulesSwitch("disable", "Disable a rule", false), e.rulesDryRun()),
		e.group("hours", "Show and set when a number is open", e.hoursShow(), e.hoursSet()),
		e.group("webhooks", "List and enable webhook subscriptions, and verify signatures",
			e.webhooksList(), e.webhooksEnable(), e.webhooksVerify()),
		e.group("deliveries", "List, inspect and replay webhook deliveries",
			e.deliveriesList(), e.deliveriesShow(), e.deliveriesReplay()),
		e.group("jobs", "List, retry and cancel queued jobs",
			e.jobsList(), e.jobsShow(), e.jobsRetry(), e.jobsCancel()),
		e.logs(), e.trace())

	section("Maintenance:",
		e.doctor(), e.backup(), e.restore(),
		e.group("replica", "Monitor and verify the replica",
			e.replicaStatus(), e.replicaVerify(), e.replicaKey()),
		e.group("media", "Move media files to object storage and back", e.mediaMove()),
		e.purge())

	const setup = "Setup:"
	section(setup,
		e.initialize(),
		e.group("config", "Check the settings", e.configCheck()),
		e.versionCommand())
	root.SetHelpCommandGroupID(setup)
	root.SetCompletionCommandGroupID(setup)

	root.AddCommand(e.replicate())
}

// checkArguments makes commands without a check of their own refuse what their Use line does not name.
func checkArguments(cmd *cobra.Command) {
	if cmd.Args == nil {
		cmd.Args = argumentsOf(cmd.Use)
	}
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
}

// configureBuiltinCommands makes the commands that cobra adds, help and completion, refuse wrong
// arguments as ours do. By themselves they print help and succeed, which a script would not notice.
func configureBuiltinCommands(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()

	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Short = "Print a shell completion script"
			cmd.Example = "  source <(confab completion bash)\n  confab completion zsh > \"${fpath[1]}/_confab\""
			cmd.Args, cmd.RunE = unknownCommand, missingCommand
		case "help":
			cmd.Example = "  confab help orgs set\n  confab help guides\n  confab help webhooks\n  confab help changes"
			show := cmd.Run
			cmd.Run = func(cmd *cobra.Command, args []string) {
				printGuideOf(cmd.OutOrStdout(), root, args)
				show(cmd, args)
			}
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					return err
				}
				return unknownCommand(found, rest)
			}
		}
	}
}

// group makes a command that only has subcommands.
func (e *env) group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: unknownCommand, RunE: missingCommand, SuggestionsMinimumDistance: 1}
	cmd.AddCommand(commands...)

	var examples []string // the first of each subcommand
	for _, sub := range commands {
		first, _, _ := strings.Cut(sub.Example, "\n")
		examples = append(examples, first)
	}

	cmd.Example = strings.Join(examples, "\n")
	return cmd
}

// missingCommand refuses a command that only has subcommands, such as "keys"
// alone. It is an error and not help, so that a script notices.
func missingCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("%q needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// unknownCommand refuses the arguments of a command that only has subcommands.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// run makes a command's RunE of its own code, and records that it has begun.
func (e *env) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		e.running = true
		return f(cmd, args)
	}
}

// withSettings makes a command's RunE of code that needs the settings.
func (e *env) withSettings(f func(cmd *cobra.Command, args []string, c config.Config) error) func(*cobra.Command, []string) error {
	return e.run(func(cmd *cobra.Command, args []string) error {
		c, err := e.settings(cmd)
		if err != nil {
			return err
		}
		return f(cmd, args, c)
	})
}

// untilInterrupted makes the RunE of a command that an interrupt is the way to end.
func untilInterrupted(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if cmd.Context().Err() != nil {
			return nil
		}
		return err
	}
}

// sources is where a command's settings come from.
func (e *env) sources(cmd *cobra.Command) config.Sources {
	from := config.Sources{
		File:         cmp.Or(e.configFile, os.Getenv("CONFAB_CONFIG")),
		FileRequired: true,
		Environ:      os.Environ(),
		Flags:        cmd.Flags(),
		FlagKeys:     map[string]string{"data-dir": "data_dir", "listen": "server.listen"},
	}
	if from.File == "" { // none is named, so it may be missing
		from.File, from.FileRequired = defaultConfigFile, false
	}
	return from
}

func (e *env) settings(cmd *cobra.Command) (config.Config, error) { return config.Load(e.sources(cmd)) }

func (e *env) appOptions(cmd *cobra.Command, c config.Config) app.Options {
	return app.Options{
		Config:     c,
		Schema:     e.Schema,
		MasterKey:  os.Getenv("CONFAB_MASTER_KEY"),
		Version:    e.Version,
		Clock:      e.Clock,
		Log:        app.NewLogger(cmd.ErrOrStderr(), c.Log),
		Supervisor: app.SupervisorFromEnv(os.Getenv),
	}
}
