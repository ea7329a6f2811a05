package rest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"confab/jobs/filetype"
	"confab/storage"
)

const (
	// MaxForm is the largest file and room for the rest of the form.
	MaxForm = maxMedia + mebibyte
	// maxFormField bounds the names of fields and files, and what another field may
	// hold.
	maxFormField = 1 * kibibyte
	// maxFormParts bounds the parts of a form, each of which is kept in the
	// request's fingerprint.
	maxFormParts = 20
	// UploadTime is enough for the largest file on a slow connection.
	UploadTime = 10 * time.Minute
)

// form is a multipart body after it was read.
type form struct {
	IncomingFile
	Files  int               // how many parts were called file
	Fields map[string]string // the other parts that a route may take
}

// isForm reports whether the body is multipart, not JSON.
func isForm(r *http.Request) bool {
	return filetype.WithoutParameters(r.Header.Get("Content-Type")) == "multipart/form-data"
}

// readUpload reads a multipart body. Its file goes to disk while it arrives, so
// that memory stays small at any size.
func (s *Server) readUpload(x *Exchange) error {
	r := x.Request
	file, err := s.beginUpload(x)
	if err != nil {
		return err
	}

	r.Form = &form{IncomingFile: IncomingFile{File: file, anyType: r.route.Has(Sheets)}, Fields: make(map[string]string)}
	r.HTTP.Body = http.MaxBytesReader(x.ResponseWriter, r.HTTP.Body, MaxForm)
	return asFormError("file", r.readForm("file", r.Form.readPart, r.Form.Finish))
}

// beginUpload makes the file that a multipart body goes to, and gives it time to arrive.
func (s *Server) beginUpload(x *Exchange) (*storage.Upload, error) {
	if x.Request.HTTP.ContentLength > MaxForm {
		return nil, Fail(RequestTooLarge, "The body is larger than 100 MiB.")
	}

	// The server's usual deadlines are for bodies of a mebibyte. Where they cannot
	// be changed, as in a test without a connection, they stay.
	control, until := http.NewResponseController(x.ResponseWriter), time.Now().Add(UploadTime)
	_, _ = control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))
	return s.Files.Create()
}

// discardUpload deletes a file that was received and not kept.
func (r *Request) discardUpload() {
	if r.Form != nil {
		r.Form.File.Discard()
	}
	if r.CSV != nil {
		r.CSV.Discard()
	}
}

// readForm reads the parts of a multipart body, each with read, and calls finish at its end;
// param is the field of its file. In the request's fingerprint their names and contents
// replace the raw body, because a client makes up a new boundary for each try.
func (r *Request) readForm(param string, read func(*multipart.Part, io.Writer) error, finish func() error) error {
	parts, err := r.HTTP.MultipartReader()
	if err != nil {
		return err
	}

	r.Raw = []byte("multipart\x00")
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return finish()
		case err != nil:
			return err
		case n == maxFormParts:
			return Invalid(param, "must be in a form of at most "+strconv.Itoa(maxFormParts)+" parts")
		case len(part.FormName()) > maxFormField:
			return Invalid(param, "must be in a form whose field names have at most "+strconv.Itoa(maxFormField)+" bytes")
		}

		sum := sha256.New()
		if err := read(part, sum); err != nil {
			return err
		}

		r.Raw = binary.AppendUvarint(r.Raw, uint64(len(part.FormName())))
		r.Raw = append(r.Raw, part.FormName()...)
		r.Raw = sum.Sum(r.Raw)
	}
}

// readPart reads one part and hashes it into sum. Every part is read to its end,
// also one that is ignored: it is part of the fingerprint.
func (f *form) readPart(part *multipart.Part, sum io.Writer) error {
	var to io.Writer = io.Discard

	switch part.FormName() {
	case "file":
		if f.Files++; f.Files == 1 {
			if f.Filename = part.FileName(); len(f.Filename) > maxFormField {
				return Invalid("file", "must have a name of at most "+strconv.Itoa(maxFormField)+" bytes")
			}
			f.Declared = append(f.Declared, filetype.WithoutParameters(part.Header.Get("Content-Type")))
			to = &f.IncomingFile
		}
	case "type", "dry_run", "label_id":
		text, err := readField(part, sum)
		if err != nil {
			return err
		}
		f.Fields[part.FormName()] = text
		if part.FormName() == "type" {
			f.Declared = append(f.Declared, filetype.WithoutParameters(text))
		}
	}

	_, err := io.Copy(to, io.TeeReader(part, sum))
	return err
}

// readField reads a part that is a short text, and hashes it into sum.
func readField(part *multipart.Part, sum io.Writer) (string, error) {
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(part, maxFormField+1), sum))
	if err == nil && len(text) > maxFormField {
		err = Invalid(part.FormName(), "must have at most "+strconv.Itoa(maxFormField)+" characters")
	}
	return string(text), err
}

// asFormError makes a client's error of a broken body, but not of a fault of our disk.
func asFormError(param string, err error) error {
	if _, ours := errors.AsType[*Error](err); err == nil || ours || errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Fail(RequestTooLarge, "The body is larger than 100 MiB.")
	}
	return &Error{Code: InvalidFieldValue, Param: param, Message: "The multipart body could not be read.", Cause: err}
}

// CheckFiles refuses a form, or the lack of one, without exactly one file.
func (f *form) CheckFiles() error {
	switch {
	case f == nil || f.Files == 0:
		return Missing("file")
	case f.Files > 1:
		return Invalid("file", "must be given once")
	}
	return nil
}

// Reader reads the file from its beginning.
func (f *form) Reader() io.Reader { return io.NewSectionReader(f.File, 0, f.File.Size()) }
