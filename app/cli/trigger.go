package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/datadir"
)

// trigger is what the commands of trigger share: the flags that say which simulator to call.
type trigger struct {
	*env
	simulatorURL *url.URL
	token        string
}

func (e *env) trigger() *cobra.Command {
	t := &trigger{env: e}
	var commands []*cobra.Command
	for _, s := range slices.Concat(
		[]simCommand{inboundMessage(), messageStatus(), echo(), messageEdit(), correction("revoke", "Delete a person's message")},
		templateCommands(), contactCommands(), peopleCommands(), phoneCommands(),
		[]simCommand{movedClock(), providerCalls(), injectedFault(), simulatorSettings(), sentMessages()}, objectCommands(),
	) {
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

func (t *trigger) findSimulator(cmd *cobra.Command) (*simulatorClient, error) {
	a, found, err := findSimulatorAccess(cmd.Context(), t.simulatorURL, t.dataDir)
	if err == nil && !found {
		err = errors.New("no sandbox is running here: start one with 'confab sandbox', or set --data-dir or --simulator-url")
	}
	if err != nil {
		return nil, err
	}

	secrets := newSecretReader(cmd.InOrStdin())
	cmd.SetIn(secrets.lines) // a body may follow the token
	given, err := secrets.read("control-token", t.token, controlTokenVariable)
	a.ControlToken = cmp.Or(given, a.ControlToken)
	return &simulatorClient{simulatorAccess: a}, err
}

// simCommand is a command of 'confab trigger', which makes one call to the control API. The
// flags that are given become fields of the call's body or, for a GET, its parameters.
type simCommand struct {
	use, short, long, example string

	flags    []simFlag
	addFlags func(*cobra.Command)    // further flags, which complete reads
	args     cobra.PositionalArgs    // nil: as use says
	call     string                  // the method and the path, in which a name in braces is what findTarget finds
	complete func(*simRequest) error // adds what does not follow from the flags
	print    func(*simRequest) error // makes the call and prints its answer; nil prints nothing
	plain    bool                    // without --json

	instead []simCommand // calls made instead if a flag is given, which is called as their use
}

// simRequest is a call that a command is about to make.
type simRequest struct {
	*simulatorClient
	cmd          *cobra.Command
	args         []string
	method, path string
	target       string     // what the placeholder of the path is replaced by
	fields       jsonObject // of the body
	raw          any        // a body that is sent instead of fields
}

func (t *trigger) command(s simCommand) *cobra.Command {
	cmd := &cobra.Command{Use: s.use, Short: s.short, Long: s.long, Example: s.example, Args: s.args}

	fields := make(jsonObject)
	for _, f := range s.flags {
		f.add(cmd, fields)
	}
	if s.addFlags != nil {
		s.addFlags(cmd)
	}
	if !s.plain {
		withJSON(cmd)
	}

	var flags []string
	for _, other := range s.instead {
		cmd.Flags().Bool(other.use, false, other.short)
		flags = append(flags, other.use)
	}
	cmd.MarkFlagsMutuallyExclusive(flags...)

	cmd.RunE = t.run(func(cmd *cobra.Command, args []string) error {
		c, err := t.findSimulator(cmd)
		if err != nil {
			return err
		}

		chosen := s
		for _, other := range s.instead {
			if given, _ := cmd.Flags().GetBool(other.use); given {
				chosen = other
			}
		}
		r := &simRequest{simulatorClient: c, cmd: cmd, args: args, fields: fields}
		r.method, r.path, _ = strings.Cut(chosen.call, " ")
		if chosen.complete != nil {
			err = chosen.complete(r)
		}
		if err == nil {
			err = r.findTarget()
		}
		switch {
		case err != nil:
			return err
		case chosen.print == nil:
			return r.send(nil)
		}
		return chosen.print(r)
	})
	return cmd
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// findTarget replaces the placeholder of the path by the argument, or by the default without one.
func (r *simRequest) findTarget() (err error) {
	r.target = r.argument()
	switch kind := placeholder.FindString(r.path); {
	case r.target != "":
	case kind == "{person}":
		r.target = samplePerson
	case kind == "{sent}":
		r.target, err = r.latestSend(r.cmd.Context())
		if err == nil && r.target == "" {
			err = errors.New("nothing was sent yet")
		}
	case kind == "{message}":
		r.target, err = r.latestInbound(r.cmd.Context())
	case kind == "{template}":
		r.target, err = r.newestPending(r.cmd.Context())
	}

	r.path = placeholder.ReplaceAllLiteralString(r.path, url.PathEscape(r.target))
	return err
}

func (r *simRequest) argument() string { return append(r.args, "")[0] }

// send makes the call and decodes its answer into out.
func (r *simRequest) send(out any) error {
	body := r.raw
	switch {
	case r.method == "POST" && body == nil:
		body = r.fields
	case r.method == "GET":
		query := make(url.Values)
		for name, value := range r.fields {
			query.Set(name, fmt.Sprint(value))
		}
		r.path += "?" + query.Encode()
	}
	return r.do(r.cmd.Context(), r.method, r.path, body, out)
}

// answer is what the simulator answers, or one thing of a list. --json prints it as it is.
type answer map[string]any

// text is a field as text; "" without one.
func (a answer) text(field string) string {
	switch v := a[field].(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// number is the number of a person, or the BSUID where it is hidden.
func (a answer) number() string { return cmp.Or(a.text("phone_number"), a.text("bsuid")) }

// printField prints a field of the answer, or with --json all of it.
func printField(name string) func(*simRequest) error {
	return printAnswer(func(a answer) string { return a.text(name) })
}

// printAnswer prints a line of the answer, or with --json all of it.
func printAnswer[A any](line func(A) string) func(*simRequest) error {
	return func(r *simRequest) error {
		var a A
		if err := r.send(&a); err != nil {
			return err
		}
		return printNew(r.cmd, line(a), a)
	}
}

// printTable prints the list that is the answer.
func printTable[A any](heading []string, row func(A) []string) func(*simRequest) error {
	return func(r *simRequest) error {
		var answer struct{ Data []A }
		if err := r.send(&answer); err != nil {
			return err
		}
		return printList(r.cmd, answer.Data, table[A]{heading: heading, row: row})
	}
}

// simFlag is a flag whose value becomes a field of a call.
type simFlag struct {
	name, usage string
	field       string                    // "": called as the flag, with _ for -
	isBool      bool                      // true or false
	parse       func(string) (any, error) // of other flags; nil for a text, which is left out if it is empty
	initial     any                       // the field without the flag; nil leaves it out
}

// add adds the flag to a command. Its value is put into the fields.
func (f simFlag) add(cmd *cobra.Command, fields jsonObject) {
	field := cmp.Or(f.field, strings.ReplaceAll(f.name, "-", "_"))
	if f.initial != nil {
		fields[field] = f.initial
	}

	parse, add := f.parse, cmd.Flags().Func
	switch {
	case f.isBool:
		parse, add = boolean, cmd.Flags().BoolFunc
	case parse == nil:
		parse = optionalText
	}

	add(f.name, f.usage, func(s string) (err error) {
		if fields[field], err = parse(s); fields[field] == nil {
			delete(fields, field)
		}
		return err
	})
}

func optionalText(s string) (any, error) {
	if s == "" {
		return nil, nil
	}
	return s, nil
}

func boolean(s string) (any, error)      { return strconv.ParseBool(s) }
func integer(s string) (any, error)      { return strconv.Atoi(s) }
func decimal(s string) (any, error)      { return strconv.ParseFloat(s, 64) }
func anyText(s string) (any, error)      { return s, nil }
func requiredText(s string) (any, error) { return parseText(s) }

// errorCode reads an error code of the provider; 0 for none.
func errorCode(s string) (any, error) {
	code, err := strconv.ParseInt(s, 0, 64)
	if err != nil || code == 0 {
		return nil, err
	}
	return code, nil
}

func oneOf(choices ...string) func(string) (any, error) {
	return func(s string) (any, error) { return parseChoice(choices...)(s) }
}
