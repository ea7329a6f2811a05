package jobs

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

const (
	// FileHead is how much of a file is looked at to tell its type.
	FileHead = 3072
	// MaxFileName is the longest name of a file, in characters.
	MaxFileName = 255
	// MaxFileSize is the size of the largest file that the provider passes on.
	MaxFileSize = 100 << 20

	office = "application/vnd.openxmlformats-officedocument."
)

// sameType are names for what the provider knows under another.
var sameType = map[string]string{
	"audio/x-m4a": "audio/mp4",
	"video/x-m4v": "video/mp4",
	"image/apng":  "image/png",
}

// active are the texts that a browser would run something in.
var active = []string{"text/html", "text/xml", "image/svg+xml"}

// FileType tells the type of a file from its beginning, in the provider's words
// where it has some. What anybody said of it is not believed.
func FileType(head []byte) string {
	found := mimetype.Detect(head)
	kind := BareType(found.String())

	for up := found; up != nil; up = up.Parent() {
		switch name := BareType(up.String()); {
		case slices.Contains(active, name):
			return kind
		case name == "text/plain": // what descends from it is a text to the provider
			return name
		}
	}

	if kind == "application/octet-stream" {
		kind = BareType(http.DetectContentType(head))
	}

	if name, ok := sameType[kind]; ok {
		return name
	}
	return kind
}

// containers hold one of several sorts of document, which the beginning of a
// file does not always tell apart. Within its container, and only there, what it
// was said to be counts.
var containers = map[string]map[string]string{
	"application/zip": {
		".docx": office + "wordprocessingml.document", ".xlsx": office + "spreadsheetml.sheet", ".pptx": office + "presentationml.presentation",
	},
	"application/x-ole-storage": {
		".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint",
	},
}

// Unpack tells what is in a container by the name of the file or by the types
// that it was said to have.
func Unpack(container, filename string, declared ...string) string {
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

// BareType is a type without its parameters.
func BareType(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// FileName makes a name out of what a stranger called a file: without a path,
// without what would break a header or a terminal, and nil when nothing is left.
func FileName(name string) *string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			return -1
		}
		return c
	}, name))

	for utf8.RuneCountInString(name) > MaxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	name = strings.TrimSpace(name) // of what was before the end

	if strings.Trim(name, ".") == "" {
		return nil
	}
	return &name
}
