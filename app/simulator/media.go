package simulator

import (
	"encoding/hex"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"
)

const (
	downloadPath = "/whatsapp_business/attachments/"
	urlLife      = 5 * time.Minute
	uploadLife   = 30 * 24 * time.Hour
	inboundLife  = 7 * 24 * time.Hour
)

// media is a file that was uploaded or received.
type media struct {
	ID      string `json:"id"`
	Account string `json:"account"`
	Number  string `json:"number"`
	Mime    string `json:"mime"`
	SHA256  []byte `json:"sha256"`
	Size    int64  `json:"size"`
	Expires int64  `json:"expires"`
	Secret  string `json:"secret"` // makes its URLs hard to guess
}

// mediaKind is what a content type may be sent as, and how large.
type mediaKind struct {
	kind  string
	limit int64
}

const (
	office   = "application/vnd.openxmlformats-officedocument."
	megabyte = 1 << 20

	maxSticker         = 100 << 10
	maxAnimatedSticker = 500 << 10
)

// uploadTypes is everything that may be uploaded, in the order in which the
// provider lists it.
var uploadTypes = []string{
	"audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg", "audio/opus",
	"application/vnd.ms-powerpoint", "application/msword", office + "wordprocessingml.document",
	office + "presentationml.presentation", office + "spreadsheetml.sheet", "application/pdf", "text/plain",
	"application/vnd.ms-excel", "image/jpeg", "image/png", "image/webp", "video/mp4", "video/3gpp",
}

func kindOfMime(kind string) mediaKind {
	switch {
	case kind == "image/webp":
		return mediaKind{"sticker", maxAnimatedSticker}
	case strings.HasPrefix(kind, "image/"):
		return mediaKind{"image", 5 * megabyte}
	case strings.HasPrefix(kind, "video/"):
		return mediaKind{"video", 16 * megabyte}
	case strings.HasPrefix(kind, "audio/"):
		return mediaKind{"audio", 16 * megabyte}
	}
	return mediaKind{"document", maxMedia}
}

// uploadMedia handles POST /{phone_number_id}/media.
func (s *Server) uploadMedia(c *call) (any, error) {
	if c.file == nil {
		return nil, requiredParameter("file")
	}

	label := c.params.text("type")
	if !strings.Contains(label, "/") {
		label = c.file.kind // some clients say "image", others nothing
	}
	kind := mimeOf(label, c.file)

	// Some clients take the file extension for the type.
	if kind == "video/3gp" {
		kind = "video/3gpp"
	}

	if !slices.Contains(uploadTypes, kind) {
		return nil, badParameter("Param file must be a file with one of the following types: %s. Received file of type '%s'.",
			strings.Join(uploadTypes, ", "), firstOf(kind, label))
	}
	limit := kindOfMime(kind).limit
	if kind == "image/webp" && c.file.size <= limit && !c.file.isAnimated() {
		limit = maxSticker
	}
	if c.file.size > limit {
		return nil, badParameter("Param file must be at most %d bytes for type %s.", limit, kind)
	}

	m, err := s.storeMedia(c.id, kind, c.file, uploadLife)
	if err != nil {
		return nil, err
	}
	return object{"id": m.ID}, nil
}

// mimeOf returns the content type that a label names, or detects it from the
// bytes where the label names none.
func mimeOf(label string, file *stagedFile) string {
	kind, _, _ := mime.ParseMediaType(label)
	if kind != "" && kind != "application/octet-stream" {
		return kind
	}
	detected, _ := mimetype.DetectFile(file.path) // application/octet-stream where it cannot be read
	kind, _, _ = mime.ParseMediaType(detected.String())
	return kind
}

// isAnimated reports whether a WebP file says in its first chunk that it is animated.
func (st *stagedFile) isAnimated() bool {
	b, err := os.ReadFile(st.path)
	return err == nil && len(b) > 20 && string(b[12:16]) == "VP8X" && b[20]&2 != 0
}

