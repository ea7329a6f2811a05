package pages

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"confab/jobs/provider"
	"confab/storage"
)

// OnboardPath is below what the setup pages are.
const OnboardPath = "/onboard/"

const (
	// patience is how long the answer to a signup waits for the number to be
	// connected, before a page tells that it still goes on.
	patience = 20 * time.Second
	// maxForm is far more than any of our forms has.
	maxForm = 64 << 10
)

//go:embed templates/onboard.html
var onboardFiles embed.FS

// OnboardOptions configure an Onboard.
type OnboardOptions struct {
	DB        *storage.DB
	Provider  *provider.Client
	PublicURL string // where the pages are reached
	Hosts     Hosts  // under which they may be called
	// AppID, ConfigID and Version are what the provider's signup needs to know.
	AppID, ConfigID, Version string
	// Play plays the provider's signup for a name and a number. Only a sandbox
	// has it; everybody else gets the provider's own.
	Play func(name, phone string) (Signup, error)
	// ClientIP is the address of a visitor.
	ClientIP func(*http.Request) string
	Log      *slog.Logger
}

// Signup is what the provider's signup hands to the browser.
type Signup struct {
	Code          string
	WABAID        string
	PhoneNumberID string
}

// Onboard serves the pages of setup links, where a customer connects a number
// of its own.
type Onboard struct {
	OnboardOptions
	page     *template.Template
	assets   assets
	paths    map[string]string // of the assets
	limits   *visitors
	origins  *http.CrossOriginProtection
	patience time.Duration
}

// NewOnboard makes the pages.
func NewOnboard(o OnboardOptions) *Onboard {
	p := &Onboard{
		OnboardOptions: o, page: parsePage(),
		limits: newVisitors(), origins: http.NewCrossOriginProtection(), patience: patience,
	}
	p.assets, p.paths = readAssets()
	return p
}

func parsePage() *template.Template {
	t := template.New("onboard.html").Funcs(template.FuncMap{"initial": initial})
	return template.Must(t.ParseFS(onboardFiles, "templates/onboard.html"))
}

// initial is the letter that a name goes by.
func initial(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return "·"
}

// ServeHTTP answers one request.
func (p *Onboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, OnboardPath), "/")
	v := &visit{Onboard: p, w: w, r: r, token: token}
	v.setHeaders()
	switch {
	case !p.Hosts.Known(r.Host):
		v.show(http.StatusForbidden, plainPage("This address is not ours", "Open the link exactly as you received it."))
	case token == "assets":
		p.assets.serve(w, r, rest)
	case p.limits.full(p.ClientIP(r), 1):
		w.Header().Set("Retry-After", "1")
		v.show(http.StatusTooManyRequests, plainPage("Too many tries", "Wait a moment, then open the link again."))
	case rest != "" && rest != "progress":
		v.missing()
	default:
		v.serve(rest == "progress")
	}
}

// serve answers one request for the page of a link, or for how far its signup
// is.
func (v *visit) serve(progress bool) {
	reading := v.r.Method == http.MethodGet || v.r.Method == http.MethodHead
	switch {
	case progress && reading:
		v.answer(v.progress)
	case reading:
		v.answer(v.get)
	case progress || v.r.Method != http.MethodPost:
		v.w.Header().Set("Allow", "GET, HEAD, POST")
		v.show(http.StatusMethodNotAllowed, plainPage("That is not possible here", "Open the link in your browser."))
	case v.origins.Check(v.r) != nil:
		v.show(http.StatusForbidden, plainPage("This request came from another page", "Open the link itself, and use the form there."))
	default:
		v.answer(v.post)
	}
}

// visit is one request for the page of a link.
type visit struct {
	*Onboard
	w          http.ResponseWriter
	r          *http.Request
	token      string
	invitation storage.Invitation
}

// answer reads the link and lets next answer. Whoever tries tokens that do not
// exist has soon tried enough.
func (v *visit) answer(next func() error) {
	err := v.read(v.r.Context())
	if err == nil {
		err = next()
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		v.limits.full(v.ClientIP(v.r), costOfMiss-1)
		v.missing()
	case err != nil:
		v.broken(err)
	}
}

// read reads the link as it is now.
func (v *visit) read(ctx context.Context) error {
	return v.DB.View(ctx, func(rx *storage.Rx) (err error) {
		v.invitation, err = rx.Invitation(v.token)
		return err
	})
}

// get shows the form, or why there is none.
func (v *visit) get() error {
	if reason := v.invitation.Unusable(storage.Now()); reason != "" {
		return v.refuse(reason)
	}
	if v.invitation.Working {
		return v.working()
	}
	return v.form(http.StatusOK, fields{})
}

// progress tells how far a signup is to whom it is the own: who knows its
// account.
func (v *visit) progress() error {
	account := v.r.URL.Query().Get("account")
	if v.invitation.Account == nil || *v.invitation.Account != account {
		return v.get()
	}
	return v.settled()
}

func (v *visit) missing() {
	v.show(http.StatusNotFound, plainPage("This link is not valid",
		"Check that you opened all of it. If it still does not work, ask whoever sent it to you for a new one."))
}

func (v *visit) broken(err error) {
	v.Log.Error("a setup page failed", "request_id", v.w.Header().Get("X-Request-Id"), "setup_link", v.invitation.ID, "error", err)
	v.w.Header().Set("Retry-After", "1")
	v.show(http.StatusServiceUnavailable, plainPage("Something went wrong on our side", "Please try again in a moment."))
}
