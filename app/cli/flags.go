package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"confab/app/config"
	"confab/storage"
)

const maxName = 200

// listLimit is how many rows a listing shows without --limit, and a command reads at a time.
const listLimit = 100

// usageError is wrong usage that only a command's own code notices: its status is that of wrong flags.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// argumentsOf checks the arguments of a command by what its Use line says: the words that
// are neither the command's name nor flags with their values.
func argumentsOf(use string) cobra.PositionalArgs {
	var names []string
	words := strings.Fields(use)[1:]
	for i := 0; i < len(words); i++ {
		if strings.HasPrefix(words[i], "--") {
			i++
			continue
		}
		names = append(names, words[i])
	}
	return arguments(names...)
}

// arguments checks that a command has these arguments, and none is empty. The
// last may be left out if its name is in brackets.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		if i := slices.Index(args, ""); i >= 0 {
			return fmt.Errorf("%s is empty", names[i])
		}
		return nil
	}
}

// nameArgument checks that a command has one argument, which can be a name.
func nameArgument(cmd *cobra.Command, args []string) error {
	if err := arguments("NAME")(cmd, args); err != nil {
		return err
	}
	if _, err := parseName(args[0]); err != nil {
		return fmt.Errorf("NAME %w", err)
	}
	return nil
}

func readFileOrStdin(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}

// requireAnyFlag is the PreRunE of a command that needs at least one of its flags.
func requireAnyFlag(names ...string) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		if slices.ContainsFunc(names, cmd.Flags().Changed) {
			return nil
		}
		last := len(names) - 1
		return usage("nothing to change: set --%s or --%s", strings.Join(names[:last], ", --"), names[last])
	}
}

// parsedFlag adds a flag that is read by parse. A value that parse refuses is
// wrong usage, found before the command does anything.
func parsedFlag[T any](cmd *cobra.Command, into *T, name, usage string, parse func(string) (T, error)) {
	cmd.Flags().Func(name, usage, func(s string) (err error) {
		*into, err = parse(s)
		return err
	})
}

func requiredFlag[T any](cmd *cobra.Command, into *T, name, usage string, parse func(string) (T, error)) {
	parsedFlag(cmd, into, name, usage, parse)
	cmd.MarkFlagRequired(name)
}

func parsedFlagWithDefault[T any](cmd *cobra.Command, into *T, name, value, usage string, parse func(string) (T, error)) {
	*into, _ = parse(value)
	parsedFlag(cmd, into, name, usage+" (default "+value+")", parse)
}

// setGiven sets a field to the value of a flag, if the flag is given.
func setGiven[T any](cmd *cobra.Command, flag string, field *T, value T) {
	if cmd.Flags().Changed(flag) {
		*field = value
	}
}

// dataDirFlag adds --data-dir to a command whose default is not a server's.
func dataDirFlag(flags *pflag.FlagSet, into *string, usage string) {
	flags.StringVar(into, "data-dir", "", "`directory` "+usage)
}

// requiredOrg adds the flag that names the organization to work on.
func requiredOrg(cmd *cobra.Command, org *string, usage string) {
	requiredFlag(cmd, org, "org", "`organization` "+usage, parseText)
}

// optionalOrg adds the flag that narrows a listing to an organization.
func optionalOrg(cmd *cobra.Command, org *string) {
	parsedFlag(cmd, org, "org", "only this `organization`", parseText)
}

// orgOfOne adds the flag that names the organization to work on, where there are several.
func orgOfOne(cmd *cobra.Command, org *string) {
	parsedFlag(cmd, org, "org", "the `organization` (optional if there is only one)", parseText)
}

func limitFlag(cmd *cobra.Command, limit *int) {
	parsedFlag(cmd, limit, "limit", fmt.Sprintf("at most this `many` (default %d)", *limit), parseCount)
}

// parseText refuses an empty text, which is more often an unset shell variable than intended.
func parseText(s string) (string, error) {
	if s == "" {
		return "", errors.New("must not be empty")
	}
	return s, nil
}

func parseName(s string) (string, error) {
	switch {
	case strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > maxName:
		return "", fmt.Errorf("must have 1 to %d characters", maxName)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", errors.New("must be plain text")
	}
	return s, nil
}

// parseEmail accepts an address without a name before it.
func parseEmail(s string) (string, error) {
	if !storage.ValidEmail(s) {
		return "", errors.New("must be an email address such as ana@example.com")
	}
	return s, nil
}