// storeMedia stores received bytes as a media object of a number.
func (s *Server) storeMedia(numberID, kind string, file *stagedFile, life time.Duration) (*media, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	m := &media{
		ID: newID(), Account: s.world.Numbers[numberID].Account, Number: numberID, Mime: kind, SHA256: file.sum,
		Size: file.size, Expires: s.now().Add(life).UnixMilli(), Secret: newSecret(12),
	}
	if err := s.blobs.keep(file, m.ID); err != nil {
		return nil, err
	}

	s.world.Media[m.ID] = m
	s.markDirty()
	return m, nil
}

func (s *Server) dropExpired() {
	maps.DeleteFunc(s.world.Media, func(id string, m *media) bool {
		expired := m.Expires <= s.nowMS()
		if expired {
			s.blobs.remove(id)
		}
		return expired
	})
}

// mediaByID finds a file that has not expired.
func (s *Server) mediaByID(id string) *media {
	if m := s.world.Media[id]; m != nil && m.Expires > s.nowMS() {
		return m
	}
	return nil
}

// mediaOf finds the object of a call; a phone_number_id must match its owner.
func (s *Server) mediaOf(c *call) (*media, error) {
	m := s.mediaByID(c.id)
	owner := c.params.text("phone_number_id")
	if m == nil || owner != "" && owner != m.Number {
		return nil, noObject(c.r.Method, c.id)
	}
	return m, nil
}

// getMedia handles GET /{media_id}.
func (s *Server) getMedia(c *call) (any, error) {
	m, err := s.mediaOf(c)
	if err != nil {
		return nil, err
	}
	return object{
		"messaging_product": "whatsapp", "url": m.url(origin(c.r), s.now()), "mime_type": m.Mime,
		"sha256": hex.EncodeToString(m.SHA256), "file_size": m.Size, "id": m.ID,
	}, nil
}

// url is a download URL that works for five minutes.
func (m *media) url(origin string, now time.Time) string {
	expires := strconv.FormatInt(now.Add(urlLife).Unix(), 10)
	q := url.Values{"mid": {m.ID}, "ext": {expires}, "hash": {m.sign(expires)}}
	return origin + downloadPath + "?" + q.Encode()
}

// sign makes the signature that binds a URL to its expiry.
func (m *media) sign(expires string) string { return appSecretProof(m.Secret, m.ID+"."+expires)[:32] }

// deleteMedia handles DELETE /{media_id}.
func (s *Server) deleteMedia(c *call) (any, error) {
	m, err := s.mediaOf(c)
	if err != nil {
		return nil, err
	}
	delete(s.world.Media, m.ID)
	s.blobs.remove(m.ID)
	return object{"success": true}, nil
}

// serveDownload handles a media URL. A missing or bad token is answered with
// 401, anything else that is wrong with 404.
func (s *Server) serveDownload(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c := &call{s: s, w: w, r: r}

	began := time.Now()
	defer func() { s.recordCall(c.record(), began, nil) }()

	s.mu.Lock()
	m, open := s.mediaByID(q.Get("mid")), s.world.Settings.OpenDownloads
	s.mu.Unlock()
	if !open && c.authenticate() != nil {
		c.fail(invalidToken())
		return
	}

	expires, _ := strconv.ParseInt(q.Get("ext"), 10, 64)
	var file *os.File
	err := os.ErrNotExist
	if m != nil && m.sign(q.Get("ext")) == q.Get("hash") && expires > s.now().Unix() &&
		(open || c.token.mayAccess(m.Account)) {
		file, err = s.blobs.open(m.ID)
	}
	if err != nil {
		c.answerStatus = http.StatusNotFound
		http.NotFound(w, r)
		return
	}
	defer file.Close()

	c.answerStatus, c.answerBody = http.StatusOK, fmt.Appendf(nil, "(%d bytes of %s)", m.Size, m.Mime)
	w.Header().Set("Content-Type", m.Mime)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, file)
}

// serveControlMedia handles GET /_sim/media/{id}: the bytes of a file that was uploaded or
// received. What a browser could run is only offered for download.
func (s *Server) serveControlMedia(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	m := s.mediaByID(id)
	s.mu.Unlock()

	if m == nil {
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
