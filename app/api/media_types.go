package api

import "confab/jobs/filetype"

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
	// maxMedia is the largest file of any kind.
	maxMedia = filetype.MaxSize

	office = "application/vnd.openxmlformats-officedocument."
)

// mediaKind is the kind of message in which a file can be sent, and the provider's
// size limit.
type mediaKind struct {
	name  string
	limit int64
}

// mediaKinds are the MIME types that the provider accepts.
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

// canBeSentAs tells whether a file can be sent where a message wants a kind. Any file
// can be sent as a document.
func canBeSentAs(mimeType, kind string) bool {
	switch kind {
	case "document":
		return true
	case "gif": // a short film, in the provider's templates
		return mediaKinds[mimeType].name == "video"
	}
	return mediaKinds[mimeType].name == kind
}
