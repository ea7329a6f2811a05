package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"confab/app"
	"confab/app/config"
	"confab/app/datadir"
	"confab/app/simulator"
	"confab/storage"
)

// webhookPath is where the server receives the provider's callbacks.
const webhookPath = "/provider/webhook"

// open opens the server, then the simulator on the listener given, and creates in
// both what is missing. For the order see sandbox.
func (b *sandbox) open(e *env, cmd *cobra.Command, c config.Config, l net.Listener) (err error) {
	// app.New listens only after it has written to the disk, so the address is tried here.
	if probe, err := openListener(c.Server.Listen, "listen"); err != nil {
		return err
	} else if err := probe.Close(); err != nil {
		return err
	}

	dir := datadir.Dir(b.dir)
	if b.state, err = readSandbox(dir); err != nil {
		return err
	}

	// The simulator is the provider, regardless of the settings. Webhooks may be on this machine.
	b.state.SimulatorURL = localURL(l)
	c.Provider.BaseURL, c.Provider.AppID = b.state.SimulatorURL, b.state.AppID
	c.Provider.AppSecret, c.Provider.VerifyToken = config.Secret(b.state.AppSecret), config.Secret(b.state.VerifyToken)
	c.Security.AllowCIDRs = append(c.Security.AllowCIDRs, loopbackPrefixes()...)

	options := e.appOptions(cmd, c)
	options.SimulateSignup, options.AllowLocalURLs = b.simulateSignup, true
	options.SandboxUser = func() string { return b.state.UserID }
	options.Clock = b.clock
	options.Simulator = func() http.Handler { return b.simulator.Control() }
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
		PhoneNumberID:      b.state.PhoneNumberID,
		WABAID:             b.state.WABAID,
		DisplayPhoneNumber: sandboxNumber,
		VerifiedName:       sandboxOrganization,
	})
	if err != nil {
		return err
	}

	err = b.app.DB.Update(ctx, func(tx *storage.Tx) error {
		// A user who comes back after a week need not think of the clock.
		return errors.Join(tx.ConfirmClock(), b.state.ensureAccount(tx, b.simulator.Server, n))
	})
	if err != nil {
		return err
	}

	b.state.BaseURL, b.state.ConsoleURL = b.app.URL()+"/v1", b.app.URL()+"/console/"
	return writeStateFile(sandboxFile(dir), b.state)
}

// openSimulator opens the simulator with the credentials that the server expects,
// and lets it post its callbacks to the server.
func (b *sandbox) openSimulator(l net.Listener, o app.Options) (err error) {
	exposed := !isLoopback(l.Addr().String()) || !isLoopback(b.app.Config.Server.Listen)
	b.token = controlToken(b.state.ControlToken, exposed)
	b.state.ControlToken = cmp.Or(b.token, b.state.ControlToken)

	// With TLS the public name is called, for which the certificate is.
	webhook := b.app.URL()
	if !b.app.Config.Server.TLS() {
		local, err := b.app.Config.Server.LocalURL()
		if err != nil {
			return err
		}
		webhook = local.String()
	}

	b.simulator, err = newSimulatorHost(l, b.dir, o.Log, simulator.Options{
		Hosts:        allowedHosts(o.Config.Server.PublicURL, exposed),
		ControlToken: b.token,
		AppID:        b.state.AppID,
		AppSecret:    b.state.AppSecret,
		VerifyToken:  b.state.VerifyToken,
		AccessToken:  b.state.AccessToken,
		WebhookURL:   webhook + webhookPath,
		SetWindow:    b.setWindow,
		Clock: &simulator.Clock{
			Now:    func() time.Time { return time.Now().Add(b.clock.Offset()) },
			Offset: b.clock.Offset,
			Max:    storage.MaxClockOffset,
			Move:   b.app.MoveClock,
		},
	})
	return err
}

// setWindow lets the server believe that a person last wrote at a time, as the simulator
// does: opening or closing a 24-hour window affects both sides.
func (b *sandbox) setWindow(ctx context.Context, w simulator.Window) error {
	err := b.app.DB.Update(ctx, func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(w.PhoneNumberID)
		if err != nil {
			return err
		}
		t, err := tx.ThreadByPhone(a.ID, "+"+w.Phone)
		if errors.Is(err, storage.ErrNotFound) {
			t, err = tx.ThreadByBSUID(a.ID, w.BSUID)
		}
		if err != nil || t.ConversationID == "" {
			return err
		}
		return tx.SetLastInbound(t, storage.At(w.At))
	})
	if errors.Is(err, storage.ErrNotFound) {
		return nil // the server knows nothing of the person or of the number
	}
	return err
}

// simulateSignup signs a business up at the simulated provider, as its owner
// would. It gets the sample templates, so that it can write first.
func (b *sandbox) simulateSignup(name, phone string) (app.Signup, error) {
	s, err := b.simulator.Signup(name, phone)
	if err != nil {
		return app.Signup{}, err
	}

	_, err = addTemplates(b.simulator.Server, s.WABAID)
	return app.Signup{Code: s.Code, WABAID: s.WABAID, PhoneNumberID: s.PhoneNumberID}, err
}

func warnIfExposed(w io.Writer, what, address string) {
	if isLoopback(address) {
		return
	}
	fmt.Fprintf(w, "confab: warning: the %s listens on %s, where other machines can reach it; it is for local use only\n", what, address)
}

func forwardFlag(cmd *cobra.Command, to **url.URL) {
	parsedFlag(cmd, to, "forward-to", "subscribe this `URL` to all events, and print the signing secret", parseEndpoint)
}

// subscribeForwardURL subscribes a URL to all events, unless an earlier start has
// done so, and keeps the secret that signs them.
func (b *sandbox) subscribeForwardURL(ctx context.Context, to *url.URL) error {
	if to == nil {
		return nil
	}
	return b.app.DB.Update(ctx, func(tx *storage.Tx) error {
		o, err := tx.Organization(b.state.OrganizationID)
		if err != nil {
			return err
		}

		all, err := tx.Subscriptions(o.ID, storage.First, math.MaxInt32)
		if err != nil {
			return err
		}
		for _, s := range all { // of an earlier start: to all events of all numbers
			if s.URL == to.String() && slices.Equal(s.Events, storage.Strings{"*"}) && len(s.PhoneNumberIDs) == 0 {
				return b.resumeForwarding(tx, s)
			}
		}

		b.webhookSecret, err = tx.InsertSubscription(&storage.Subscription{
			OrganizationID: o.ID,
			URL:            to.String(),
			Description:    new("confab sandbox --forward-to"),
			Events:         storage.Strings{"*"},
			Status:         storage.WebhookActive,
		})
		return err
	})
}

// resumeForwarding reads the secret of an earlier start, or makes a new one if all have expired.
func (b *sandbox) resumeForwarding(tx *storage.Tx, s storage.Subscription) error {
	if s.Status != storage.WebhookActive {
		if err := tx.ResumeSubscription(s.ID); err != nil {
			return err
		}
	}

	keys, err := tx.SigningKeys(s.ID)
	if err == nil && len(keys) == 0 {
		keys = make([]string, 1)
		_, keys[0], err = tx.InsertSecret(s.ID, "", 0)
	}
	if err == nil {
		b.webhookSecret = keys[0]
	}
	return err
}
