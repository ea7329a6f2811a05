// Package pages serves what people open in a browser: hosted media, the API reference,
// and the pages of setup links.
package pages

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/app/limit"
	"confab/storage"
)

// mediaWriteTimeout is enough for the largest file on a slow line.
const mediaWriteTimeout = 15 * time.Minute

// RefuseMethod is the error of a request that is neither GET nor HEAD; nil for those.
func RefuseMethod(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	return &rest.Error{Code: rest.MethodNotAllowed, Message: "This path accepts GET and HEAD.", Allow: "GET, HEAD"}
}

// Media serves hosted files at /media/{token} and /media/{token}/{filename}. The token
// is the permission to read; nothing that is served runs in a browser.
type Media struct {
	DB         *storage.DB
	Files      *storage.Files
	WriteError func(http.ResponseWriter, *http.Request, error) // writes the answer for an error
}

// ServeHTTP answers one request.
func (p *Media) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.serve(w, r); err != nil {
		p.WriteError(w, r, err)
	}
}

// serve writes the file. It returns an error only before anything is written.
func (p *Media) serve(w http.ResponseWriter, r *http.Request) error {
	if err := RefuseMethod(r); err != nil {
		return err
	}
	token, ok := mediaToken(r.URL.Path)
	if !ok {
		return storage.ErrNotFound
	}

	m, err := storage.Query(r.Context(), p.DB, func(rx *storage.Rx) (storage.Media, error) { return rx.MediaByToken(token) })
	if err != nil {
		return err
	}

	// A visitor with a token is no stranger.
	limit.RequestOf(r.Context()).Identify(limit.Holder{Known: true, Group: "media " + strconv.FormatInt(m.AccountID, 10)})

	file, err := p.Files.Open(r.Context(), m.SHA256)
	if err != nil {
		return err
	}
	defer file.Close()

	// The write timeout of the server is for small answers.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(mediaWriteTimeout))
	setMediaHeaders(w.Header(), m)
	http.ServeContent(w, r, "", m.CreatedAt.Std(), file)
	return nil
}

// mediaToken reads the token out of a path. A filename after it is ignored: it only
// makes the link readable.
func mediaToken(path string) (string, bool) {
	token, name, named := strings.Cut(strings.TrimPrefix(path, "/media/"), "/")
	if named && (name == "" || strings.Contains(name, "/")) {
		return "", false
	}

	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return token, err == nil && len(raw) == storage.MediaTokenSize
}

// setMediaHeaders sets the type of a file and keeps a browser from guessing another, and
// from running or loading anything that is in it.
func setMediaHeaders(h http.Header, m storage.Media) {
	shown, disposition := safeType(m.MIMEType)

	h.Set("Content-Type", shown)
	h.Set("Content-Disposition", contentDisposition(disposition, m.Filename))
	h.Set("Cache-Control", "public, max-age=86400") // not for ever: it may be deleted
	h.Set("Etag", `"`+m.SHA256+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // it is there to be shown elsewhere
}

// safeType returns the type that a file is served as, and whether a browser may show it
// in place. All text is served as plain text, so that no markup or script runs.
func safeType(mimeType string) (shown, disposition string) {
	kind, _, err := mime.ParseMediaType(mimeType)
	major, minor, whole := strings.Cut(kind, "/")
	if err != nil || !whole {
		return "application/octet-stream", "attachment"
	}

	switch {
	case major == "text", minor == "xml", strings.HasSuffix(minor, "+xml"),
		strings.Contains(minor, "javascript"), strings.Contains(minor, "ecmascript"):
		return "text/plain; charset=utf-8", "attachment"
	case major == "image", major == "audio", major == "video", kind == "application/pdf":
		return kind, "inline"
	}
	return kind, "attachment"
}

// contentDisposition writes a Content-Disposition header (RFC 6266) with the filename
// twice: in ASCII for old clients, and in UTF-8 for all others.
func contentDisposition(disposition string, filename *string) string {
	if filename == nil {
		return disposition
	}

	plain := strings.Map(func(c rune) rune {
		if c < 0x20 || c > 0x7e || strings.ContainsRune(`"\%`, c) {
			return '_'
		}
		return c
	}, *filename)

	encoded := strings.ReplaceAll(url.QueryEscape(*filename), "+", "%20") // all that this leaves unescaped is allowed there
	return disposition + `; filename="` + plain + `"; filename*=UTF-8''` + encoded
}
