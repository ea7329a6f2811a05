package provider

import (
	"context"
	"net/url"
	"time"
)

// Subscribe makes our app receive an account's callbacks, without which no message arrives.
func (c *Client) Subscribe(ctx context.Context, tok Token, wabaID string) error {
	return c.order(ctx, tok, post("subscribe app", wabaID, "subscribed_apps", nil))
}

// Unsubscribe ends the callbacks that Subscribe began.
func (c *Client) Unsubscribe(ctx context.Context, tok Token, wabaID string) error {
	return c.order(ctx, tok, remove("unsubscribe app", wabaID, "subscribed_apps"))
}

// ExchangeCode turns the code of a finished signup, which the provider's script
// handed to the browser, into an access token. A code lives for 30 s and can be
// used once.
func (c *Client) ExchangeCode(ctx context.Context, code string) (Token, error) {
	rq := get("exchange code", "oauth", "access_token")
	if _, err := c.appToken(); err != nil {
		return Token{}, notSentError(rq.op, err)
	}

	// The app's id and secret prove who we are: there is no token yet. Anyone
	// who reads the code could use it in our place, so it is a secret too.
	rq.auth = anonymous
	rq.secrets = secrets{code}
	rq.query = url.Values{"client_id": {c.appID}, "client_secret": {c.secret.Reveal()}, "code": {code}}

	var a struct {
		envelope
		Token string `json:"access_token"`
	}
	rq.check = func() error { return requireKey("access_token", isValidToken(NewToken(a.Token))) }
	if err := c.do(ctx, Token{}, rq, &a); err != nil {
		return Token{}, err
	}
	return NewToken(a.Token), nil
}

// IsSubscribed reports whether our app receives an account's callbacks, and at which address
// if that is not the app's own.
func (c *Client) IsSubscribed(ctx context.Context, tok Token, wabaID string) (subscribed bool, callbackURL string, err error) {
	var a page[struct {
		App struct {
			ID ID `json:"id"`
		} `json:"whatsapp_business_api_data"`
		CallbackURL string `json:"override_callback_uri"`
	}]
	rq := get("list subscribed apps", wabaID, "subscribed_apps")
	rq.check = a.requireData
	if err := c.do(ctx, tok, rq, &a); err != nil {
		return false, "", err
	}

	for _, one := range a.Data {
		if string(one.App.ID) == c.appID {
			return true, one.CallbackURL, nil
		}
	}
	return false, "", nil
}

// CallbackURL is where the provider posts our app's callbacks, "" if nowhere.
func (c *Client) CallbackURL(ctx context.Context) (string, error) {
	rq := get("list subscriptions", c.appID, "subscriptions")
	app, err := c.appToken()
	if err != nil {
		return "", notSentError(rq.op, err)
	}

	rq.noProof = true
	var a page[struct {
		Object      string `json:"object"`
		CallbackURL string `json:"callback_url"`
		Active      bool   `json:"active"`
	}]
	rq.check = a.requireData
	if err := c.do(ctx, app, rq, &a); err != nil {
		return "", err
	}
	for _, one := range a.Data {
		if one.Object == theirObject && one.Active {
			return one.CallbackURL, nil
		}
	}
	return "", nil
}

type debugAnswer struct {
	envelope
	Data *struct {
		Scopes    []string `json:"scopes"`
		ExpiresAt Int      `json:"expires_at"` // 0 for never
		Granular  []struct {
			Scope   string `json:"scope"`
			Targets []ID   `json:"target_ids"`
		} `json:"granular_scopes"`
	} `json:"data"`
}

// TokenTargets lists the objects, such as accounts, that a token's scope was granted for.
func (c *Client) TokenTargets(ctx context.Context, tok Token, scope string) (ids []string, err error) {
	a, err := c.debugToken(ctx, tok)
	if err != nil {
		return nil, err
	}

	for _, g := range a.Data.Granular {
		for _, id := range g.Targets {
			if g.Scope == scope {
				ids = append(ids, string(id))
			}
		}
	}
	return ids, nil
}

// TokenScopes lists what a token may do, and returns when it expires: the zero time for never.
func (c *Client) TokenScopes(ctx context.Context, tok Token) (scopes []string, expires time.Time, err error) {
	a, err := c.debugToken(ctx, tok)
	if err != nil {
		return nil, expires, err
	}
	if a.Data.ExpiresAt > 0 {
		expires = time.Unix(int64(a.Data.ExpiresAt), 0)
	}
	return a.Data.Scopes, expires, nil
}

// debugToken asks about a token. Our app asks the provider, not the token's owner.
func (c *Client) debugToken(ctx context.Context, tok Token) (a debugAnswer, err error) {
	rq := get("debug token", "debug_token", "")
	app, err := c.appToken()
	if err != nil {
		return a, notSentError(rq.op, err)
	}

	// The call is made with the app's own token; the other is its argument.
	rq.noProof = true
	rq.query = url.Values{"input_token": {tok.Reveal()}}
	rq.secrets = secrets{tok.Reveal()}
	rq.check = func() error { return requireKey("data", a.Data != nil) }
	err = c.do(ctx, app, rq, &a)
	return a, err
}
