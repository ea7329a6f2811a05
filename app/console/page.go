package console

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"confab/app/api"
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
	Welcome *welcomeForm
	Frame   *frame

	Sandbox bool
	Root    string            // leads to /console/ from the page
	Assets  map[string]string // their names as they are served
}

// root leads from the page to /console/.
func (v *visit) root() string { return strings.Repeat("../", strings.Count(v.path, "/")) }

// redirect sends the browser to a page below /console/.
func (v *visit) redirect(status int, target string) {
	v.w.Header().Set("Location", v.root()+target)
	v.w.WriteHeader(status)
}

// writePage writes a page.
func (v *visit) writePage(status int, p page) {
	p.Root, p.Assets, p.Sandbox = v.root(), v.names, v.SandboxUser != nil

	var b bytes.Buffer
	if err := v.pages.Execute(&b, p); err != nil {
		v.Log.Error("a page of the console cannot be written", "error", err)
		http.Error(v.w, "Something went wrong on our side.", http.StatusInternalServerError)
		return
	}

	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		v.w.Write(b.Bytes())
	}
}

// showError shows a page with nothing but a message.
func (v *visit) showError(status int, title, text string) {
	v.writePage(status, page{Title: title, Text: text})
}

// showFailure shows that something is wrong with us, and gives the error to whoever logs
// the request.
func (v *visit) showFailure(err error) {
	if owner, ok := v.w.(api.FailureRecorder); ok {
		owner.RecordFailure(fmt.Errorf("console: %w", err))
	}
	v.w.Header().Set("Retry-After", "1")
	v.showError(http.StatusServiceUnavailable, "Something went wrong on our side", "Nothing was lost. Please try again in a moment.")
}

// isNoSession tells whether an error means that nobody is signed in.
func isNoSession(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Code == api.SessionRequired
}

// isPlainText tells whether a text can be a name.
func isPlainText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// screens are the names of the screens, in the order of the navigation. Agents see those
// that they can use.
var screens = []screen{
	{"inbox", "Inbox", true},
	{"contacts", "Contacts", true},
	{"broadcasts", "Broadcasts", false},
	{"templates", "Templates", true},
	{"numbers", "Numbers", true},
	{"customers", "Customers", false},
	{"webhooks", "Webhooks", false},
	{"log", "Log", false},
	{"settings", "Settings", true},
}

// screen is one screen.
type screen struct {
	Path      string
	Title     string
	forAgents bool
}

// hidden are first words of screens that no link of the navigation leads to.
var hidden = map[string]string{"deliveries": "Delivery", "trace": "Trace", "phone": "Phone"}

// screenTitle is the title of the screen at a path; "" if there is none.
func screenTitle(path string) string {
	first, _, _ := strings.Cut(path, "/")
	for _, s := range screens {
		if s.Path == first {
			return s.Title
		}
	}
	return hidden[first]
}

// frame is the data of a screen.
type frame struct {
	Screens      []screen
	Current      string
	Name         string
	Organization string
}

// showScreen handles GET for a screen, which needs a session.
func (v *visit) showScreen() error {
	who, err := v.findSession(v.r)
	if isNoSession(err) {
		who, err = v.signInToSandbox()
	}

	switch {
	case isNoSession(err):
		v.redirect(http.StatusFound, signInLink(v.path, v.r.URL.RawQuery))
		return nil
	case err != nil:
		return err
	case v.path == "":
		v.redirect(http.StatusFound, homePage)
		return nil
	}

	title := screenTitle(v.path)
	if title == "" {
		v.showError(http.StatusNotFound, "There is nothing here", "Check the address, or start at the inbox.")
		return nil
	}
	v.showFrame(title, who)
	return nil
}

// showFrame shows a screen: the navigation, and who is signed in.
func (v *visit) showFrame(title string, who storage.SignedIn) {
	f := &frame{Current: title, Name: who.User.Name, Organization: who.Organization.Name}
	for _, s := range screens {
		if s.forAgents || who.User.Role == storage.RoleAdmin {
			f.Screens = append(f.Screens, s)
		}
	}
	v.writePage(http.StatusOK, page{Title: title, Frame: f})
}
