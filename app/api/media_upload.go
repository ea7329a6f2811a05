package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"time"

	"confab/jobs"
	"confab/jobs/guard"
	"confab/storage"
)

const (
	// maxForm leaves room around the largest file for what a form adds.
	maxForm = maxMedia + mebibyte
	// maxFormField bounds what is read of a form's other fields.
	maxFormField = 1 * kibibyte
	// uploadTime is what the largest file may take on a slow line.
	uploadTime = 10 * time.Minute
)

// incomingFile receives a file: it writes it to disk as it comes, and tells its type,
// and with it its limit, as soon as the first bytes are there.
type incomingFile struct {
	file     *storage.Upload
	head     []byte
	mimeType string // "" until it is known
	filename string
	declared []string
}

// Write implements io.Writer. It refuses what is too large with an *Error.
func (in *incomingFile) Write(p []byte) (int, error) {
	if room := jobs.FileHead - len(in.head); room > 0 {
		in.head = append(in.head, p[:min(room, len(p))]...)
	}

	if in.mimeType == "" && len(in.head) == jobs.FileHead {
		in.mimeType = jobs.FileType(in.head)
	}

	if in.file.Size()+int64(len(p)) > in.limit() {
		return 0, in.tooLarge()
	}
	return in.file.Write(p)
}

// limit is that of the file's kind. One that will be refused for its type is
// still read to the end, because its request may be a repeated one.
func (in *incomingFile) limit() int64 {
	if kind, ok := mediaKinds[in.mimeType]; ok {
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

// finish settles the type of a file that has come to its end.
func (in *incomingFile) finish() error {
	if in.mimeType == "" {
		in.mimeType = jobs.FileType(in.head)
	}

	in.mimeType = jobs.Unpack(in.mimeType, in.filename, in.declared...)
	if in.file.Size() > in.limit() {
		return in.tooLarge()
	}
	return nil
}

// check tells whether the provider takes such a file; param is what to blame.
func (in *incomingFile) check(param string) error {
	if in.file.Size() == 0 {
		return invalid(param, "must not be empty")
	}
	if _, ok := mediaKinds[in.mimeType]; !ok {
		return invalid(param, "is of type "+in.mimeType+", which cannot be sent")
	}
	return nil
}

// form is a multipart body once it was read.
type form struct {
	incomingFile
	files int // how many parts were called file
}

// isForm tells a multipart body from JSON.
func isForm(r *http.Request) bool {
	return jobs.BareType(r.Header.Get("Content-Type")) == "multipart/form-data"
}

// readBody reads the body: a file goes to disk, all else to memory.
func (s *Server) readBody(x *exchange) error {
	r := x.request
	if !r.route.has(uploads) || !isForm(r.http) {
		return r.readJSON(x.ResponseWriter)
	}

	if r.http.ContentLength > maxForm {
		return fail(RequestTooLarge, "The body has more than 100 MiB.")
	}
	// The server's usual limits are for bodies of a mebibyte. Where they cannot
	// be changed, as in a test without a connection, they stay.
	control, until := http.NewResponseController(x.ResponseWriter), time.Now().Add(uploadTime)
	_, _ = control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))

	file, err := s.Files.Create()
	if err != nil {
		return err
	}

	r.form = &form{incomingFile: incomingFile{file: file}}
	r.http.Body = http.MaxBytesReader(x.ResponseWriter, r.http.Body, maxForm)
	return asFormError(r.readForm())
}

// discard forgets a file that was received and not kept.
func (r *request) discard() {
	if r.form != nil {
		r.form.file.Discard()
	}
}

// asFormError tells a client's faults from the disk's.
func asFormError(err error) error {
	if _, ours := errors.AsType[*Error](err); err == nil || ours || errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fail(RequestTooLarge, "The body has more than 100 MiB.")
	}
	return &Error{Code: InvalidFieldValue, Param: "file", Message: "The multipart body could not be read.", cause: err}
}

// readForm takes the parts of a multipart body in. What stands for the raw body
// in the request's fingerprint are their names and contents: the boundary, which
// a client makes up anew for each try, says nothing.
func (r *request) readForm() error {
	parts, err := r.http.MultipartReader()
	if err != nil {
		return err
	}

	r.raw = []byte("multipart\x00")
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return r.form.finish()
		}
		if err != nil {
			return err
		}

		sum := sha256.New()
		if err := r.form.readPart(part, sum); err != nil {
			return err
		}

		r.raw = binary.AppendUvarint(r.raw, uint64(len(part.FormName())))
		r.raw = append(r.raw, part.FormName()...)
		r.raw = sum.Sum(r.raw)
	}
}

// readPart reads one part and shows it to sum.
func (f *form) readPart(part *multipart.Part, sum io.Writer) error {
	var to io.Writer = io.Discard

	switch part.FormName() {
	case "file":
		if f.files++; f.files == 1 {
			f.filename = part.FileName()
			f.declared = append(f.declared, jobs.BareType(part.Header.Get("Content-Type")))
			to = &f.incomingFile
		}
	case "type":
		text, err := io.ReadAll(io.TeeReader(io.LimitReader(part, maxFormField), sum))
		if err != nil {
			return err
		}
		f.declared = append(f.declared, jobs.BareType(string(text)))
	}

	_, err := io.Copy(to, io.TeeReader(part, sum))
	return err
}

// check is what a form must have.
func (f *form) check() error {
	switch {
	case f.files == 0:
		return missing("file")
	case f.files > 1:
		return invalid("file", "must be given once")
	}
	return f.incomingFile.check("file")
}

// fetch receives the file at a link, which stands in param. Whatever goes wrong
// there is the link's fault; a file that is too large is so as one that is
// uploaded would be.
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

	in := &incomingFile{file: file, filename: responseFilename(res), declared: []string{jobs.BareType(res.Header.Get("Content-Type"))}}
	if _, err = io.Copy(in, res.Body); err == nil {
		err = in.finish()
	}
	if err == nil {
		err = in.check(param)
	}

	if err == nil {
		return in, nil
	}

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

// errUnreachable says why a link could not be fetched, in a word.
func errUnreachable(param string, err error) error {
	e := invalid(param, "could not be fetched: "+guard.Reason(err))
	e.cause = err
	return e
}

// responseFilename is what the other side calls a file: by its header, or by its address.
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
