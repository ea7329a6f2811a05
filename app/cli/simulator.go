package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"confab/app"
	"confab/app/config"
	"confab/app/console"
	"confab/app/datadir"
	"confab/app/simulator"
)

const (
	defaultSimulatorDir = "./confab-simulator"

	verifyTimeout = 5 * time.Second
)

// simulatorState is what a client of the simulator needs to know. It is kept in simulator.json.
type simulatorState struct {
	simulatorAccess
	WebhookURL string `json:"webhook_url,omitempty"`
}

type simulatorFlags struct {
	listen                              string
	webhook                             *url.URL
	appSecret, verifyToken, accessToken string
	remember                            int
}

func (e *env) simulator() *cobra.Command {
	var f simulatorFlags
	cmd := &cobra.Command{
		Use:   "simulator",
		Short: "Run only the simulated provider, for apps that call it directly",
		Long: "Run only the simulated provider, for apps that call the provider's Cloud API directly: change the base URL,\n" +
			"and any client works. The first run creates an app, a number and three approved templates, and prints them;\n" +
			"later runs keep them. Write to the number from the phone that it shows at its own address, or with\n" +
			"'confab trigger'.\n\n" +
			"The app secret, verify token and access token are generated unless you set them: with a flag, with - for\n" +
			"a line of standard input, or with " + appSecretVariable + ", " + verifyTokenVariable + " and " + accessTokenVariable + ".",
		Example: "  confab simulator\n  confab simulator --webhook-url http://127.0.0.1:3000/webhook --verify-token secret-word",
		RunE:    e.run(func(cmd *cobra.Command, _ []string) error { return e.runSimulator(cmd, f) }),
	}

	dataDirFlag(cmd.Flags(), &e.dataDir, "for all data (default "+defaultSimulatorDir+")")
	parsedFlagWithDefault(cmd, &f.listen, "listen", defaultSimulatorListen, "`address` to listen on", parseAddress)
	parsedFlag(cmd, &f.webhook, "webhook-url", "`URL` of your app to post callbacks to (default: the last run's)", parseURL)
	cmd.Flags().StringVar(&f.appSecret, "app-secret", "", "`secret` to sign callbacks with")
	cmd.Flags().StringVar(&f.verifyToken, "verify-token", "", "`word` that your app expects in the webhook challenge")
	cmd.Flags().StringVar(&f.accessToken, "access-token", "", "`token` that your app sends")
	parsedFlag(cmd, &f.remember, "remember", "how `many` messages to remember, about 1 KB each (default 200000)", parseCount)
	return cmd
}

func (e *env) runSimulator(cmd *cobra.Command, f simulatorFlags) error {
	o, err := f.options(cmd.InOrStdin())
	if err != nil {
		return err
	}

	// The listener comes first, so that nothing is written if its address is taken.
	l, err := openListener(f.listen, "listen")
	if err != nil {
		return err
	}
	defer closeListener(l)

	dir := cmp.Or(e.dataDir, defaultSimulatorDir)
	if err := prepareSimulatorDir(dir); err != nil {
		return err
	}
	lock, err := datadir.Dir(dir).LockSimulator()
	if err != nil {
		return err
	}
	defer lock.Close()

	state := &simulatorState{}
	if _, err := readStateFile(filepath.Join(dir, datadir.SimulatorFile), state); err != nil {
		return err
	}

	exposed := !isLoopback(l.Addr().String())
	o.AccessToken = cmp.Or(o.AccessToken, state.AccessToken, newAccessToken())
	o.ControlToken, o.Hosts = controlToken(state.ControlToken, exposed), allowedHosts("", exposed)
	h, err := newSimulatorHost(l, dir, app.NewLogger(cmd.ErrOrStderr(), config.Log{Level: "warn", Format: "text"}), o)
	if err != nil {
		return err
	}

	if o.ControlToken == "" { // which no page could give without knowing it
		h.offerPhone()
	}
	err = state.update(h, o)
	if err == nil {
		err = writeStateFile(filepath.Join(dir, datadir.SimulatorFile), state)
	}
	if err == nil {
		warnIfExposed(cmd.ErrOrStderr(), "simulator", l.Addr().String())
		err = state.serve(cmd, h, dir, o.ControlToken)
	}
	return errors.Join(err, h.close())
}

// prepareSimulatorDir creates the directory. It refuses one with other files.
func prepareSimulatorDir(dir string) error {
	empty, err := isEmptyDirectory(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, datadir.SimulatorLock)); !empty && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not empty and has no simulator: choose another directory with --data-dir", dir)
	}
	return datadir.Dir(dir).Prepare()
}

