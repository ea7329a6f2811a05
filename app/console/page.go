package console

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"confab/app/api/rest"
	"confab/app/theme"
	"confab/jobs/language"
	"confab/storage"
)

//go:embed templates
var templateFiles embed.FS

func parsePages() *template.Template {
	return template.Must(template.New("page.html").ParseFS(templateFiles, "templates/*.html"))
}

// page is the data of the template. One of its parts is shown.
type page struct {
	Title   string
	Text    string // of an error
	SignIn  *signInForm
	Second  *secondForm
	Factor  *factorForm
	Link    *storage.UserInvitation // that signs in: see `confab users link`
	Welcome *welcomeForm
	Frame   *frame

	Passkeys *passkeyForm // of the part that is shown

	Sandbox  bool
	Clock    string // how far that of a sandbox was moved; "" if it was not
	Root     string // leads to /console/ from the page
	Language string
	assets   *assets
}

// Direction is that of the page's language.
func (p page) Direction() string { return language.Direction(p.Language) }

// Say says an English sentence in the page's language.
func (p page) Say(english string, args ...any) string {
	return language.Say(p.Language, english, args...)
}

// Rich says a sentence that has markup in it.
func (p page) Rich(english string, args ...string) template.HTML {
	var escaped []any
	for _, arg := range args {
		escaped = append(escaped, template.HTMLEscapeString(arg))
	}
	return template.HTML(p.Say(english, escaped...))
}

// Asset is the URL of a file, seen from the page.
func (p page) Asset(name string) string { return p.Root + "assets/" + p.assets.name(name) }

// Script is the URL of a script in the page's language, seen from the page.
func (p page) Script(name string) string {
	return p.Root + "assets/" + p.assets.script(name, p.Language)
}

// WithPasskeys is the page with the form that signs in with a passkey, if there is one.
func (p page) WithPasskeys(form *passkeyForm) page {
	p.Passkeys = form
	return p
}

// Chunks are the URLs of what the script imports: named in the page, they are loaded with it.
func (p page) Chunks() (urls []string) {
	for _, served := range p.assets.chunksOf(p.Language) {
		urls = append(urls, p.Root+"assets/"+served)
	}
	return urls
}

// Icon is the URL of one of our icons.
func (p page) Icon(name string) string { return p.Asset("icons.svg") + "#" + name }

// root leads from the page to /console/. A browser counts the slashes as they are written:
// for it /console, and a path whose slash after that is written as %2F, are beside /console/
// and not below it.
func (v *visit) root() string {
	below := strings.Count(v.r.URL.EscapedPath(), "/") - strings.Count(Path, "/")
	if below < 0 {
		return strings.TrimPrefix(Path, "/")
	}
	return strings.Repeat("../", below)
}

// redirect sends the browser to a page below /console/.
func (v *visit) redirect(status int, target string) error {
	v.w.Header().Set("Location", v.root()+target)
	v.w.WriteHeader(status)
	return nil
}

// writePage writes a page. It returns nothing but nil, for those who answer with it.
func (v *visit) writePage(status int, p page) error {
	p.Root, p.assets, p.Language = v.root(), v.assets(), v.language
	p.Sandbox, p.Clock = v.SandboxUser != nil, offsetText(v.API.ClockOffset())

	if err := theme.WritePage(v.w, v.r, status, v.pages, p); err != nil {
		v.Log.Error("could not write a console page", "error", err)
	}
	return nil
}

// say says an English sentence in the visitor's language.
func (v *visit) say(english string, args ...any) string {
	return language.Say(v.language, english, args...)
}

// speakTo says all that follows in the language of a user.
func (v *visit) speakTo(u storage.User) { v.language = cmp.Or(storage.OrEmpty(u.Language), v.language) }

// showError shows a page with nothing but a message, whose text has args in the place of its verbs.
func (v *visit) showError(status int, title, text string, args ...any) error {
	return v.writePage(status, page{Title: v.say(title), Text: v.say(text, args...)})
}

// showFailure shows that something is wrong with us, and passes the error to what logs
// the request.
func (v *visit) showFailure(err error) {
	if owner, ok := v.w.(rest.FailureRecorder); ok {
		owner.RecordFailure(fmt.Errorf("console: %w", err))
	}
	v.w.Header().Set("Retry-After", "1")
	v.showError(http.StatusServiceUnavailable, "Something went wrong on our side", "Nothing was lost. Try again in a moment.")
}

// isNoSession reports whether an error means that there is no session.
func isNoSession(err error) bool {
	e, ok := errors.AsType[*rest.Error](err)
	return ok && e.Code == rest.SessionRequired
}
