package rest

import (
	"fmt"

	"confab/jobs/filetype"
	"confab/storage"
)

// IncomingFile is a file that is being received, as an upload or from a link. It is
// written to disk as it arrives. Its type, and with it its size limit, is known as
// soon as the first bytes are there; finish decides what they left open.
type IncomingFile struct {
	File     *storage.Upload
	head     []byte
	MimeType string // "" until it is known
	Filename string
	Declared []string // the types that the sender claims
	anyType  bool     // it is no media: only its size matters
}

// Write implements io.Writer. It refuses a file that is too large with an *Error.
func (in *IncomingFile) Write(p []byte) (int, error) {
	if room := filetype.HeadSize - len(in.head); room > 0 {
		in.head = append(in.head, p[:min(room, len(p))]...)
	}

	if in.MimeType == "" && len(in.head) == filetype.HeadSize {
		in.MimeType = filetype.Detect(in.head)
	}

	if in.File.Size()+int64(len(p)) > in.limit() {
		return 0, in.tooLarge()
	}
	return in.File.Write(p)
}

// limit is the size limit of the file's kind. A file whose type will be refused is
// still read to the end: only then is the request's fingerprint complete, by which
// a repeated request is recognized.
func (in *IncomingFile) limit() int64 {
	if kind, ok := MediaKinds[in.MimeType]; ok && !in.anyType {
		return kind.limit
	}
	return maxMedia
}

func (in *IncomingFile) tooLarge() *Error {
	size := fmt.Sprintf("%d MiB", in.limit()/mebibyte)
	if in.limit() < mebibyte {
		size = fmt.Sprintf("%d KiB", in.limit()/kibibyte)
	}
	return &Error{Code: RequestTooLarge, Param: "file", Message: "A file of this type can be at most " + size + "."}
}

// Finish decides the type of a file that was received completely.
func (in *IncomingFile) Finish() error {
	if in.MimeType == "" {
		in.MimeType = filetype.Detect(in.head)
	}

	in.MimeType = filetype.InContainer(in.MimeType, in.Filename, in.Declared...)
	if in.File.Size() > in.limit() {
		return in.tooLarge()
	}
	return nil
}

// Check refuses a file that the provider does not take; param is the field to name.
func (in *IncomingFile) Check(param string) error {
	if in.File.Size() == 0 {
		return Invalid(param, "must not be empty")
	}
	if _, ok := MediaKinds[in.MimeType]; !ok {
		return Invalid(param, "is of type "+in.MimeType+", which cannot be sent")
	}
	return nil
}

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

// MediaKinds are the MIME types that the provider accepts.
var MediaKinds = map[string]mediaKind{
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

// CanBeSentAs reports whether a file can be sent where a message wants a kind. Any file
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
