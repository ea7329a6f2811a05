// Package oidc signs people in through an identity provider, by OpenID Connect: the browser is
// sent there with an Attempt, and comes back with a code, for which the provider tells us who
// signed in. It is the code flow with PKCE; state and nonce are checked by the caller and here.
//
// The operator chose the provider, which may well be in a private network, so its addresses are
// not guarded as those of strangers are. But it must not do harm when it is down, slow or broken:
// calls have a timeout, answers a bound, and only a few wait for them at once. It is asked for
// its addresses (discovery) at the first use, and again after a failure.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"confab/app/config"
	"confab/app/limit"
)

const (
	// timeout is that of one call, and patience how long somebody waits for a place to make it.
	timeout  = 10 * time.Second
	patience = 5 * time.Second
	// atOnce is how many sign-ins wait for the provider at the same time. Anybody can begin one.
	atOnce = 32
	// maxSubject is the longest that a provider may call somebody, by the standard.
	maxSubject = 255
)

var (
	// ErrUnavailable means that the provider did not answer as it should: try again later.
	ErrUnavailable = errors.New("the identity provider is not available")
	// ErrRefused means that the provider, or what it said, does not let somebody in.
	ErrRefused = errors.New("the identity provider's answer was refused")
)

// Provider is an identity provider.
type Provider struct {
	config.OIDC
	redirectURL string
	client      *http.Client
	slots       *limit.Semaphore
	found       atomic.Pointer[oidc.Provider] // nil before its addresses are known
}

// New makes a Provider from which browsers come back to redirectURL. It is not called before
// somebody signs in.
func New(c config.OIDC, redirectURL string) *Provider {
	return &Provider{
		OIDC:        c,
		redirectURL: redirectURL,
		client:      newClient(),
		slots:       limit.NewSemaphore(limit.SemaphoreOptions{Total: atOnce, Patience: patience}),
	}
}

// IsOnly reports whether passwords and passkeys are refused. Without a provider they are not.
func (p *Provider) IsOnly() bool { return p != nil && p.Only }

// Attempt is what belongs to one try to sign in: it must come back with the browser, and with
// what the provider says.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// NewAttempt makes an Attempt.
func NewAttempt() Attempt {
	return Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
}

// SignInURL is where to send the browser. With again the provider is to ask for the password
// although the person is signed in there.
func (p *Provider) SignInURL(ctx context.Context, who limit.Holder, a Attempt, again bool) (string, error) {
	found, release, err := p.begin(ctx, who)
	if err != nil {
		return "", err
	}
	defer release()

	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if again {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	return p.oauth(found).AuthCodeURL(a.State, options...), nil
}

// Identify finds out who signed in, by the code that the browser came back with. The errors are
// ErrUnavailable and ErrRefused.
func (p *Provider) Identify(ctx context.Context, who limit.Holder, a Attempt, code string) (Identity, error) {
	found, release, err := p.begin(ctx, who)
	if err != nil {
		return Identity{}, err
	}
	defer release()

	token, err := p.exchange(ctx, found, a, code)
	if err != nil {
		return Identity{}, err
	}

	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return Identity{}, fmt.Errorf("%w: the nonce is not ours", ErrRefused)
	}
	return p.identity(token)
}

// begin waits for a place to call the provider, and finds its addresses.
func (p *Provider) begin(ctx context.Context, who limit.Holder) (found *oidc.Provider, release func(), err error) {
	slot, err := p.slots.Acquire(ctx, who, 1, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if found, err = p.discover(ctx); err != nil {
		slot.Release()
	}
	return found, slot.Release, err
}

// discover asks the provider for its addresses, once.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if found := p.found.Load(); found != nil {
		return found, nil
	}

	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.Issuer)
	if err != nil {
		return nil, unavailable("discovery", err)
	}
	p.found.Store(found)
	return found, nil
}

// Examine asks the provider for its addresses, as signing in does, and returns how far its
// clock is ahead of ours.
func (p *Provider) Examine(ctx context.Context) (ahead time.Duration, err error) {
	if _, err := p.discover(ctx); err != nil {
		return 0, err
	}
	address := strings.TrimSuffix(p.Issuer, "/") + "/.well-known/openid-configuration"
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return 0, err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, unavailable("discovery", err)
	}
	response.Body.Close()

	// Without a time nothing is known to be wrong.
	if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		ahead = time.Until(at)
	}
	return ahead, nil
}

func (p *Provider) oauth(found *oidc.Provider) *oauth2.Config {
	endpoint := found.Endpoint()
	endpoint.AuthStyle = p.authStyle(found)
	return &oauth2.Config{
		ClientID:     p.ClientID,
		ClientSecret: p.ClientSecret.Reveal(),
		Endpoint:     endpoint,
		RedirectURL:  p.redirectURL,
		Scopes:       p.Scopes,
	}
}

// authStyle is how we show the provider who we are. Trying both would use the code up.
func (p *Provider) authStyle(found *oidc.Provider) oauth2.AuthStyle {
	var says struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	basic := found.Claims(&says) != nil || len(says.Methods) == 0 || slices.Contains(says.Methods, "client_secret_basic")
	if basic && p.ClientSecret.Reveal() != "" {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// exchange gets the token for a code, and verifies it.
func (p *Provider) exchange(ctx context.Context, found *oidc.Provider, a Attempt, code string) (*oidc.IDToken, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	answer, err := p.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response.StatusCode < 500 {
		return nil, fmt.Errorf("%w: the code: %s", ErrRefused, clip(refused.Error()))
	}
	if err != nil {
		p.found.Store(nil) // its addresses are asked for again
		return nil, unavailable("token", err)
	}

	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("%w: there is no ID token", ErrRefused)
	}
	token, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		p.found.Store(nil) // its addresses are asked for again
		return nil, fmt.Errorf("%w: the ID token: %s", ErrRefused, clip(err.Error()))
	}
	return token, nil
}

const (
	// maxAnswer bounds an answer of the provider. Keys and tokens are far smaller.
	maxAnswer    = 1 << 20
	maxRedirects = 3
)

// newClient makes the client that calls the provider. What is posted, our secret, goes nowhere
// else.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Transport: boundedTransport{transport},
		Timeout:   timeout,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || len(via) > maxRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// boundedTransport bounds the bodies of answers.
type boundedTransport struct{ http.RoundTripper }

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// unavailable is the error of a call that failed. The provider may have put anything in it.
func unavailable(call string, err error) error {
	return fmt.Errorf("%w: %s: %s", ErrUnavailable, call, clip(err.Error()))
}

// clip shortens what is logged.
func clip(text string) string {
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
