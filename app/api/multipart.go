package api

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
	// maxForm is the largest file and room for the rest of the form.
	maxForm = maxMedia + mebibyte
	// maxFormField bounds the names of fields and files, and what another field may
	// hold.
	maxFormField = 1 * kibibyte
	// maxFormParts bounds the parts of a form, each of which is kept in the
	// request's fingerprint.
	maxFormParts = 20
	// uploadTime is enough for the largest file on a slow connection.
	uploadTime = 10 * time.Minute
)

// form is a multipart body after it was read.
type form struct {
	incomingFile
	files  int               // how many parts were called file
	fields map[string]string // the other parts that a route may take
}

// isForm tells whether the body is multipart, not JSON.
func isForm(r *http.Request) bool {
	return filetype.WithoutParameters(r.Header.Get("Content-Type")) == "multipart/form-data"
}

// readUpload reads a multipart body. Its file goes to disk while it arrives, so
// that memory stays small whatever its size.
func (s *Server) readUpload(x *exchange) error {
	r := x.request
	file, err := s.beginUpload(x)
	if err != nil {
		return err
	}

	r.form = &form{incomingFile: incomingFile{file: file, anyType: r.route.has(sheets)}, fields: make(map[string]string)}
	r.http.Body = http.MaxBytesReader(x.ResponseWriter, r.http.Body, maxForm)
	return asFormError("file", r.readForm("file", r.form.readPart, r.form.finish))
}

// beginUpload makes the file that a multipart body goes to, and gives it time to arrive.
func (s *Server) beginUpload(x *exchange) (*storage.Upload, error) {
	if x.request.http.ContentLength > maxForm {
		return nil, fail(RequestTooLarge, "The body has more than 100 MiB.")
	}

	// The server's usual deadlines are for bodies of a mebibyte. Where they cannot
	// be changed, as in a test without a connection, they stay.
	control, until := http.NewResponseController(x.ResponseWriter), time.Now().Add(uploadTime)
	_, _ = control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))
	return s.Files.Create()
}

// discardUpload deletes a file that was received and not kept.
func (r *request) discardUpload() {
	if r.form != nil {
		r.form.file.Discard()
	}
	if r.csv != nil {
		r.csv.Discard()
	}
}

// readForm reads the parts of a multipart body, each with read, and calls finish at its end;
// param is the field of its file. In the request's fingerprint their names and contents
// stand for the raw body, because a client makes up a new boundary for each try.
func (r *request) readForm(param string, read func(*multipart.Part, io.Writer) error, finish func() error) error {
	parts, err := r.http.MultipartReader()
	if err != nil {
		return err
	}

	r.raw = []byte("multipart\x00")
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return finish()
		case err != nil:
			return err
		case n == maxFormParts:
			return invalid(param, "must stand in a form of at most "+strconv.Itoa(maxFormParts)+" parts")
		case len(part.FormName()) > maxFormField:
			return invalid(param, "must stand in a form whose names have at most "+strconv.Itoa(maxFormField)+" bytes")
		}

		sum := sha256.New()
		if err := read(part, sum); err != nil {
			return err
		}

		r.raw = binary.AppendUvarint(r.raw, uint64(len(part.FormName())))
		r.raw = append(r.raw, part.FormName()...)
		r.raw = sum.Sum(r.raw)
	}
}

// readPart reads one part and hashes it into sum. Every part is read to its end,
// also one that is ignored: it is part of the fingerprint.
func (f *form) readPart(part *multipart.Part, sum io.Writer) error {
	var to io.Writer = io.Discard

	switch part.FormName() {
	case "file":
		if f.files++; f.files == 1 {
			if f.filename = part.FileName(); len(f.filename) > maxFormField {
				return invalid("file", "must have a name of at most "+strconv.Itoa(maxFormField)+" bytes")
			}
			f.declared = append(f.declared, filetype.WithoutParameters(part.Header.Get("Content-Type")))
			to = &f.incomingFile
		}
	case "type", "dry_run", "label_id":
		text, err := readField(part, sum)
		if err != nil {
			return err
		}
		f.fields[part.FormName()] = text
		if part.FormName() == "type" {
			f.declared = append(f.declared, filetype.WithoutParameters(text))
		}
	}

	_, err := io.Copy(to, io.TeeReader(part, sum))
	return err
}

// readField reads a part that is a short text, and hashes it into sum.
func readField(part *multipart.Part, sum io.Writer) (string, error) {
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(part, maxFormField+1), sum))
	if err == nil && len(text) > maxFormField {
		err = invalid(part.FormName(), "must have at most "+strconv.Itoa(maxFormField)+" characters")
	}
	return string(text), err
}

// asFormError makes a client's error of a broken body, but not of a fault of our disk.
func asFormError(param string, err error) error {
	if _, ours := errors.AsType[*Error](err); err == nil || ours || errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fail(RequestTooLarge, "The body has more than 100 MiB.")
	}
	return &Error{Code: InvalidFieldValue, Param: param, Message: "The multipart body could not be read.", cause: err}
}

// check refuses a form without exactly one file that can be sent.
func (f *form) check() error {
	switch {
	case f.files == 0:
		return missing("file")
	case f.files > 1:
		return invalid("file", "must be given once")
	}
	return f.incomingFile.check("file")
}
