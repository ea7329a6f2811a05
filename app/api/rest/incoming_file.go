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

// Write implements io.Writer. It refuses what is too large with an *Error.
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
	return MaxMedia
}

func (in *IncomingFile) tooLarge() *Error {
	size := fmt.Sprintf("%d MiB", in.limit()/Mebibyte)
	if in.limit() < Mebibyte {
		size = fmt.Sprintf("%d KiB", in.limit()/Kibibyte)
	}
	return &Error{Code: RequestTooLarge, Param: "file", Message: "A file of this type may have at most " + size + "."}
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
