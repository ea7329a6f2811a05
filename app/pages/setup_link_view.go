package pages

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"confab/app/config"
	"confab/app/theme"
	"confab/jobs/language"
	"confab/storage"
)

// Where the provider's own signup is loaded from, in a language of its visitor.
const (
	signupScript  = signupScripts + "/%s/sdk.js"
	signupScripts = "https://connect.facebook.net"
	signupHosts   = "https://*.facebook.com https://*.facebook.net"
)

type page struct {
	Tone   string // "good", "calm", "bad" or "": which sign it shows
	Title  string
	Text   string
	Args   []any  // in the place of its verbs, until it is said
	Detail string // a second paragraph

	Organization, Customer string // who invites whom; empty where it must not be shown
	Sandbox                bool

	Form    *formFields // the form of a sandbox
	Signup  *signupData
	Spinner bool
	Retry   string // path to start again at
	Refresh string // path to load in a moment

	Assets   map[string]string
	Language string
}

// Direction is that of the page's language.
func (p page) Direction() string { return language.Direction(p.Language) }

// Say says an English sentence in the page's language.
func (p page) Say(english string) string { return language.Say(p.Language, english) }

// say says an English sentence in the visitor's language.
func (v *visit) say(english string, args ...any) string {
	return language.Say(v.language, english, args...)
}

// signupData is what the provider's signup needs to know. The nonce allows the styles
// that its script adds.
type signupData struct {
	Script, Nonce string
	config.Provider
}

// errorPage is a page with nothing but a message, in English until it is shown.
func errorPage(title, text string, args ...any) page {
	return page{Tone: "bad", Title: title, Text: text, Args: args}
}

// calmPage is such a page where nothing went wrong.
func calmPage(title, text string, args ...any) page {
	return page{Tone: "calm", Title: title, Text: text, Args: args}
}

// linkPage is a page that shows who invites whom.
func (v *visit) linkPage(title, text string, args ...any) page {
	i := v.invitation
	return page{Title: title, Text: text, Args: args, Organization: i.OrganizationName, Customer: i.CustomerName}
}

// setHeaders forbids to frame, to cache and to index the page, and to load anything into
// it from elsewhere.
func (v *visit) setHeaders() {
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
}

// contentPolicy returns the Content-Security-Policy of a page. The answer to the form may
// redirect to a URL of the link, and that one further: browsers check form-action
// against every redirect, so it cannot name more than the scheme.
func (v *visit) contentPolicy(p page) string {
	forms := []string{"'self'"}
	for _, target := range []*string{v.invitation.SuccessRedirectURL, v.invitation.FailureRedirectURL} {
		if scheme := schemeOf(target); scheme != "" && !slices.Contains(forms, scheme) {
			forms = append(forms, scheme)
		}
	}

	common := "base-uri 'none'; frame-ancestors 'none'; form-action " + strings.Join(forms, " ")
	if p.Signup == nil {
		return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " + common
	}

	return "default-src 'none'; script-src 'self' " + signupScripts +
		"; style-src 'self' 'nonce-" + p.Signup.Nonce + "'; img-src 'self' data: " + signupHosts +
		"; connect-src 'self' " + signupHosts + "; frame-src " + signupHosts + "; " + common
}

// schemeOf returns the scheme of a URL as a policy names it, where http: includes https.
func schemeOf(target *string) string {
	if target == nil {
		return ""
	}

	u, err := url.Parse(*target)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.Scheme + ":"
}

// writePage writes a page. It returns nothing but nil, for those who answer with it.
func (v *visit) writePage(status int, p page) error {
	p.Sandbox, p.Assets, p.Language = v.SimulateSignup != nil, v.paths, v.language
	p.Title, p.Text = v.say(p.Title), v.say(p.Text, p.Args...)

	h := v.w.Header()
	h.Set("Content-Security-Policy", v.contentPolicy(p))
	if p.Signup != nil {
		h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups") // the signup answers from a popup
	}
	if p.Refresh != "" {
		h.Set("Refresh", "2;url="+p.Refresh)
	}

	if err := theme.WritePage(v.w, v.r, status, v.page, p); err != nil {
		v.Log.Error("could not write a setup page", "error", err)
	}
	return nil
}

