package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

const (
	anyFreePort = "127.0.0.1:0"

	// exitNotStarted and exitSignal are what a shell reports of a command that
	// it cannot start, and of one that a signal ended.
	exitNotStarted = 127
	exitSignal     = 128
)

type execOptions struct {
	forwardTo *url.URL
	story     string
}

func (e *env) sandboxExec() *cobra.Command {
	var o execOptions
	cmd := &cobra.Command{
		Use:   "exec -- COMMAND [ARG…]",
		Short: "Run a command, such as a test suite, with its own sandbox",
		Long: "Start a sandbox on free ports with a new directory, run a command with it, and remove it afterwards. The\n" +
			"command finds it through CONFAB_BASE_URL, CONFAB_API_KEY, CONFAB_PHONE_NUMBER_ID and CONFAB_SIMULATOR_URL, as\n" +
			"does 'confab trigger'. With --forward-to, a URL gets all events, signed with CONFAB_WEBHOOK_SECRET. Signals\n" +
			"are passed on, and the exit status is the command's: 127 if it cannot be started, 128 plus the signal number\n" +
			"if a signal ends it.\n\n" +
			"With --story, a story is played beside the command (see 'confab sandbox play'). If the command succeeds and\n" +
			"the story does not hold, the exit status is 1.",
		Example: "  confab sandbox exec -- npm test\n" +
			"  confab sandbox exec --story story.jsonl -- go test ./...\n" +
			"  confab sandbox exec -- sh -c 'curl $CONFAB_BASE_URL/me -H \"Authorization: Bearer $CONFAB_API_KEY\"'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return errors.New("COMMAND is missing")
			}
			return nil
		},
		RunE: e.run(func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("data-dir") {
				return usage("exec creates its own directory: leave --data-dir out")
			}

			status, err := e.runInSandbox(cmd, args, o)
			if status != exitOK {
				return &exitError{status, err}
			}
			return err
		}),
	}

	forwardFlag(cmd, &o.forwardTo)
	cmd.Flags().StringVar(&o.story, "story", "", "play this `file` beside the command")
	cmd.Flags().SetInterspersed(false) // the command's flags are not ours
	return cmd
}

// runInSandbox runs a command with a sandbox in a temporary directory, and returns its exit status.
func (e *env) runInSandbox(cmd *cobra.Command, args []string, o execOptions) (status int, err error) {
	var story []storyLine
	if o.story != "" {
		if story, err = readStory(o.story, cmd.InOrStdin()); err != nil {
			return exitOK, err
		}
	}

	// From here on signals are passed on to the command, and no longer end this
	// process: it ends when the command does.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	cmd.SetContext(context.WithoutCancel(cmd.Context()))

	c, err := e.sandboxSettings(cmd)
	if err != nil {
		return exitOK, err
	}
	if c.DataDir, err = os.MkdirTemp("", "confab-sandbox-"); err != nil {
		return exitOK, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.DataDir)) }()

	c.Server.Listen, c.Server.PublicURL, c.Server.MetricsListen = anyFreePort, "", ""
	b, err := e.openSandbox(cmd, c, anyFreePort, o.forwardTo)
	if err != nil {
		return exitOK, err
	}

	err = b.serveWhile(cmd.Context(), func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		played, err := b.startStory(ctx, story)
		if err != nil {
			return err
		}

		child := exec.Command(args[0], args[1:]...)
		child.Stdin, child.Stdout, child.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		child.Env = append(os.Environ(), b.environment()...)
		if status, err = runCommand(ctx, child, signals); err != nil || status != exitOK {
			return err // the story ends, and is not looked at
		}
		select {
		case err := <-played:
			return err
		case s := <-signals: // there is no command any more to pass it on to
			status = exitSignal + int(s.(syscall.Signal))
			return nil
		}
	})
	return status, errors.Join(err, b.close())
}

// startStory begins to play a story, if there is one. The channel has its error in the end.
func (b *sandbox) startStory(ctx context.Context, story []storyLine) (<-chan error, error) {
	played := make(chan error, 1)
	if story == nil {
		played <- nil
		return played, nil
	}

	p, err := openPlayer(ctx, b.state, story)
	if err != nil {
		return nil, fmt.Errorf("story: %w", err)
	}
	go func() {
		err := p.play(ctx)
		if err != nil {
			err = fmt.Errorf("story: %w", err)
		}
		played <- err
	}()
	return played, nil
}

// environment has the variables by which a command finds the sandbox and verifies its events.
func (b *sandbox) environment() []string {
	variables := b.state.environment()
	if b.webhookSecret != "" {
		variables = append(variables, webhookSecretVariable+"="+b.webhookSecret)
	}
	return variables
}

// runCommand runs a command, passes signals on to it, and returns its exit status. When the context
// ends because the sandbox failed, the command gets a SIGTERM.
func runCommand(ctx context.Context, child *exec.Cmd, signals <-chan os.Signal) (status int, err error) {
	if err := child.Start(); err != nil {
		return exitNotStarted, fmt.Errorf("cannot start the command: %w", err)
	}

	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()

	failed := ctx.Done()
	for {
		select {
		case s := <-signals:
			// The signal of a key press goes to every process in the foreground of a terminal.
			if s != syscall.SIGINT && s != syscall.SIGQUIT || !isTerminal(os.Stdin) {
				child.Process.Signal(s)
			}
		case <-failed:
			failed = nil // only once
			child.Process.Signal(syscall.SIGTERM)
		case err := <-ended:
			if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
				return exitFailed, err
			}
			if wait, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
				return exitSignal + int(wait.Signal()), nil // as a shell reports it
			}
			return child.ProcessState.ExitCode(), nil
		}
	}
}
