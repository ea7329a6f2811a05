package api

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
)

// sniffed is how much of a file is looked at to tell its type.
const sniffed = 3072

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
	// maxMedia is the largest file of any kind.
	maxMedia = 100 * mebibyte

	office = "application/vnd.openxmlformats-officedocument."
)

// mediaKind is what a file may be sent as, and how large the provider takes it.
type mediaKind struct {
	name  string
	limit int64
}

// mediaKinds are the types that the provider takes.
var mediaKinds = map[string]mediaKind{
	"image/jpeg": {"image", 5 * mebibyte},
	"image/png":  {"image", 5 * mebibyte},
	"image/webp": {"sticker", 500 * kibibyte},
	"video/mp4":  {"video", 16 * mebibyte},
	"video/3gpp": {"video", 16 * mebibyte},
	"audio/aac":  {"audio", 16 * mebibyte},
	"audio/amr":  {"audio", 16 * mebibyte},
	"audio/mp4":  {"audio", 16 * mebibyte},
	"audio/mpeg": {"audio", 16 * mebibyte},
	"audio/ogg":  {"audio", 16 * mebibyte},

	"application/pdf":                      {"document", maxMedia},
	"application/msword":                   {"document", maxMedia},
	"application/vnd.ms-excel":             {"document", maxMedia},
	"application/vnd.ms-powerpoint":        {"document", maxMedia},
	office + "wordprocessingml.document":   {"document", maxMedia},
	office + "spreadsheetml.sheet":         {"document", maxMedia},
	office + "presentationml.presentation": {"document", maxMedia},
	"text/plain":                           {"document", maxMedia},
}

// suits tells whether a file of a type can stand where a message wants a kind.
// Anything may go as a document.
func suits(mimeType, kind string) bool {
	switch kind {
	case "document":
		return true
	case "gif": // a short film, in the provider's templates
		return mediaKinds[mimeType].name == "video"
	}
	return mediaKinds[mimeType].name == kind
}

// sameType are names for what the provider knows under another.
var sameType = map[string]string{
	"audio/x-m4a": "audio/mp4",
	"video/x-m4v": "video/mp4",
	"image/apng":  "image/png",
}

// active are the texts that a browser would run something in.
var active = []string{"text/html", "text/xml", "image/svg+xml"}

// sniff tells the type of a file from its beginning, in the provider's words
// where it has some. What the client said of it is not believed.
func sniff(head []byte) string {
	found := mimetype.Detect(head)
	kind := bare(found.String())
	for up := found; up != nil; up = up.Parent() {
		switch name := bare(up.String()); {
		case slices.Contains(active, name):
			return kind
		case name == "text/plain": // what descends from it is a text to the provider
			return name
		}
	}
	if kind == "application/octet-stream" {
		kind = bare(http.DetectContentType(head))
	}
	if name, ok := sameType[kind]; ok {
		return name
	}
	return kind
}

// containers hold one of several sorts of document, which the beginning of a
// file does not always tell apart. Within its container, and only there, the
// client's word counts.
var containers = map[string]map[string]string{
	"application/zip": {
		".docx": office + "wordprocessingml.document", ".xlsx": office + "spreadsheetml.sheet", ".pptx": office + "presentationml.presentation",
	},
	"application/x-ole-storage": {
		".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	},
}

// unpack tells what is in a container by the name of the file or by the types
// that the client gave.
func unpack(container, filename string, declared ...string) string {
	family, ok := containers[container]
	if !ok {
		return container
	}
	if kind, ok := family[strings.ToLower(path.Ext(filename))]; ok {
		return kind
	}
	for _, kind := range family {
		if slices.Contains(declared, kind) {
			return kind
		}
	}
	return container
}

// bare is a type without its parameters.
func bare(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// cleanName makes a name out of what a client or another server called a file:
// without a path, without what would break a header or a terminal, and nil when
// nothing is left.
func cleanName(name string) *string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			return -1
		}
		return c
	}, name))
	for utf8.RuneCountInString(name) > maxFilename {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if strings.Trim(name, ".") == "" {
		return nil
	}
	return &name
}
