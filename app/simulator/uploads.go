package simulator

import (
	"encoding/base64"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	uploadPrefix = "upload:"
	maxUpload    = 100 << 20
)

var handleTypes = []string{"application/pdf", "image/jpeg", "image/jpg", "image/png", "video/mp4"}

// upload is a resumable upload under way. Its bytes are never read, so
// they are counted and dropped.
type upload struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Length int64  `json:"length"`
	Offset int64  `json:"offset"`
}

// startUpload handles POST /{app_id}/uploads.
func (s *Server) startUpload(c *call) (any, error) {
	length, ok := c.params.integer("file_length")
	kind := c.params.text("file_type")

	switch {
	case !c.params.has("file_length"):
		return nil, requiredParameter("file_length")
	case !ok || length < 1 || length > maxUpload:
		return nil, badParameter("Param file_length must be between 1 and %d.", maxUpload)
	case kind == "":
		return nil, requiredParameter("file_type")
	case !slices.Contains(handleTypes, kind):
		return nil, badParameter("Param file_type must be one of "+
			"{application/pdf, image/jpeg, image/jpg, image/png, video/mp4} - got \"%s\".", kind)
	}

	u := &upload{ID: uploadPrefix + randomHex(24), Name: c.params.text("file_name"), Type: kind, Length: length}
	s.world.Uploads[u.ID] = u
	return object{"id": u.ID}, nil
}

// continueUpload handles POST /upload:…, from where the last part ended. An
// incomplete upload answers with its offset, a complete one with its handle.
func (s *Server) continueUpload(c *call) (any, error) {
	offset, err := strconv.ParseInt(firstOf(c.r.Header.Get("file_offset"), "0"), 10, 64)
	s.mu.Lock()
	u := *s.world.Uploads[c.id]
	s.mu.Unlock()

	if err != nil || offset != u.Offset {
		return nil, badParameter("The file_offset header must be %d.", u.Offset)
	}

	// One byte more than is left is read, to notice that there is more.
	n, err := io.Copy(io.Discard, io.LimitReader(c.r.Body, u.Length-offset+1))
	if offset+n > u.Length {
		return nil, badParameter("More bytes were uploaded than file_length says.")
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	// The bytes that arrived count even if the connection broke off.
	kept := s.world.Uploads[c.id]
	kept.Offset = offset + n
	s.markDirty()

	if err != nil {
		return nil, badParameter("The upload was cut off after %d bytes.", kept.Offset)
	}
	if kept.Offset < kept.Length {
		return uploadStatus{kept.ID, kept.Offset}, nil
	}
	return object{"h": "4::" + base64.StdEncoding.EncodeToString([]byte(kept.Type)) + ":AR" + randomHex(24)}, nil
}

type uploadStatus struct {
	ID     string `json:"id"`
	Offset int64  `json:"file_offset"`
}

// getUpload handles GET /upload:….
func (s *Server) getUpload(c *call) (any, error) {
	u := s.world.Uploads[c.id]
	return uploadStatus{u.ID, u.Offset}, nil
}

// decodeSegment undoes the escaping of a path segment. An upload's id may
// carry an escaped query, which belongs to the id and is dropped.
func decodeSegment(segment string) string {
	decoded, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}

	id, _, _ := strings.Cut(decoded, "?")
	return id
}
