package simulator

import (
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// tokenState says whether an access token is still good.
type tokenState string

const (
	tokenValid        tokenState = "valid"
	tokenExpired      tokenState = "expired"
	tokenRevoked      tokenState = "revoked"       // the user logged out
	tokenNoPermission tokenState = "no_permission" // it lost its permissions
)

// token is an access token: of a user, or of the app itself.
type token struct {
	Token    string     `json:"token"`
	State    tokenState `json:"state"`
	Accounts []string   `json:"accounts,omitempty"` // none means all
	Expires  int64      `json:"expires,omitempty"`
	Scopes   []string   `json:"scopes,omitempty"` // none means all
	app      bool
}

// mayAccess reports whether the token may see an account's objects.
func (t *token) mayAccess(accountID string) bool {
	return accountID == "" || len(t.Accounts) == 0 || slices.Contains(t.Accounts, accountID)
}

// addToken makes a token for accounts; none means all.
func (s *Server) addToken(accounts ...string) *token {
	t := &token{Token: newAccessToken(), State: tokenValid, Accounts: accounts}
	s.world.Tokens[t.Token] = t
	return t
}

func newAccessToken() string { return "EAA" + newSecret(48) }

// newSecret makes n random bytes in hexadecimal that cannot be guessed.
func newSecret(n int) string {
	b := make([]byte, n)
	crand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// givenToken finds the token in the header, the query or the body.
func (c *call) givenToken() string {
	scheme, value, _ := strings.Cut(c.r.Header.Get("Authorization"), " ")
	value = strings.TrimSpace(value)
	if value != "" && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "OAuth")) {
		return value
	}

	if c.input != nil {
		return c.params.text("access_token")
	}
	return c.r.URL.Query().Get("access_token") // the body has not been read yet
}

func (c *call) authenticate() error {
	value := c.givenToken()
	if value == "" {
		return refuse(codeTokenMissing)
	}

	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	creds := c.s.world.Creds
	if known := c.s.world.Tokens[value]; known != nil {
		copied := *known
		c.token = &copied
	} else if value == creds.AppID+"|"+creds.AppSecret {
		c.token = &token{Token: value, State: tokenValid, app: true}
	} else {
		return invalidToken()
	}

	switch {
	case c.token.State == tokenExpired, c.token.isOver(c.s.nowMS()):
		return refuse(codeTokenInvalid)
	case c.token.State == tokenRevoked:
		return unauthorized(467, "Error validating access token: The session is invalid because the user logged out.")
	case c.token.State == tokenNoPermission && c.edge == "messages":
		return refuse(10)
	case c.token.State == tokenNoPermission:
		return refuse(200)
	}
	return nil
}

// checkProof checks that the caller knows the app's secret, if it says so.
func (c *call) checkProof() error {
	proof := c.params.text("appsecret_proof")
	if proof == "" {
		return nil
	}

	want := appSecretProof(c.s.Credentials().AppSecret, c.token.Token)
	if !hmac.Equal([]byte(proof), []byte(want)) {
		return badParameter("Invalid appsecret_proof provided in the API argument")
	}
	return nil
}

func appSecretProof(secret, token string) string {
	return signature(sha256.New, []byte(secret), []byte(token))
}

// signupCode is what a hosted signup hands to the browser.
type signupCode struct {
	Code    string `json:"code"`
	Account string `json:"account"`
	Expires int64  `json:"expires"`
	Used    bool   `json:"used,omitempty"`
}

const (
	codeLife      = 10 * time.Minute // longer than the provider's 30 s, for people at a form
	exchangedLife = 60 * 24 * time.Hour
)

type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in,omitempty"`
}