// showForm shows the signup: the provider's own, or the form of a sandbox.
func (v *visit) showForm(status int, entered formFields) error {
	p := v.linkPage("Connect your business number",
		"Once it’s connected, %s can send and receive messages with it on your behalf.", v.invitation.OrganizationName)

	switch {
	case v.SimulateSignup != nil:
		p.Form = &entered
	case v.Settings.AppID == "" || v.Settings.SignupConfigID == "":
		v.Log.Error("setup links are unavailable: provider.app_id or provider.signup_config_id is not set", "setup_link", v.invitation.ID)
		return v.showFailed(http.StatusOK, storage.ReasonProvider)
	default:
		p.Signup = &signupData{fmt.Sprintf(signupScript, v.say("en_US")), rand.Text(), v.Settings}
	}

	return v.writePage(status, p)
}

func (v *visit) showWorking() error {
	p := v.linkPage("Connecting your number", "This takes a few seconds. You can leave this page open.")
	p.Spinner, p.Refresh = true, OnboardPath+v.token
	if v.r.URL.Query().Has("account") {
		p.Refresh += "/progress?account=" + *v.invitation.Account // the visitor knew it already
	}

	return v.writePage(http.StatusOK, p)
}

func (v *visit) showSuccess() error {
	i := v.invitation
	if i.SuccessRedirectURL != nil {
		return v.redirectWithQuery(*i.SuccessRedirectURL, "customer_id", i.CustomerID, "account_id", *i.Account, "status", "success")
	}

	p := v.linkPage("Your number is connected", "%s can now send and receive messages with it.", i.OrganizationName)
	if i.AccountPhone != nil {
		p = v.linkPage(p.Title, "%s can now send and receive messages with %s.", i.OrganizationName, *i.AccountPhone)
	}
	p.Tone, p.Detail = "good", v.say("You can close this page.")
	return v.writePage(http.StatusOK, p)
}

// showFailed redirects to the failure URL of the link, or shows why no number was connected: with
// 410 for a link that cannot be used, else with 200.
func (v *visit) showFailed(status int, reason string) error {
	i := v.invitation
	if i.FailureRedirectURL != nil {
		return v.redirectWithQuery(*i.FailureRedirectURL, "customer_id", i.CustomerID, "status", "failed", "reason", reason)
	}

	p := explainReason(reason, i.OrganizationName)
	if i.Unusable(v.DB.Now()) == "" {
		p.Retry, p.Organization, p.Customer = OnboardPath+v.token, i.OrganizationName, i.CustomerName
	}

	return v.writePage(status, p)
}

// explainReason is the page that explains to a visitor why a number was not connected.
func explainReason(reason, organization string) page {
	switch reason {
	case storage.ReasonLinkExpired:
		return calmPage("This link has expired", "Ask %s for a new one.", organization)
	case storage.ReasonLinkRevoked:
		return calmPage("This link was revoked", "It no longer works. Ask %s for a new one.", organization)
	case storage.ReasonAlreadyUsed:
		return calmPage("This link was already used",
			"A number was connected with it. If that wasn’t you, tell %s.", organization)
	case storage.ReasonArchived:
		return calmPage("This invitation is closed", "If you think this is a mistake, ask %s.", organization)
	case storage.ReasonCancelled:
		return calmPage("Setup was cancelled", "Nothing was connected. You can start again at any time.")

	case storage.ReasonTokenExchange:
		return errorPage("We couldn’t confirm the sign-up",
			"The confirmation expired or was already used. Try again.")
	case storage.ReasonVerification:
		return errorPage("We couldn’t verify the number",
			"It may have a different PIN, or its ownership isn’t confirmed yet. Try again in a few minutes, or ask %s.", organization)
	default:
		return errorPage("We couldn’t connect the number",
			"It may be connected elsewhere, or the provider may be having problems. "+
				"Try again. If that doesn’t help, ask %s.", organization)
	}
}

// redirectWithQuery redirects to a URL with names and values appended to its query.
func (v *visit) redirectWithQuery(target string, pairs ...string) error {
	u, err := url.Parse(target)
	if err != nil {
		return err
	}

	var query []string
	if u.RawQuery != "" {
		query = append(query, u.RawQuery)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		query = append(query, pairs[i]+"="+url.QueryEscape(pairs[i+1]))
	}

	u.RawQuery, u.Fragment, u.RawFragment = strings.Join(query, "&"), "", ""
	return v.redirect(u.String())
}

// redirect answers with 303, so that the browser follows with a GET.
func (v *visit) redirect(target string) error {
	v.w.Header().Set("Location", notInHeader.ReplaceAllStringFunc(target, url.PathEscape))
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

var notInHeader = regexp.MustCompile(`[^!-~]`)
