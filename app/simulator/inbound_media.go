package simulator

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// receiveMedia stores the file that a user sent, given as a link, as base64 data
// or as the id of a stored file, and returns its description for callbacks.
func (s *Server) receiveMedia(numberID, kind string, in object) (object, error) {
	if in == nil {
		return nil, missing(kind)
	}
	m, err := s.resolveMedia(numberID, kind, in)
	if err != nil {
		return nil, err
	}

	wire := object{"id": m.ID, "mime_type": m.Mime, "sha256": base64.StdEncoding.EncodeToString(m.SHA256)}
	wire.put("caption", in.text("caption"))
	if s.opt.PublicURL != "" {
		wire["url"] = m.url(s.opt.PublicURL, s.now())
	}

	switch kind {
	case "document":
		wire["filename"] = firstOf(in.text("filename"), "document")
	case "audio":
		wire["voice"] = in.boolean("voice")
	case "sticker":
		wire["animated"] = in.boolean("animated")
	}
	return wire, nil
}

func (s *Server) resolveMedia(numberID, kind string, in object) (*media, error) {
	var file *stagedFile
	var err error
	switch {
	case in.has("data"):
		data := base64.NewDecoder(base64.StdEncoding, strings.NewReader(in.text("data")))
		if file, err = s.blobs.stage(data, maxMedia); err != nil {
			return nil, invalid(kind+".data", "is not base64")
		}
	case in.has("link"):
		if file, err = s.fetch(in.text("link")); err != nil {
			return nil, invalid(kind+".link", "cannot be fetched: "+err.Error())
		}
	case in.has("id"):
		s.mu.Lock()
		defer s.mu.Unlock()
		if m := s.mediaByID(in.text("id")); m != nil {
			return m, nil
		}
		return nil, notFound("There is no media " + in.text("id") + ".")
	default:
		return nil, missing(kind + ".link")
	}

	defer file.discard()
	return s.storeMedia(numberID, firstOf(in.text("mime_type"), defaultMime(kind, file)), file, inboundLife)
}

// defaultMime is the content type of bytes whose sender named none: that of the
// server they were fetched from, or the detected one. Voice notes get the codec
// too, which no detector finds.
func defaultMime(kind string, file *stagedFile) string {
	detected := mimeOf(file.kind, file)
	if kind == "audio" && strings.HasSuffix(detected, "/ogg") {
		return "audio/ogg; codecs=opus"
	}
	return detected
}

// fetch downloads a link as Options.Fetch does.
func (s *Server) fetch(link string) (*stagedFile, error) {
	if s.opt.Fetch == nil {
		return nil, fmt.Errorf("this simulator fetches no links")
	}
	if !fetchable(link) {
		return nil, fmt.Errorf("it is no http or https URL")
	}

	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, link, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", callbackAgent)

	res, err := s.opt.Fetch(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
		return nil, fmt.Errorf("the server answered %d", res.StatusCode)
	}

	file, err := s.blobs.stage(res.Body, maxMedia)
	if err != nil {
		return nil, err
	}
	file.kind, _, _ = strings.Cut(res.Header.Get("Content-Type"), ";")
	return file, nil
}