// exchangeToken handles /oauth/access_token: a signup code for a token, the
// app's credentials for an app token, or a token for a longer-lived one.
func (s *Server) exchangeToken(c *call) (any, error) {
	creds := s.world.Creds

	secret := []byte(c.params.text("client_secret"))
	switch {
	case c.params.text("client_id") == "":
		return nil, badRequest(101, 0, "Missing client_id parameter.")
	case c.params.text("client_id") != creds.AppID:
		return nil, badRequest(101, 0, "Error validating application. Cannot get application info due to a system error.")
	case subtle.ConstantTimeCompare(secret, []byte(creds.AppSecret)) != 1:
		return nil, badRequest(1, 0, "Error validating client secret.")
	}

	switch c.params.text("grant_type") {
	case "client_credentials":
		return tokenResponse{creds.AppID + "|" + creds.AppSecret, "bearer", 0}, nil
	case "fb_exchange_token":
		return s.extendToken(c)
	}
	return s.redeemCode(c)
}

// isOver reports whether a token has lived its time; some live without end.
func (t *token) isOver(now int64) bool { return t.Expires != 0 && t.Expires <= now }

// extendToken trades a valid token for one that lives 60 days.
func (s *Server) extendToken(c *call) (any, error) {
	old := s.world.Tokens[c.params.text("fb_exchange_token")]
	if old == nil {
		return nil, invalidToken()
	}
	if old.State != tokenValid || old.isOver(s.nowMS()) {
		return nil, refuse(codeTokenInvalid)
	}

	t := s.addToken(old.Accounts...)
	t.Expires = s.now().Add(exchangedLife).UnixMilli()
	return tokenResponse{t.Token, "bearer", int64(exchangedLife / time.Second)}, nil
}

// redeemCode trades a signup code for a token, once.
func (s *Server) redeemCode(c *call) (any, error) {
	if c.params.text("code") == "" {
		return nil, requiredParameter("code")
	}

	code := s.world.Codes[c.params.text("code")]
	switch {
	case code == nil:
		return nil, badRequest(codeInvalidParameter, 0, "Invalid verification code format.")
	case code.Used:
		return nil, badRequest(codeInvalidParameter, 36009, "This authorization code has been used.")
	case code.Expires <= s.nowMS():
		return nil, badRequest(codeInvalidParameter, 36007, "This authorization code has expired.")
	}

	code.Used = true
	return tokenResponse{s.addToken(code.Account).Token, "bearer", 0}, nil
}

// revokeToken handles GET /oauth/revoke.
func (s *Server) revokeToken(c *call) (any, error) {
	if err := c.authenticate(); err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.world.Tokens[c.params.text("revoke_token")]
	if t == nil {
		return nil, invalidToken()
	}
	t.State = tokenRevoked
	s.markDirty()
	return object{"success": true}, nil
}

// debugToken handles GET /debug_token.
func (s *Server) debugToken(c *call) (any, error) {
	if err := c.authenticate(); err != nil {
		return nil, err
	}
	if c.params.text("input_token") == "" {
		return nil, requiredParameter("input_token")
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.world.Tokens[c.params.text("input_token")]
	if t == nil {
		return object{"data": object{
			"is_valid": false, "scopes": []string{},
			"error": object{"code": codeTokenInvalid, "message": invalidToken().Message},
		}}, nil
	}

	// A token without accounts is good for all of them.
	accounts := t.Accounts
	if len(accounts) == 0 {
		all := inOrder(s.world.Accounts, func(a *account) int64 { return a.Order })
		accounts = viewsOf(all, func(a *account) string { return a.ID })
	}
	scopes := t.Scopes
	if len(scopes) == 0 {
		scopes = []string{"whatsapp_business_management", "whatsapp_business_messaging"}
	}
	granular := viewsOf(scopes, func(scope string) object { return object{"scope": scope, "target_ids": accounts} })

	return object{"data": object{
		"app_id": s.world.Creds.AppID, "type": "SYSTEM_USER", "application": appName,
		"is_valid":   t.State == tokenValid && !t.isOver(s.nowMS()),
		"expires_at": t.Expires / 1000, "data_access_expires_at": 0,
		"scopes": scopes, "granular_scopes": granular,
	}}, nil
}
