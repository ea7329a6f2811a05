package pages

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"

	"confab/app/config"
	"confab/app/limit"
	"confab/jobs/language"
	"confab/jobs/provider"
	"confab/storage"
)

// OnboardPath is the path below which the setup pages are.
const OnboardPath = "/onboard/"

const (
	// signupWait is how long the answer to a signup waits for the number to be
	// connected. After that it shows a page that reloads.
	signupWait = 20 * time.Second
	// maxForm is far more than any of our forms has.
	maxForm = 64 << 10

	// visitsPerSecond and visitBurst are far more than people make, even if a whole
	// office shares one network.
	visitsPerSecond = 10
	visitBurst      = 200
	// costOfMiss is how many visits a request with an unknown token counts for.
	costOfMiss = 2
)

//go:embed templates/onboard.html
var onboardFiles embed.FS

// OnboardOptions configure an Onboard.
type OnboardOptions struct {
	DB       *storage.DB
	Provider *provider.Client
	Hosts    Hosts           // under which they may be called
	Settings config.Provider // what the provider's signup needs to know
	// SimulateSignup replaces the provider's signup, for a name and a number. Only a
	// sandbox has it; all others show the provider's own.
	SimulateSignup func(name, phone string) (Signup, error)
	// ClientNetwork is what counts as one visitor where visits are limited.
	ClientNetwork func(*http.Request) string
	Log           *slog.Logger
}

// Signup is what the provider's signup returns to the browser.
type Signup struct {
	Code          string
	WABAID        string
	PhoneNumberID string
}

// Onboard serves the pages of setup links, where a customer connects a number of its
// own. What a page shows depends on the state of the link:
//
//   - Usable: GET shows the signup form. POST takes the code that the signup has
//     returned, exchanges it for a token, finds the number with the token, and in one
//     transaction stores the account and the job that connects it.
//   - Working, while that job exists: the POST waits for it, and so does a second POST
//     of somebody who pressed the button twice. After signupWait they redirect to
//     /progress, which reloads itself. A restart of the server changes nothing: the job
//     is in the database.
//   - Consumed: the number is connected, and the visitor is redirected to the success
//     URL of the link or sees a page.
//   - Failed: the reason is shown, or passed to the failure URL. The link stays usable.
//   - Expired, revoked, consumed earlier, or of an archived customer: the link cannot be
//     used, which is shown like a failure.
//
// Only who knows the account that a signup has made is shown its outcome; everybody else
// with the link sees the link. Each network may make a limited number of requests, and
// requests with unknown tokens count more.
type Onboard struct {
	OnboardOptions
	page       *template.Template
	assets     assets
	paths      map[string]string      // of the assets
	visits     *limit.Buckets[string] // by network
	origins    *http.CrossOriginProtection
	signupWait time.Duration
}

// NewOnboard makes the pages.
func NewOnboard(o OnboardOptions) *Onboard {
	parsed := template.New("onboard.html").Funcs(template.FuncMap{"initial": initial})
	p := &Onboard{
		OnboardOptions: o,
		page:           template.Must(parsed.ParseFS(onboardFiles, "templates/onboard.html")),
		visits:         new(limit.Buckets[string]),
		origins:        http.NewCrossOriginProtection(),
		signupWait:     signupWait,
	}
	p.assets, p.paths = newAssets()
	return p
}

// initial returns the first letter or digit of a name, for the round sign beside it.
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
	v := &visit{Onboard: p, w: w, r: r, token: token, language: language.Accepted(r.Header.Get("Accept-Language"))}
	v.setHeaders()

	switch {
	case !p.Hosts.Contains(r.Host):
		v.writePage(http.StatusForbidden, errorPage("Unknown address", "Open the link exactly as you received it."))
	case token == "assets":
		p.assets.serve(w, r, rest)
	case !p.mayVisit(r, 1):
		w.Header().Set("Retry-After", "1")
		v.writePage(http.StatusTooManyRequests, errorPage("Too many attempts", "Wait a moment, then open the link again."))
	case rest != "" && rest != "progress":
		v.showNotFound()
	default:
		v.serve(rest == "progress")
	}
}

// mayVisit takes visits out of the bucket of the visitor's network, and reports whether it
// had enough.
func (p *Onboard) mayVisit(r *http.Request, visits int) bool {
	return p.visits.Of(p.ClientNetwork(r), visitsPerSecond, visitBurst).AllowN(time.Now(), visits)
}

// serve answers one request for the page of a link, or for the progress of its signup.
func (v *visit) serve(progress bool) {
	reading := v.r.Method == http.MethodGet || v.r.Method == http.MethodHead

	switch {
	case progress && reading:
		v.serveLink(v.serveProgress)
	case reading:
		v.serveLink(v.serveGet)
	case progress || v.r.Method != http.MethodPost:
		v.w.Header().Set("Allow", "GET, HEAD, POST")
		v.writePage(http.StatusMethodNotAllowed, errorPage("Method not allowed", "Open the link in your browser."))
	case v.origins.Check(v.r) != nil:
		v.writePage(http.StatusForbidden, errorPage("This request came from another site", "Open the link and use the form there."))
	default:
		v.serveLink(v.servePost)
	}
}

// visit is one request for the page of a link.
type visit struct {
	*Onboard
	w          http.ResponseWriter
	r          *http.Request
	token      string
	language   string
	invitation storage.Invitation
}

// serveLink loads the link and lets next answer. A token that does not exist counts
// more against the limit of its visitor, to slow down guessing.
func (v *visit) serveLink(next func() error) {
	err := v.loadInvitation(v.r.Context())
	if err == nil {
		err = next()
	}

	switch {
	case errors.Is(err, storage.ErrNotFound):
		v.mayVisit(v.r, costOfMiss-1)
		v.showNotFound()
	case err != nil:
		v.showFailure(err)
	}
}

func (v *visit) loadInvitation(ctx context.Context) error {
	return v.DB.View(ctx, func(rx *storage.Rx) (err error) {
		v.invitation, err = rx.Invitation(v.token)
		return err
	})
}

// serveGet shows the form, or why the link cannot be used.
func (v *visit) serveGet() error {
	if reason := v.invitation.Unusable(v.DB.Now()); reason != "" {
		return v.showFailed(http.StatusGone, reason)
	}

	if v.invitation.Working {
		return v.showWorking()
	}
	return v.showForm(http.StatusOK, formFields{})
}

// serveProgress shows the outcome of a signup to the visitor who made it, who knows its
// account. All others see the link.
func (v *visit) serveProgress() error {
	account := v.r.URL.Query().Get("account")
	if v.invitation.Account == nil || *v.invitation.Account != account {
		return v.serveGet()
	}
	return v.showOutcome()
}

func (v *visit) showNotFound() {
	v.writePage(http.StatusNotFound, errorPage("This link is not valid",
		"Check that you opened the whole link. If it still doesn’t work, ask whoever sent it for a new one."))
}

// showFailure passes the error to what logs the request, so that the log has one line
// about it.
func (v *visit) showFailure(err error) {
	if owner, ok := v.w.(interface{ RecordFailure(error) }); ok {
		owner.RecordFailure(fmt.Errorf("setup link %q: %w", v.invitation.ID, err))
	}
	v.w.Header().Set("Retry-After", "1")
	v.writePage(http.StatusServiceUnavailable, errorPage("Something went wrong on our side", "Try again in a moment."))
}