// options are the simulator's options as flags and variables give them.
func (f simulatorFlags) options(stdin io.Reader) (o simulator.Options, err error) {
	if f.webhook != nil {
		o.WebhookURL = f.webhook.String()
	}
	o.MaxMessages = f.remember
	from := newSecretReader(stdin)
	if o.AppSecret, err = from.read("app-secret", f.appSecret, appSecretVariable); err != nil {
		return o, err
	}
	if o.VerifyToken, err = from.read("verify-token", f.verifyToken, verifyTokenVariable); err != nil {
		return o, err
	}
	o.AccessToken, err = from.read("access-token", f.accessToken, accessTokenVariable)
	return o, err
}

// update fills the state from the simulator. On the first run it creates the number.
func (s *simulatorState) update(h *simulatorHost, o simulator.Options) error {
	n, err := ensureNumber(h.Server, simulator.Number{PhoneNumberID: s.PhoneNumberID, VerifiedName: "Test Business"})
	if err != nil {
		return err
	}

	s.SimulatorURL = localURL(h.listener)
	s.PhoneNumberID, s.PhoneNumber, s.WABAID = n.PhoneNumberID, "+"+n.Digits(), n.WABAID
	s.Credentials = h.Credentials()
	s.WebhookURL = cmp.Or(o.WebhookURL, s.WebhookURL)
	s.ControlToken = cmp.Or(o.ControlToken, s.ControlToken)
	return nil
}

// serve serves until the command is interrupted or the listener fails.
func (s *simulatorState) serve(cmd *cobra.Command, h *simulatorHost, dir, token string) error {
	feed := newTerminalFeed(h.Server, cmd.OutOrStdout())
	defer feed.stop()
	group, ctx := errgroup.WithContext(cmd.Context())
	group.Go(h.serve)

	s.printInstructions(cmd.OutOrStdout(), dir, token)
	if s.WebhookURL != "" {
		s.verifyWebhook(ctx, cmd, h)
	}

	// The feed starts last, so that its lines come after the instructions.
	feed.start()
	<-ctx.Done()
	h.stop()
	return group.Wait()
}

// verifyWebhook sends the provider's challenge with the verify token to the webhook. Callbacks are
// posted to it no matter what it answers: it may only start more slowly than the simulator.
func (s *simulatorState) verifyWebhook(ctx context.Context, cmd *cobra.Command, h *simulatorHost) {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()

	if err := h.VerifyWebhook(ctx); err != nil {
		// The cause follows the sentence with which the provider begins its error.
		_, why, found := strings.Cut(err.Error(), "following errors: ")
		if !found {
			why = err.Error()
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "confab: warning: the webhook %s did not pass the challenge: %s; "+
			"callbacks are posted to it anyway\n", s.WebhookURL, printable(why))
		return
	}
	fmt.Fprintf(cmd.OutOrStdout(), "The webhook %s passed the challenge.\n", s.WebhookURL)
}

func (s *simulatorState) printInstructions(out io.Writer, dir, token string) {
	fmt.Fprintf(out, "The simulator is ready: %s\n\n", s.SimulatorURL)
	phone := ""
	if token == "" { // else it is not offered
		phone = s.SimulatorURL + console.PhonePath + " (write as a customer)"
	}
	printFacts(out, [][]string{
		{"  phone", phone},
		{"  number", fmt.Sprintf("%s (phone_number_id %s)", s.PhoneNumber, s.PhoneNumberID)},
		{"  account", s.WABAID},
		{"  app", s.AppID},
		{"  app secret", s.AppSecret},
		{"  verify token", s.VerifyToken},
		{"  access token", s.AccessToken},
		{"  webhook", cmp.Or(s.WebhookURL, "none: set it with --webhook-url")},
		{"  saved in", filepath.Join(dir, datadir.SimulatorFile)},
		{"  /_sim token", token},
	})
	fmt.Fprintf(out, `
Send a template:

%s
See what was sent, and send a message from a person:

%s
  %s

Ctrl-C stops it. Everything is kept for the next start.
`,
		curlSend(s.SimulatorURL+"/v26.0", s.PhoneNumberID, s.AccessToken, "whatsapp",
			`"type": "template", "template": {"name": "hello_world", "language": {"code": "en_US"}}`),
		curlMessages(s.SimulatorURL, token), triggerCommand(dir, defaultSimulatorDir))
}
