package cli

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/datadir"
)

// trigger is what the commands of trigger share: the flags that say which
// simulator to call.
type trigger struct {
	*env
	simulatorURL *url.URL
	token        string
}

func (e *env) trigger() *cobra.Command {
	t := &trigger{env: e}
	var commands []*cobra.Command
	for _, s := range simCommands() {
		commands = append(commands, t.command(s))
	}
	cmd := e.group("trigger", "Simulate people and the provider in a running sandbox", commands...)

	cmd.Long = "Simulate people and the provider in a running sandbox: send messages from a person, read them, change a\n" +
		"number, make sends fail, list what was sent. Each command calls the simulator's control API (/_sim), which\n" +
		"you can also call yourself.\n\n" +
		"The simulator is the one at --simulator-url, or of the data directory (its " + datadir.SandboxFile + " or\n" +
		datadir.SimulatorFile + " says where it is), or at $" + simulatorURLVariable + ", or one that was started here."

	flags := cmd.PersistentFlags()
	dataDirFlag(flags, &e.dataDir, "of the sandbox or simulator (default "+defaultSandboxDir+", or "+defaultSimulatorDir+")")

	flags.Func("simulator-url", "`address` of the simulator", func(s string) (err error) {
		t.simulatorURL, err = parseURL(s)
		return err
	})
	flags.StringVar(&t.token, "control-token", "", "`token` of the simulator's control API, or - for standard input"+
		" (default: from the data directory, or $"+controlTokenVariable+")")
	return cmd
}

// simCommands are the commands, in the order of their examples in the help.
func simCommands() []simCommand {
	return slices.Concat(
		[]simCommand{inboundMessage(), messageStatus(), echo(), messageEdit(), correction("revoke", "Delete a person's message")},
		[]simCommand{templateReview(), templateCategory()}, contactCommands(), peopleCommands(), phoneCommands(),
		[]simCommand{movedClock(), providerCalls(), injectedFault(), simulatorSettings(), sentMessages()}, objectCommands())
}

// findSimulator finds the simulator: the one of a flag, or else as
// findSimulatorAccess does.
func (t *trigger) findSimulator(cmd *cobra.Command) (*simulatorClient, error) {
	var (
		c     = &simulatorClient{}
		found = true
		err   error
	)
	switch {
	case t.simulatorURL != nil:
		c.SimulatorURL = strings.TrimRight(t.simulatorURL.String(), "/")
	case t.dataDir != "":
		c.simulatorAccess, found, err = readSimulatorAccess(t.dataDir)
	default:
		c.simulatorAccess, found, err = findSimulatorAccess(cmd.Context())
	}

	if err == nil && !found {
		err = errors.New("no sandbox is running here: start one with 'confab sandbox', or set --data-dir or --simulator-url")
	}
	if err != nil {
		return nil, err
	}

	given, err := newSecretReader(cmd.InOrStdin()).read("control-token", t.token, controlTokenVariable)
	c.ControlToken = cmp.Or(given, c.ControlToken)
	return c, err
}
