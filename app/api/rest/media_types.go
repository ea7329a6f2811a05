package rest

import "confab/jobs/filetype"

const (
	Kibibyte = 1 << 10
	Mebibyte = 1 << 20
	// MaxMedia is the largest file of any kind.
	MaxMedia = filetype.MaxSize

	Office = "application/vnd.openxmlformats-officedocument."
)

// mediaKind is the kind of message in which a file can be sent, and the provider's
// size limit.
type mediaKind struct {
	name  string
	limit int64
}

// MediaKinds are the MIME types that the provider accepts.
var MediaKinds = map[string]mediaKind{
	"image/jpeg": {"image", 5 * Mebibyte},
	"image/png":  {"image", 5 * Mebibyte},
	"image/webp": {"sticker", 500 * Kibibyte},
	"video/mp4":  {"video", 16 * Mebibyte},
	"video/3gpp": {"video", 16 * Mebibyte},
	"audio/aac":  {"audio", 16 * Mebibyte},
	"audio/amr":  {"audio", 16 * Mebibyte},
	"audio/mp4":  {"audio", 16 * Mebibyte},
	"audio/mpeg": {"audio", 16 * Mebibyte},
	"audio/ogg":  {"audio", 16 * Mebibyte},

	"application/pdf":                      {"document", MaxMedia},
	"application/msword":                   {"document", MaxMedia},
	"application/vnd.ms-excel":             {"document", MaxMedia},
	"application/vnd.ms-powerpoint":        {"document", MaxMedia},
	Office + "wordprocessingml.document":   {"document", MaxMedia},
	Office + "spreadsheetml.sheet":         {"document", MaxMedia},
	Office + "presentationml.presentation": {"document", MaxMedia},
	"text/plain":                           {"document", MaxMedia},
}

// CanBeSentAs tells whether a file can be sent where a message wants a kind. Any file
// can be sent as a document.
func CanBeSentAs(mimeType, kind string) bool {
	switch kind {
	case "document":
		return true
	case "gif": // a short film, in the provider's templates
		return MediaKinds[mimeType].name == "video"
	}
	return MediaKinds[mimeType].name == kind
}
