package console

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"confab/app/theme"
	"confab/jobs/language"
)

// PhonePath is where a simulator offers the phone. It cannot be one of the provider's own.
const PhonePath = "/_phone/"

// phonePage serves the phone for those who build on the provider directly: the modules of
// the console's screen, without a console and without people who sign in. What they ask of
// /_sim goes there as it came, so that the same checks apply.
type phonePage struct {
	page      *template.Template
	simulator http.Handler
}

// NewPhone serves everything below PhonePath, for a simulator.
func NewPhone(simulator http.Handler) http.Handler {
	return &phonePage{page: parsePages().Lookup("solo.html"), simulator: simulator}
}

// ServeHTTP answers a request for the page, an asset, or the control surface.
func (p *phonePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), PhonePath)
	asset, isAsset := strings.CutPrefix(path, "assets/")
	control, isControl := strings.CutPrefix(path, "api/sim/")

	switch {
	case isControl && isPlainPath(control):
		p.simulator.ServeHTTP(w, withPath(r.Context(), r, "/_sim/", control))
	case isAsset:
		setHeaders(w.Header())
		phoneAssets().serve(w, r, asset)
	case path == "" || path == "phone" || strings.HasPrefix(path, "phone/"):
		p.show(w, r, strings.Repeat("../", strings.Count(path, "/")))
	default:
		http.NotFound(w, r)
	}
}

// show shows the page; root leads from it to PhonePath.
func (p *phonePage) show(w http.ResponseWriter, r *http.Request, root string) {
	setHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This address accepts GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}

	spoken := language.Accepted(r.Header.Get("Accept-Language"))
	_ = theme.WritePage(w, r, http.StatusOK, p.page, page{Root: root, assets: phoneAssets(), Language: spoken})
}

// isPlainPath reports whether an escaped path leads where it says: no segment of it is empty
// or goes up.
func isPlainPath(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err != nil || plain == "" || plain == "." || plain == ".." {
			return false
		}
	}
	return true
}
