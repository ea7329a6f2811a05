package pages

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"confab/storage"
)

// The provider's own signup.
const (
	signupScript  = "https://connect.facebook.net/en_US/sdk.js"
	signupScripts = "https://connect.facebook.net"
	signupHosts   = "https://*.facebook.com https://*.facebook.net"
)

// page is what the template shows.
type page struct {
	Mood   string // "good", "calm", "bad" or "": what sign it bears
	Title  string
	Text   string
	Detail string // a second paragraph

	Organization, Customer string // who invites whom; empty where nobody may know
	Sandbox                bool

	Form    *fields // the played signup
	Signup  *signupData
	Spinner bool
	Retry   string // where to start again
	Refresh string // where to look again in a moment

	Assets map[string]string
}

// signupData is what the provider's signup needs to know. The nonce is for the
// styles that its script brings.
type signupData struct{ Script, Nonce, AppID, ConfigID, Version string }

// plainPage says one thing.
func plainPage(title, text string) page { return page{Mood: "bad", Title: title, Text: text} }

// setHeaders makes the page one that nobody else can frame, keep, or load
// anything into.
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

// policy is the Content-Security-Policy of a page. A form's answer may redirect
// to where the link leads, and that to wherever it likes: browsers hold form-action
// against every step of that way, so it can name no more than the scheme.
func (v *visit) policy(p page) string {
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
	return "default-src 'none'; script-src 'self' " + signupScripts + "; style-src 'self' 'nonce-" + p.Signup.Nonce + "'; img-src 'self' data: " + signupHosts +
		"; connect-src 'self' " + signupHosts + "; frame-src " + signupHosts + "; " + common
}

// schemeOf is the scheme of a URL, as a policy names it; http means https too.
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

// show writes a page.
func (v *visit) show(status int, p page) {
	p.Sandbox, p.Assets = v.Play != nil, v.paths
	var b bytes.Buffer
	if err := v.page.Execute(&b, p); err != nil {
		v.Log.Error("a setup page cannot be written", "error", err)
		http.Error(v.w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", v.policy(p))
	if p.Signup != nil {
		h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups") // the signup answers from one
	}
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		v.w.Write(b.Bytes())
	}
}

// form shows the signup: the provider's own, or the played one.
func (v *visit) form(status int, asked fields) error {
	p := page{
		Title: "Connect your business number", Organization: v.invitation.OrganizationName, Customer: v.invitation.CustomerName,
		Text: "Once it is connected, " + v.invitation.OrganizationName + " can send and receive messages with it on your behalf.",
	}
	switch {
	case v.Play != nil:
		p.Form = &asked
	case v.AppID == "" || v.ConfigID == "":
		v.Log.Error("setup links cannot be used: provider.app_id or provider.signup_config_id is not set", "setup_link", v.invitation.ID)
		return v.fail(storage.ReasonProvider)
	default:
		p.Signup = &signupData{Script: signupScript, Nonce: rand.Text(), AppID: v.AppID, ConfigID: v.ConfigID, Version: v.Version}
	}
	v.show(status, p)
	return nil
}

// working shows that the number is being connected.
func (v *visit) working() error {
	p := page{
		Title: "Connecting your number", Text: "This takes a few seconds. You can leave this page open.", Spinner: true,
		Organization: v.invitation.OrganizationName, Customer: v.invitation.CustomerName,
		Refresh: OnboardPath + v.token,
	}
	if v.r.URL.Query().Has("account") {
		p.Refresh += "/progress?account=" + *v.invitation.Account // who has it knows already
	}
	v.show(http.StatusOK, p)
	return nil
}

// succeed sends the visitor on, or says that it is done.
func (v *visit) succeed() error {
	i := v.invitation
	if i.SuccessRedirectURL != nil {
		return v.redirectTo(*i.SuccessRedirectURL, "customer_id", i.CustomerID, "account_id", *i.Account, "status", "success")
	}
	p := page{Mood: "good", Title: "Your number is connected", Text: i.OrganizationName + " can now send and receive messages with it.",
		Detail: "You can close this page.", Organization: i.OrganizationName, Customer: i.CustomerName}
	if i.AccountPhone != nil {
		p.Text = strings.Replace(p.Text, " with it.", " with "+*i.AccountPhone+".", 1)
	}
	v.show(http.StatusOK, p)
	return nil
}

// refuse sends the visitor of a link that cannot be used on, or says why not.
func (v *visit) refuse(reason string) error { return v.end(reason, http.StatusGone) }

// fail sends the visitor whose signup came to nothing on, or says why.
func (v *visit) fail(reason string) error { return v.end(reason, http.StatusOK) }

func (v *visit) end(reason string, status int) error {
	i := v.invitation
	if i.FailureRedirectURL != nil {
		return v.redirectTo(*i.FailureRedirectURL, "customer_id", i.CustomerID, "status", "failed", "reason", reason)
	}
	words := explained(reason)
	p := page{Mood: words.mood, Title: words.title, Text: strings.ReplaceAll(words.text, "{organization}", i.OrganizationName)}
	if i.Unusable(storage.Now()) == "" {
		p.Retry, p.Organization, p.Customer = OnboardPath+v.token, i.OrganizationName, i.CustomerName
	}
	v.show(status, p)
	return nil
}

type words struct{ mood, title, text string }

// explained says in words for people why a number was not connected.
func explained(reason string) words {
	switch reason {
	case storage.ReasonLinkExpired:
		return words{"calm", "This link has expired", "It was valid for a limited time only. Ask {organization} for a new one."}
	case storage.ReasonLinkRevoked:
		return words{"calm", "This link was withdrawn", "It cannot be used any more. Ask {organization} for a new one."}
	case storage.ReasonAlreadyUsed:
		return words{"calm", "This link was used already", "A number was connected with it. If that was not you, tell {organization}."}
	case storage.ReasonArchived:
		return words{"calm", "This invitation is closed", "If you think that this is a mistake, ask {organization}."}
	case storage.ReasonCancelled:
		return words{"calm", "Setup was cancelled", "Nothing was connected. You can start again whenever you like."}
	case storage.ReasonTokenExchange:
		return words{"bad", "The sign-up could not be confirmed", "Its confirmation came too late, or was used before. Please try again."}
	case storage.ReasonVerification:
		return words{"bad", "The number could not be verified", "It may have another PIN, or its owner is not confirmed yet. Try again in a few minutes, or ask {organization}."}
	default:
		return words{"bad", "The number could not be connected", "It may be connected elsewhere, or the provider is in trouble. Please try again; if that does not help, ask {organization}."}
	}
}

// redirectTo sends the visitor to a URL with names and values appended. The
// URL's own query stays.
func (v *visit) redirectTo(target string, pairs ...string) error {
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
	v.redirect(u.String())
	return nil
}

// redirect answers with 303, which makes a GET of any method.
func (v *visit) redirect(target string) {
	v.w.Header().Set("Location", headerSafe(target))
	v.w.WriteHeader(http.StatusSeeOther)
}

// headerSafe escapes what a header must not hold.
func headerSafe(target string) string {
	var b strings.Builder
	for _, c := range []byte(target) {
		if c <= 0x20 || c >= 0x7f {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
