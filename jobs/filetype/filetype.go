// Package filetype says what a file is, from its content, and cleans the name that
// somebody gave it. Files come from API clients and from people who write to a
// business: what they say about a file is trusted as little as possible.
package filetype

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gabriel-vasile/mimetype"
)

const (
	// HeadSize is how many bytes of a file Detect needs.
	HeadSize = 3072
	// MaxName is the longest name of a file, in characters.
	MaxName = 255
	// MaxSize is the size of the largest file that the provider accepts.
	MaxSize = 100 << 20

	office = "application/vnd.openxmlformats-officedocument."
)

// sameType maps types to the names that the provider has for them.
var sameType = map[string]string{
	"audio/x-m4a": "audio/mp4",
	"video/x-m4v": "video/mp4",
	"image/apng":  "image/png",
}

// active are the types of text in which a browser may run scripts.
var active = []string{"text/html", "text/xml", "image/svg+xml"}

// Detect detects the media type of a file from its beginning, in the provider's
// terms. It never relies on what the sender said about the file.
func Detect(head []byte) string {
	found := mimetype.Detect(head)
	kind := WithoutParameters(found.String())

	// The provider knows the many sorts of text only as text/plain. Those that are
	// active keep their own type, so that nothing serves them as harmless.
	for up := found; up != nil; up = up.Parent() {
		switch name := WithoutParameters(up.String()); {
		case slices.Contains(active, name):
			return kind
		case name == "text/plain":
			return name
		}
	}

	if kind == "application/octet-stream" {
		kind = WithoutParameters(http.DetectContentType(head))
	}
	if name, ok := sameType[kind]; ok {
		return name
	}
	return kind
}

// containers are formats that hold one of several sorts of document, which the
// beginning of a file does not always distinguish. To choose among those of one
// container, and only for that, the name and the declared type are trusted.
var containers = map[string]map[string]string{
	"application/zip": {
		".docx": office + "wordprocessingml.document",
		".xlsx": office + "spreadsheetml.sheet",
		".pptx": office + "presentationml.presentation",
	},
	"application/x-ole-storage": {
		".doc": "application/msword",
		".xls": "application/vnd.ms-excel",
		".ppt": "application/vnd.ms-powerpoint",
	},
}

// InContainer returns the type of the document in a container, by the name of the file
// or its declared types. Other types are returned as they are.
func InContainer(container, filename string, declared ...string) string {
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

// WithoutParameters is a media type without such as "; charset=utf-8".
func WithoutParameters(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// CleanName cleans the name that somebody gave a file: without a path, and without
// characters that would break a header or a terminal. It is nil if nothing is left.
func CleanName(name string) *string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			return -1
		}
		return c
	}, name))

	// In one pass: a name may be as long as the header or the body that it came in.
	count := 0
	for end := range name {
		if count == MaxName {
			name = strings.TrimSpace(name[:end])
			break
		}
		count++
	}

	if strings.Trim(name, ".") == "" {
		return nil
	}
	return &name
}
