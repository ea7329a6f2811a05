// Package console is the web console: where people sign in and work.
//
// It has four parts, all below /console/:
//
//   - Pages that work without JavaScript: sign-in and its second step, welcome (where an
//     invited person chooses a password), setting up a second factor, and errors. They are
//     templates.
//   - The screens. A visitor without a session is redirected to sign-in.
//   - /console/api: the API, for the session in the cookie. Package console/api answers it;
//     this package only says who asks.
//     In a sandbox /console/api/sim reaches the control surface of the played provider.
//   - Assets, under names that change with their content, and what makes an app of the console
//     (see install.go).
//
// Every request passes the same checks, in this order: the name of the host must be ours
// (DNS rebinding), what changes something must come from a page of ours (see
// checkOrigin), and then the session is looked up. No GET changes anything, but that a
// sandbox signs in its visitor (see sandbox.go), and that people come back from the identity
// provider by one (see oidc.go).
//
// All links and redirects are relative, so that the console also works below a path of a
// proxy that takes the path off.
package console

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"confab/app/api/rest"
	"confab/app/console/api"
	"confab/app/limit"
	"confab/app/oidc"
	"confab/jobs/language"
	"confab/storage"
)

// Path is the path below which the console is.
const Path = "/console/"

// Options configure a Console.
type Options struct {
	DB  *storage.DB
	API *api.Server
	// KnowsHost reports whether a Host header names this server.
	KnowsHost func(host string) bool
	// IsLocal reports whether a request comes from this machine, for a name of it, and not
	// through a proxy.
	IsLocal func(*http.Request) bool
	// SandboxUser returns the user as whom a sandbox signs in its visitors; nil if this
	// is none.
	SandboxUser func() string
	// Simulator serves /_sim of the played provider of a sandbox; nil if there is none.
	Simulator http.Handler
	// Provider is the identity provider through which people can sign in; nil if there is none.
	Provider *oidc.Provider
	Log      *slog.Logger
}

// Console serves everything below /console/.
type Console struct {
	Options
	origins   *http.CrossOriginProtection
	pages     *template.Template
	public    *url.URL
	deviceKey []byte
	failed    *limit.Quota       // of failed sign-ins that are recorded
	used      limit.Once[string] // tickets that are good for one use
	heldUp    chan struct{}      // a place for each who waits because it tries too often
}

// New makes a Console.
func New(o Options) *Console {
	public, err := url.Parse(o.API.PublicURL)
	if err != nil {
		public = new(url.URL)
	}
	return &Console{
		Options:   o,
		origins:   http.NewCrossOriginProtection(),
		pages:     parsePages(),
		public:    public,
		deviceKey: o.DB.DeriveKey("device cookie"),
		failed:    limit.NewQuota(maxFailures, 1),
		heldUp:    make(chan struct{}, maxHeldUp),
	}
}

// visit is one request for a page.
type visit struct {
	*Console
	w    http.ResponseWriter
	r    *http.Request
	path string // relative to /console/

	language string // the visitor's
}

// ServeHTTP answers a request for a page or an asset.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := &visit{Console: c, w: w, r: r, path: strings.TrimPrefix(r.URL.Path, Path)}
	v.language = language.Accepted(r.Header.Get("Accept-Language"))
	setHeaders(w.Header())

	switch {
	case !c.KnowsHost(r.Host):
		v.showError(http.StatusForbidden, "Unknown address", "Open the console at the address in server.public_url, or at localhost.")
	case !c.comesFromUs(r):
		v.showError(http.StatusForbidden, "This request came from another site", "Open the console and try again there.")
	case r.URL.Path == strings.TrimSuffix(Path, "/"):
		v.redirect(http.StatusFound, "")
	case strings.HasPrefix(v.path, "assets/"):
		c.assets().serve(w, r, strings.TrimPrefix(v.path, "assets/"))
	default:
		v.serve()
	}
}

// serve answers a request for a page.
func (v *visit) serve() {
	type methods struct{ get, post func() error }
	pages := map[string]methods{
		"manifest.webmanifest":        {v.showManifest, nil},
		"sw.js":                       {v.serveWorker, nil},
		"sign-in":                     {v.showSignIn, v.signIn},
		"sign-in/second":              {v.showSecondStep, v.takeSecondStep},
		"sign-in/passkey/start":       {nil, v.startPasskey},
		"sign-in/passkey":             {nil, v.signInByPasskey},
		"second-factor":               {v.showFactorSetup, v.setUpFactor},
		"second-factor/passkey/start": {nil, v.startFactorPasskey},
		"sign-out":                    {nil, v.signOut},
	}
	if v.Provider != nil {
		pages["oidc/start"], pages["oidc/callback"] = methods{v.startOIDC, nil}, methods{v.finishOIDC, nil}
	}

	page, token, _ := strings.Cut(v.path, "/")
	found, ok := pages[v.path]
	switch {
	case ok:
		v.byMethod(found.get, found.post)
	case page == "welcome":
		v.byMethod(func() error { return v.showWelcome(token) }, func() error { return v.acceptInvitation(token) })
	case page == "link":
		v.byMethod(func() error { return v.showSignInLink(token) }, func() error { return v.useSignInLink(token) })
	default:
		v.byMethod(v.showScreen, nil)
	}
}

// byMethod lets get or post answer, or refuses the method.
func (v *visit) byMethod(get, post func() error) {
	var err error
	isGet := v.r.Method == http.MethodGet || v.r.Method == http.MethodHead

	switch {
	case isGet && get != nil:
		err = get()
	case v.r.Method == http.MethodPost && post != nil:
		err = post()
	default:
		allow := "POST"
		if get != nil {
			allow = "GET, HEAD"
		}
		if get != nil && post != nil {
			allow += ", POST"
		}
		v.w.Header().Set("Allow", allow)
		v.showError(http.StatusMethodNotAllowed, "Method not allowed", "This address accepts %s.", allow)
	}

	if err != nil {
		v.showFailure(err)
	}
}

// ServeAPI answers a request below /console/api/.
func (c *Console) ServeAPI(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())

	var who rest.Visitor
	switch {
	case !c.KnowsHost(r.Host):
		who.Refused = &rest.Error{Code: rest.PermissionDenied, Message: "Unknown address. Use the one in server.public_url."}
	case !c.comesFromUs(r):
		who.Refused = &rest.Error{Code: rest.PermissionDenied, Message: "This request did not come from the console."}
	default:
		who.SignedIn, who.Refused = c.findSession(r)
	}
	if who.Refused == nil && c.API.FactorPolicy.IsBrokenBy(who.User) {
		who.Refused = rest.Fail(rest.SecondFactorRequired, "Set up a second factor first: open the console in your browser.")
	}
	who.Find = func(ctx context.Context) (storage.SignedIn, error) {
		now, err := c.lookUpSession(r.WithContext(ctx))
		if err == nil && c.API.FactorPolicy.IsBrokenBy(now.User) {
			err = errNoSession()
		}
		return now, err
	}

	if path, ok := c.simulatorPath(r); ok {
		if who.Refused == nil {
			who.Refused = c.checkSimulatorUser(r.Context(), who.SignedIn)
		}
		if who.Refused == nil {
			c.serveSimulator(w, r, who, path)
			return
		}
	}
	c.API.ServeConsole(w, r, who)
}
