package simulator

import (
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

// controlCalls handles GET /_sim/calls: what the provider was asked and what it answered,
// newest first; with direction=given the callbacks that it posted, with all both.
func (s *Server) controlCalls(c *controlCall) (any, error) {
	limit, err := c.listLimit(keptCalls, 2*keptCalls)
	if err != nil {
		return nil, err
	}
	direction := firstOf(c.r.URL.Query().Get("direction"), "asked")
	if !slices.Contains([]string{"asked", "given", "all"}, direction) {
		return nil, invalid("direction", "must be asked, given or all")
	}

	views := []callView{}
	for _, r := range s.calls.newest(direction != "given", direction != "asked", limit) {
		views = append(views, r.view())
	}
	return object{"data": views, "base_url": s.opt.PublicURL}, nil
}

// codeView is an error code of the provider with the recipient that fails with it.
type codeView struct {
	Code        int    `json:"code"`
	Title       string `json:"title"`
	Details     string `json:"details"`
	Async       bool   `json:"async"` // reported by callback after a 200
	PhoneNumber string `json:"phone_number"`
}

// controlCodes handles GET /_sim/codes: the codes, and the magic recipients.
func (s *Server) controlCodes(*controlCall) (any, error) {
	views := []codeView{}
	for _, code := range slices.Sorted(maps.Keys(outcomes)) {
		o := outcomes[code]
		views = append(views, codeView{code, o.title, o.details, o.async, fmt.Sprintf("+1999000%06d", code)})
	}
	return object{"data": views}, nil
}

// templateView is a template as the control surface lists it.
type templateView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Language string `json:"language"`
	Category string `json:"category"`
	Status   string `json:"status"`
	Reason   string `json:"reason,omitempty"`
}

const maxTemplateList = 500

// controlTemplates handles GET /_sim/templates: the newest, in the order of creation.
func (s *Server) controlTemplates(c *controlCall) (any, error) {
	limit, err := c.listLimit(maxTemplateList, maxTemplateList)
	if err != nil {
		return nil, err
	}

	all := s.world.templatesOf("")
	views := []templateView{}
	for _, t := range all[max(0, len(all)-limit):] {
		views = append(views, t.view())
	}
	return object{"data": views}, nil
}

func (t *template) view() templateView {
	return templateView{t.ID, t.Name, t.Language, t.Category, t.Status, t.Reason}
}

// serveControlMedia handles GET /_sim/media/{id}: the bytes of a file that was uploaded or
// received. What a browser could run is only offered for download.
func (s *Server) serveControlMedia(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	m := s.world.Media[id]
	s.mu.Unlock()

	if m == nil || m.Expires <= s.nowMS() {
		writeControlError(w, notFound("There is no media "+id+"."))
		return
	}
	file, err := s.blobs.open(m.ID)
	if err != nil {
		writeControlError(w, notFound("The bytes of media "+id+" are gone."))
		return
	}
	defer file.Close()

	h := w.Header()
	h.Set("Content-Type", m.Mime)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if base, _, _ := mime.ParseMediaType(m.Mime); !shownInline(base) {
		h.Set("Content-Disposition", "attachment")
	}
	http.ServeContent(w, r, "", time.Time{}, file)
}

// shownInline reports whether a browser may show a file in its window.
func shownInline(kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	return kind != "image/svg+xml" && slices.Contains([]string{"image", "audio", "video"}, family)
}
