package e2e

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"confab/app/config"
)

// identityProvider is a small one of OpenID Connect, which can also misbehave.
type identityProvider struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu     sync.Mutex
	person map[string]any            // claims of who is signed in there
	codes  map[string]*identityGrant // each is good once
	calls  map[string]int            // by path
	// break, if it is set, may answer in place of the provider, and spoil changes a token
	// before it is signed.
	broken func(w http.ResponseWriter, r *http.Request) bool
	spoil  func(claims map[string]any)
	sign   func(payload []byte) string // nil: as it should be
}

type identityGrant struct {
	nonce, challenge, redirect string
}

// providerKey is the key of all of them: to make one takes as long as many a test.
var providerKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newIdentityProvider(t testing.TB) *identityProvider {
	t.Helper()
	key, err := providerKey()
	if err != nil {
		t.Fatal(err)
	}
	p := &identityProvider{key: key, codes: make(map[string]*identityGrant), calls: make(map[string]int), person: map[string]any{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// configure points a server to the provider.
func (p *identityProvider) configure(c *config.Config) {
	c.OIDC.Issuer, c.OIDC.ClientID, c.OIDC.ClientSecret, c.OIDC.Name = p.URL, "confab", "hush", "Acme ID"
}

// as says who is signed in at the provider.
func (p *identityProvider) as(subject, email string, verified any, more ...map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = map[string]any{"sub": subject, "email": email, "email_verified": verified, "name": "Ada Lovelace"}
	if verified == nil {
		delete(p.person, "email_verified")
	}
	for _, claims := range more {
		maps.Copy(p.person, claims)
	}
}

func (p *identityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.calls[r.URL.Path]++
	broken := p.broken
	p.mu.Unlock()
	if broken != nil && broken(w, r) {
		return
	}

	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		json.NewEncoder(w).Encode(map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "none", "HS256"},
		})
	case "/keys":
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	case "/auth":
		p.authorize(w, r)
	case "/token":
		p.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

// authorize sends the browser back with a code.
func (p *identityProvider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != "confab" || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		!strings.Contains(q.Get("scope"), "openid") || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "not a request of the code flow with PKCE", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = &identityGrant{nonce: q.Get("nonce"), challenge: q.Get("code_challenge"), redirect: q.Get("redirect_uri")}
	p.mu.Unlock()
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// token gives a token for a code, once, to who has the verifier and the secret.
func (p *identityProvider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	grant := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.Method != http.MethodPost || id != "confab" || secret != "hush" || grant == nil || r.FormValue("redirect_uri") != grant.redirect ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != grant.challenge {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
		return
	}

	claims := maps.Clone(p.person)
	maps.Copy(claims, map[string]any{"iss": p.URL, "aud": "confab", "nonce": grant.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()})
	if p.spoil != nil {
		p.spoil(claims)
	}
	payload, _ := json.Marshal(claims)
	sign := p.signRS256
	if p.sign != nil {
		sign = p.sign
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": sign(payload)})
}

func (p *identityProvider) signRS256(payload []byte) string {
	return signToken(jose.RS256, p.key, payload)
}

func signToken(algorithm jose.SignatureAlgorithm, key any, payload []byte) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: "1"}}, nil)
	if err != nil {
		panic(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		panic(err)
	}
	text, _ := signed.CompactSerialize()
	return text
}

// unsigned is a token without a signature.
func unsigned(payload []byte) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload) + "."
}
