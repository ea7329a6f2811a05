package provider

import (
	"context"
	"net/url"
)

// Subscribe makes our app receive an account's callbacks. Without it no message
// of that account ever arrives.
func (c *Client) Subscribe(ctx context.Context, tok Token, wabaID string) error {
	return c.do(ctx, tok, post("subscribe app", wabaID, "subscribed_apps", nil), new(successAnswer))
}

// Unsubscribe ends the callbacks that Subscribe began.
func (c *Client) Unsubscribe(ctx context.Context, tok Token, wabaID string) error {
	return c.do(ctx, tok, remove("unsubscribe app", wabaID, "subscribed_apps"), new(successAnswer))
}

type grantAnswer struct {
	envelope
	Token string `json:"access_token"`
}

func (a *grantAnswer) check() error {
	return requireKey("access_token", isValidToken(NewToken(a.Token)))
}

// ExchangeCode turns the code of a finished signup, which the provider's script
// handed to the browser, into an access token. A code lives for 30 s and can be
// used once.
func (c *Client) ExchangeCode(ctx context.Context, code string) (Token, error) {
	rq := get("exchange code", "oauth", "access_token")
	if _, err := c.appToken(); err != nil {
		return Token{}, notSentError(rq.op, err)
	}

	// The app's id and secret prove who we are: there is no token yet. Whoever
	// reads the code could use it in our place, so it is a secret too.
	rq.auth = anonymous
	rq.secrets = secrets{code}
	rq.query = url.Values{"client_id": {c.appID}, "client_secret": {c.secret.Reveal()}, "code": {code}}

	var a grantAnswer
	if err := c.do(ctx, Token{}, rq, &a); err != nil {
		return Token{}, err
	}
	return NewToken(a.Token), nil
}

// TokenInfo is what the provider knows about an access token.
type TokenInfo struct {
	Granular []struct {
		Scope   string `json:"scope"`
		Targets []ID   `json:"target_ids"`
	} `json:"granular_scopes"`
}

// Targets lists the objects, such as accounts, that a scope was granted for.
func (i TokenInfo) Targets(scope string) []string {
	var ids []string

	for _, g := range i.Granular {
		for _, id := range g.Targets {
			if g.Scope == scope {
				ids = append(ids, string(id))
			}
		}
	}
	return ids
}

type debugAnswer struct {
	envelope
	Data *TokenInfo `json:"data"`
}

func (a *debugAnswer) check() error { return requireKey("data", a.Data != nil) }

// DebugToken asks the provider what a token may be used for. Our app asks, not
// the token's owner.
func (c *Client) DebugToken(ctx context.Context, tok Token) (TokenInfo, error) {
	rq := get("debug token", "debug_token", "")
	app, err := c.appToken()
	if err != nil {
		return TokenInfo{}, notSentError(rq.op, err)
	}

	// The call is made with the app's own token; the other is its argument.
	rq.noProof = true
	rq.query = url.Values{"input_token": {tok.Reveal()}}
	rq.secrets = secrets{tok.Reveal()}

	var a debugAnswer
	if err := c.do(ctx, app, rq, &a); err != nil {
		return TokenInfo{}, err
	}
	return *a.Data, nil
}
