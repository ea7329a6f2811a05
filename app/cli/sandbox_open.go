package cli

import (
	"cmp"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/app/simulator"
	"confab/storage"
)

// webhookPath is where the server takes the provider's callbacks.
const webhookPath = "/provider/webhook"

// open opens the server, then the provider whose listener is given: the server
// has the data directory's lock, and its database says whose directory it is.
func (b *sandbox) open(e *env, cmd *cobra.Command, c config.Config, l net.Listener) (err error) {
	// The address is tried before there is anything on the disk.
	if probe, err := openListener(c.Server.Listen, "listen"); err != nil {
		return err
	} else if err := probe.Close(); err != nil {
		return err
	}

	dir := app.DataDir(b.dir)
	if b.state, err = readSandbox(dir); err != nil {
		return err
	}

	// The server is opened before anything is written: it takes the directory's lock.
	b.useSimulator(&c, localURL(l))

	options := e.appOptions(cmd, c)
	options.PlaySignup, options.AllowLocalURLs = b.simulateSignup, true
	if b.app, err = app.New(options); err != nil {
		return err
	}

	ctx := cmd.Context()
	if err := b.app.DB.Update(ctx, func(tx *storage.Tx) error { return b.state.seed(tx) }); err != nil {
		return err
	}

	if err := b.openSimulator(l, options); err != nil {
		return err
	}

	n, err := ensureNumber(b.simulator.Server, simulator.Number{
		PhoneNumberID: b.state.PhoneNumberID, WABAID: b.state.WABAID,
		DisplayPhoneNumber: sandboxNumber, VerifiedName: sandboxOrganization,
	})
	if err != nil {
		return err
	}

	templates, err := addSampleTemplates(ctx, b.app.DB, b.simulator.Server, n)
	if err != nil {
		return err
	}

	if err := b.app.DB.Update(ctx, func(tx *storage.Tx) error { return b.state.ensureAccount(tx, n, templates) }); err != nil {
		return err
	}

	b.state.BaseURL, b.state.ConsoleURL = b.app.URL()+"/v1", b.app.URL()+"/console/"
	return writeStateFile(sandboxFile(dir), b.state)
}

// useSimulator makes the simulator the provider, whatever the settings say, and
// opens what is guarded to this machine.
func (b *sandbox) useSimulator(c *config.Config, simulatorURL string) {
	b.state.SimulatorURL = simulatorURL
	c.Provider.BaseURL, c.Provider.AppID = simulatorURL, b.state.AppID
	c.Provider.AppSecret, c.Provider.VerifyToken = config.Secret(b.state.AppSecret), config.Secret(b.state.VerifyToken)
	c.Security.AllowCIDRs = append(c.Security.AllowCIDRs, loopbackPrefixes()...)
}

func (b *sandbox) openSimulator(l net.Listener, o app.Options) (err error) {
	open := !isLoopback(l.Addr().String()) || !isLoopback(b.app.Config.Server.Listen)
	b.token = controlToken(b.state.ControlToken, open)
	b.state.ControlToken = cmp.Or(b.token, b.state.ControlToken)

	webhook := b.app.URL() // a certificate is made out to this name
	if !b.app.Config.Server.TLS() {
		local, err := b.app.Config.Server.LocalURL()
		if err != nil {
			return err
		}
		webhook = local.String()
	}

	b.simulator, err = newSimulatorHost(l, b.dir, o.Log, simulator.Options{
		Hosts: allowedHosts(o.Config.Server.PublicURL, open), ControlToken: b.token,
		AppID: b.state.AppID, AppSecret: b.state.AppSecret, VerifyToken: b.state.VerifyToken, AccessToken: b.state.AccessToken,
		WebhookURL: webhook + webhookPath,
	})
	return err
}

// simulateSignup plays a business that signs up at the provider. It has templates from
// the start, with which it can write to people who have not written to it.
func (b *sandbox) simulateSignup(name, phone string) (app.Signup, error) {
	s, err := b.simulator.Signup(name, phone)
	if err != nil {
		return app.Signup{}, err
	}

	for _, t := range sampleTemplates() {
		if _, err := b.simulator.AddTemplate(s.WABAID, t); err != nil {
			return app.Signup{}, err
		}
	}

	return app.Signup{Code: s.Code, WABAID: s.WABAID, PhoneNumberID: s.PhoneNumberID}, nil
}

// warnIfExposed tells who else can reach the sandbox.
func (b *sandbox) warnIfExposed(w io.Writer) {
	for what, address := range map[string]string{"sandbox": b.app.Config.Server.Listen, "simulator": b.simulator.listener.Addr().String()} {
		if !isLoopback(address) {
			warnExposed(w, what, address)
		}
	}
}

func warnExposed(w io.Writer, what, address string) {
	fmt.Fprintf(w, "confab: warning: the %s listens on %s, where other machines reach it; it is made for this one only\n", what, address)
}
