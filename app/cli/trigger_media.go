package cli

import (
	"cmp"
	"embed"
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
func (m *content) media(*simRequest) (any, error) {
	var (
		v    = jsonObject{}
		data []byte
		err  error
	)
	switch {
	case m.link != "" && m.file != "":
		return nil, usage("use either --link or --file, not both")
	case m.link != "":
		v["link"] = m.link
	case m.file != "":
		info, statErr := os.Stat(m.file)
		if statErr == nil && info.Size() > maxMediaFile {
			return nil, fmt.Errorf("%s is larger than the provider accepts (%d MiB)", m.file, maxMediaFile>>20)
		}
		data, err = os.ReadFile(m.file)
		m.filename = cmp.Or(m.filename, filepath.Base(m.file))
	default:
		name := sampleMedia[m.kind]
		data, err = samples.ReadFile("assets/" + name)
		m.filename = cmp.Or(m.filename, name)
	}
	if data != nil {
		v["data"] = base64.StdEncoding.EncodeToString(data)
	}

	texts := map[string]string{"mime_type": m.mimeType, "caption": m.caption}
	switch m.kind {
	case "document":
		texts["filename"] = m.filename
	case "audio":
		v["voice"] = m.voice
	}
	for key, text := range texts {
		if text != "" {
			v[key] = text
		}
	}
	return v, err
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

// samples are small files, just enough to detect their types.
//
//go:embed assets/sample.*
var samples embed.FS

// sampleMedia are the files of messages for which none is given.
var sampleMedia = map[string]string{
	"image":    "sample.png",
	"document": "sample.txt",
	"sticker":  "sample.webp",
	"video":    "sample.mp4",
	"audio":    "sample.ogg",
}