// youngerThan is the time of an age that a flag gave, before another time; 0 without one.
func youngerThan(age time.Duration, now storage.Time) storage.Time {
	if age == 0 {
		return 0
	}
	return now.Add(-age)
}

func parseAge(s string) (time.Duration, error) {
	age, err := config.ParseAge(s)
	if err == nil && age == 0 {
		err = errors.New("must be longer than 0")
	}
	return age, err
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("must be a whole number of at least 1")
	}
	return n, nil
}

func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("must be a URL such as http://127.0.0.1:8080")
	}
	return u, nil
}

func parseBaseURL(s string) (*url.URL, error) {
	if _, err := parseURL(s); err != nil {
		return nil, errors.New("must be a base URL such as http://127.0.0.1:8080/v1")
	}
	return parseEndpoint(s)
}

// parseEndpoint accepts a URL that webhooks can be posted to.
func parseEndpoint(s string) (*url.URL, error) {
	u, err := parseURL(s)
	if err == nil && u.User != nil {
		return nil, errors.New("must not contain a username or password")
	}
	return u, err
}

func parseAddress(s string) (string, error) {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", errors.New("must be host:port, such as 127.0.0.1:8081")
	}
	return s, nil
}

func parseChoice(allowed ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(allowed, s) {
			return "", errors.New("must be " + strings.Join(allowed, " or "))
		}
		return s, nil
	}
}

type numberFlags struct{ org, number string }

func (f *numberFlags) add(cmd *cobra.Command) {
	orgOfOne(cmd, &f.org)
	parsedFlag(cmd, &f.number, "phone-number-id", "the `number` (optional if there is only one)", parseText)
}

// account finds the number that the flags choose.
func (f numberFlags) account(rx *storage.Rx) (storage.AccountKey, error) {
	if f.number != "" {
		a, err := rx.AccountKey(f.number)
		if err != nil || f.org == "" {
			return a, accountNotFound(err, f.number)
		}
		o, err := organization(rx, f.org)
		if err == nil && o.ID != a.OrganizationID {
			err = accountNotFound(storage.ErrNotFound, f.number)
		}
		return a, err
	}

	o, err := onlyOrganization(rx, f.org)
	if err != nil {
		return storage.AccountKey{}, err
	}
	all, _, err := rx.Accounts(o.ID, storage.AccountFilter{}, storage.First, 2)
	switch {
	case err != nil:
		return storage.AccountKey{}, err
	case len(all) == 0 || all[0].PhoneNumberID == nil:
		return storage.AccountKey{}, errors.New("there is no number: connect one with 'confab accounts connect'")
	case len(all) > 1:
		return storage.AccountKey{}, errors.New("there are several numbers (confab accounts list): choose one with --phone-number-id")
	}
	return rx.AccountKey(*all[0].PhoneNumberID)
}

// accountNotFound is notFound for the account of a phone number id.
func accountNotFound(err error, id string) error {
	return notFound(err, "account with the phone number id", id)
}

// Variables that 'confab sandbox', 'simulator', 'trigger' and 'accounts' read.
// They are no settings of a server.
const (
	simulatorURLVariable = "CONFAB_SIMULATOR_URL"
	controlTokenVariable = "CONFAB_CONTROL_TOKEN"
	appSecretVariable    = "CONFAB_APP_SECRET"
	verifyTokenVariable  = "CONFAB_VERIFY_TOKEN"
	accessTokenVariable  = "CONFAB_ACCESS_TOKEN"
)

// secretReader reads secrets, which should not be seen on a command line: a flag
// may be - for a line of standard input, or absent in favour of a variable. One
// reader serves all flags of a command, which take their lines one after the other.
type secretReader struct{ lines *bufio.Reader }

func newSecretReader(in io.Reader) *secretReader { return &secretReader{bufio.NewReader(in)} }

// read returns the secret of a flag with this value; empty if there is none.
func (s *secretReader) read(flag, value, variable string) (string, error) {
	switch value {
	case "":
		return os.Getenv(variable), nil
	case "-":
		line, err := s.lines.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("--%s: %w", flag, err)
		}
		if line == "" {
			return "", fmt.Errorf("--%s is -, but there is no line on standard input", flag)
		}
		return line, nil
	}

	return value, nil
}
