package cli

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// maxMediaFile is the largest size that the provider accepts.
const maxMediaFile = 100 << 20

// media makes the content of a message with a file: with its link, with its
// bytes, or with the bytes of a sample.
func (m *content) media() (any, error) {
	v := jsonObject{}
	switch {
	case m.link != "" && m.file != "":
		return nil, usage("use either --link or --file, not both")
	case m.link != "":
		v["link"] = m.link
	case m.file != "":
		data, err := readMedia(m.file)
		if err != nil {
			return nil, err
		}
		v["data"] = base64.StdEncoding.EncodeToString(data)
		m.filename = cmp.Or(m.filename, filepath.Base(m.file))
	default:
		data, name := sampleMedia(m.kind)
		v["data"] = base64.StdEncoding.EncodeToString(data)
		m.filename = cmp.Or(m.filename, name)
	}

	setNonEmpty(v, "mime_type", m.mimeType, "caption", m.caption)
	if m.kind == "document" {
		setNonEmpty(v, "filename", m.filename)
	}
	if m.kind == "audio" {
		v["voice"] = m.voice
	}
	return v, nil
}

// setNonEmpty sets fields of a body, given as pairs of key and value. Empty values are left out.
func setNonEmpty(body jsonObject, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			body[pairs[i]] = pairs[i+1]
		}
	}
}

func readMedia(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxMediaFile {
		return nil, fmt.Errorf("%s is larger than the provider accepts (%d MiB)", path, maxMediaFile>>20)
	}
	return os.ReadFile(path)
}

// mediaKind is the kind of message that fits the file or link.
func (m *content) mediaKind() (string, error) {
	kind := m.mimeType
	switch {
	case kind != "":
	case m.file != "":
		detected, err := mimetype.DetectFile(m.file)
		if err != nil {
			return "", err
		}
		kind = detected.String()
	default:
		u, err := url.Parse(m.link)
		if err != nil {
			return "", usage("--link: %v", err)
		}
		kind = cmp.Or(mime.TypeByExtension(path.Ext(u.Path)), "image/jpeg")
	}

	switch family, _, _ := strings.Cut(kind, "/"); {
	case kind == "image/webp":
		return "sticker", nil
	case family == "image" || family == "video" || family == "audio":
		return family, nil
	case kind == "application/ogg":
		return "audio", nil
	}
	return "document", nil
}

// samplePicture is a small square that fades from blue to red.
//
//go:embed assets/sample.png
var samplePicture []byte

const (
	// smallestSticker is a picture of one pixel in the format of stickers.
	smallestSticker = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"
	// smallestVideo and smallestAudio are the beginning of such a file, enough to detect its type.
	smallestVideo = "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom\x00\x00\x00\x08mdat"
	smallestAudio = "OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x13" +
		"OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"
)

// sampleMedia is the file of a message for which none is given.
func sampleMedia(kind string) (data []byte, name string) {
	switch kind {
	case "image":
		return samplePicture, "sample.png"
	case "document":
		return []byte("A document from the sandbox.\n"), "sample.txt"
	case "sticker":
		return []byte(smallestSticker), "sample.webp"
	case "video":
		return []byte(smallestVideo), "sample.mp4"
	default:
		return []byte(smallestAudio), "sample.ogg"
	}
}
