package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"

	"confab/jobs/filetype"
	"confab/jobs/guard"
	"confab/storage"
)

// incomingFile is a file that is being received, as an upload or from a link. It is
// written to disk as it arrives. Its type, and with it its size limit, is known as
// soon as the first bytes are there; finish decides what they left open.
type incomingFile struct {
	file     *storage.Upload
	head     []byte
	mimeType string // "" until it is known
	filename string
	declared []string // the types that the sender claims
	anyType  bool     // it is no media: only its size matters
}

// Write implements io.Writer. It refuses what is too large with an *Error.
func (in *incomingFile) Write(p []byte) (int, error) {
	if room := filetype.HeadSize - len(in.head); room > 0 {
		in.head = append(in.head, p[:min(room, len(p))]...)
	}

	if in.mimeType == "" && len(in.head) == filetype.HeadSize {
		in.mimeType = filetype.Detect(in.head)
	}

	if in.file.Size()+int64(len(p)) > in.limit() {
		return 0, in.tooLarge()
	}
	return in.file.Write(p)
}

// limit is the size limit of the file's kind. A file whose type will be refused is
// still read to the end: only then is the request's fingerprint complete, by which
// a repeated request is recognized.
func (in *incomingFile) limit() int64 {
	if kind, ok := mediaKinds[in.mimeType]; ok && !in.anyType {
		return kind.limit
	}
	return maxMedia
}

func (in *incomingFile) tooLarge() *Error {
	size := fmt.Sprintf("%d MiB", in.limit()/mebibyte)
	if in.limit() < mebibyte {
		size = fmt.Sprintf("%d KiB", in.limit()/kibibyte)
	}
	return &Error{Code: RequestTooLarge, Param: "file", Message: "A file of this type may have at most " + size + "."}
}

// finish decides the type of a file that was received completely.
func (in *incomingFile) finish() error {
	if in.mimeType == "" {
		in.mimeType = filetype.Detect(in.head)
	}

	in.mimeType = filetype.InContainer(in.mimeType, in.filename, in.declared...)
	if in.file.Size() > in.limit() {
		return in.tooLarge()
	}
	return nil
}

// check refuses a file that the provider does not take; param is the field to name.
func (in *incomingFile) check(param string) error {
	if in.file.Size() == 0 {
		return invalid(param, "must not be empty")
	}
	if _, ok := mediaKinds[in.mimeType]; !ok {
		return invalid(param, "is of type "+in.mimeType+", which cannot be sent")
	}
	return nil
}

// fetch downloads the file at a link, which the field param holds. Whatever goes
// wrong is reported for that field; a file that is too large, with the same code
// as an upload.
func (s *Server) fetch(ctx context.Context, param, link string) (*incomingFile, error) {
	res, err := s.Fetch.Get(ctx, link)
	if err != nil {
		return nil, errUnreachable(param, err)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return nil, invalid(param, fmt.Sprintf("could not be fetched: it answered %d", res.StatusCode))
	}

	file, err := s.Files.Create()
	if err != nil {
		return nil, err
	}

	in := &incomingFile{
		file:     file,
		filename: responseFilename(res),
		declared: []string{filetype.WithoutParameters(res.Header.Get("Content-Type"))},
	}
	if _, err = io.Copy(in, res.Body); err == nil {
		err = in.finish()
	}
	if err == nil {
		err = in.check(param)
	}

	if err == nil {
		return in, nil
	}

	// A fault of our own disk is not the link's.
	file.Discard()
	switch e, ours := errors.AsType[*Error](err); {
	case ours:
		e.Param = param
		return nil, e
	case errors.Is(err, storage.ErrUnavailable):
		return nil, err
	}

	return nil, errUnreachable(param, err)
}

// errUnreachable reports a link that could not be fetched, and why.
func errUnreachable(param string, err error) error {
	e := invalid(param, "could not be fetched: "+guard.Reason(err))
	e.cause = err
	return e
}

// responseFilename is the name that a response gives its file, in its header or
// else in its URL.
func responseFilename(res *http.Response) string {
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return params["filename"]
	}
	return lastPathSegment(res.Request.URL)
}

// lastPathSegment is the last segment of a URL's path, "" when it has none.
func lastPathSegment(u *url.URL) string {
	if name := path.Base(u.Path); name != "/" && name != "." {
		return name
	}
	return ""
}
