// Package pages is what the public listener shows to people: hosted media, the
// API reference, and the pages of setup links.
package pages

import (
	"encoding/base64"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"confab/storage"
)

// mediaTime is what the largest file may take on a slow line.
const mediaTime = 15 * time.Minute

// ErrMethod means that something else than reading was asked for.
var ErrMethod = errors.New("pages are only read")

// MediaOptions configure a Media.
type MediaOptions struct {
	DB    *storage.DB
	Files *storage.Files
	// WriteError answers what cannot be shown, in the form that all errors have.
	WriteError func(http.ResponseWriter, *http.Request, error)
}

// Media serves hosted files at /media/{token}, with or without the file's name
// behind it. Whoever knows a token may read; nothing it shows runs in a browser.
type Media struct{ MediaOptions }

// NewMedia makes a server of files.
func NewMedia(o MediaOptions) *Media { return &Media{o} }

// ServeHTTP answers one request.
func (p *Media) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.show(w, r); err != nil {
		p.WriteError(w, r, err)
	}
}

// show writes the file, or says why not before anything was written.
func (p *Media) show(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return ErrMethod
	}
	token, ok := tokenIn(r.URL.Path)
	if !ok {
		return storage.ErrNotFound
	}
	var m storage.Media
	err := p.DB.View(r.Context(), func(rx *storage.Rx) (err error) {
		m, err = rx.MediaByToken(token)
		return err
	})
	if err != nil {
		return err
	}
	file, err := p.Files.Open(m.SHA256)
	if err != nil {
		return err
	}
	defer file.Close()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(mediaTime)) // the server's own is for small answers
	setMediaHeaders(w.Header(), m)
	http.ServeContent(w, r, "", m.CreatedAt.Std(), file)
	return nil
}

// tokenIn reads /media/{token} and /media/{token}/{filename}. The name is there
// for people: the file is told by the token alone.
func tokenIn(path string) (string, bool) {
	token, name, named := strings.Cut(strings.TrimPrefix(path, "/media/"), "/")
	if named && (name == "" || strings.Contains(name, "/")) {
		return "", false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	return token, err == nil && len(raw) == storage.MediaTokenSize
}

// setMediaHeaders makes a file what it is and no more: its type is not guessed
// at, and nothing in it may run or load anything.
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

// safeType is the type that a file is served as, and whether a browser may show
// it in place. Every text is plain, so that no markup or script is taken for
// what it says it is.
func safeType(mimeType string) (shown, disposition string) {
	kind, _, err := mime.ParseMediaType(mimeType)
	major, minor, whole := strings.Cut(kind, "/")
	if err != nil || !whole {
		return "application/octet-stream", "attachment"
	}
	switch {
	case major == "text", minor == "xml", strings.HasSuffix(minor, "+xml"), strings.Contains(minor, "javascript"), strings.Contains(minor, "ecmascript"):
		return "text/plain; charset=utf-8", "attachment"
	case major == "image", major == "audio", major == "video", kind == "application/pdf":
		return kind, "inline"
	}
	return kind, "attachment"
}

// contentDisposition names a file as RFC 6266 has it: in ASCII for old clients,
// and in full for all others.
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
	full := strings.ReplaceAll(url.QueryEscape(*filename), "+", "%20") // what is left unescaped is all allowed there
	return disposition + `; filename="` + plain + `"; filename*=UTF-8''` + full
}
