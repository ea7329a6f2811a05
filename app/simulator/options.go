package simulator

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Options says how a simulator is set up. The zero value is a usable one that
// keeps nothing on disk and makes its credentials up.
type Options struct {
	// StateFile is where the state is saved; the media files lie beside it. Empty saves nothing.
	StateFile string

	// Listen is the address that the simulator will be served on. It decides
	// whether the control surface needs a token: on loopback it does not.
	Listen string
	// Hosts are further names under which /_sim may be called, besides the
	// loopback names and the host of Listen.
	Hosts []string
	// ControlToken, when set, must be presented to /_sim as a bearer token.
	ControlToken string
	// Refuses, when set, reports whether a request must not reach /_sim.
	Refuses func(*http.Request) bool
	// Mark, when set, marks callbacks and challenges, so that Refuses knows them: clients
	// choose where they go.
	Mark func(*http.Request)
	// PublicURL is the origin that callbacks name in media URLs; empty leaves
	// such URLs out. Answers to requests use the request's own origin.
	PublicURL string

	// AppID, AppSecret, VerifyToken and AccessToken are made up when empty
	// and then kept in the state file.
	AppID       string
	AppSecret   string
	VerifyToken string
	AccessToken string
	// WebhookURL is the app's callback URL. It is taken as verified: see
	// [Server.VerifyWebhook].
	WebhookURL string

	// CallbackClient posts callbacks and challenges; nil takes one with a time
	// limit of 10 seconds that follows no redirects.
	CallbackClient *http.Client
	// Fetch downloads links that were given to /_sim, within a limit of its own. Without it links cannot be fetched.
	Fetch func(*http.Request) (*http.Response, error)

	// SetWindow, when set, is called by /_sim/contacts/{number}/window when a person is to
	// have written last, so that the app opens or closes its 24-hour window too.
	SetWindow func(context.Context, Window) error

	// Clock is the clock of the sandbox that the simulator is a part of; nil is this
	// machine's, which cannot be moved.
	Clock *Clock

	// MaxMessages limits the stored messages; 200,000 when zero.
	MaxMessages int
	// Log receives what goes wrong in the background; nil discards it.
	Log *slog.Logger
}

// Clock is a clock that can be moved ahead.
type Clock struct {
	Now    func() time.Time
	Offset func() time.Duration // how far it is ahead of this machine's
	Max    time.Duration        // how far it can be moved in all
	// Move moves it for all of the sandbox, and returns how many jobs of the app were claimed.
	// It calls before with the time at which a job was due, before that starts.
	Move func(ctx context.Context, by time.Duration, before func(time.Time)) (started int, err error)
}

// Window says when a person last wrote to a business number.
type Window struct {
	PhoneNumberID string
	Phone, BSUID  string // of the person; digits, empty while hidden
	At            time.Time
}

// Credentials are what a client needs in order to talk to the simulator and
// to check its callbacks.
type Credentials struct {
	AppID       string `json:"app_id"`
	AppSecret   string `json:"app_secret"`
	VerifyToken string `json:"verify_token"`
	AccessToken string `json:"access_token"`
}

const (
	defaultMaxMessages = 200_000
	callbackTimeout    = 10 * time.Second
)

// complete fills in defaults, and refuses a public address without a control
// token.
func (o *Options) complete() error {
	if o.ControlToken == "" && o.Listen != "" && !loopbackName(hostOf(o.Listen)) {
		return fmt.Errorf("simulator on %s, which is not a loopback address, needs a control token", o.Listen)
	}

	if o.MaxMessages <= 0 {
		o.MaxMessages = defaultMaxMessages
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Mark == nil {
		o.Mark = func(*http.Request) {}
	}
	if o.CallbackClient == nil {
		o.CallbackClient = newCallbackClient()
	}

	o.PublicURL = strings.TrimSuffix(o.PublicURL, "/")
	return nil
}

func newCallbackClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = true

	return &http.Client{
		Transport: transport,
		Timeout:   callbackTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// hostOf is an address without its port, if it has one.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// loopbackName reports whether a host is reachable from this machine only.
func loopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}
