package rest

import (
	"cmp"
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
	Files  int               // how many parts had the name of the file
	Fields map[string]string // the other parts that a route may take
	json   []byte            // the part that is JSON, where the route takes a table
	jsons  int               // how many parts had its name
}

// tableParts are the names of the two parts of a form with a table.
type tableParts struct{ json, csv string }

// TakesTable lets a route take much: JSON of 10 MiB, or a multipart body in which a part is the
// JSON and another a CSV file.
func (rt Route) TakesTable(jsonPart, csvPart string) Route {
	rt.table = tableParts{json: jsonPart, csv: csvPart}
	return rt
}

func (rt *Route) takesTable() bool { return rt.table.csv != "" }

// filePart is the name of the part of a form that is its file.
func (rt *Route) filePart() string { return cmp.Or(rt.table.csv, "file") }

// isForm reports whether the body is multipart, not JSON.
func isForm(r *http.Request) bool {
	return filetype.WithoutParameters(r.Header.Get("Content-Type")) == "multipart/form-data"
}

// readUpload reads a multipart body. Its file goes to disk while it arrives, so
// that memory stays small at any size.
func (s *Server) readUpload(x *Exchange) error {
	r := x.Request
	if r.HTTP.ContentLength > MaxForm {
		return Fail(RequestTooLarge, "The body is larger than 100 MiB.")
	}

	// The server's usual deadlines are for bodies of a mebibyte. Where they cannot
	// be changed, as in a test without a connection, they stay.
	control, until := http.NewResponseController(x.ResponseWriter), time.Now().Add(UploadTime)
	_, _ = control.SetReadDeadline(until), control.SetWriteDeadline(until.Add(time.Minute))

	file, err := s.Files.Create()
	if err != nil {
		return err
	}
	r.Form = &form{IncomingFile: IncomingFile{File: file, anyType: r.route.Has(Sheets)}, Fields: make(map[string]string)}
	r.HTTP.Body = http.MaxBytesReader(x.ResponseWriter, r.HTTP.Body, MaxForm)
	return asFormError(r.route.filePart(), s.readForm(r))
}

// discardUpload deletes a file that was received and not kept.
func (r *Request) discardUpload() {
	if r.Form != nil {
		r.Form.File.Discard()
	}
}

// readForm reads the parts of a multipart body. In the request's fingerprint their names and
// contents replace the raw body, because a client makes up a new boundary for each try.
func (s *Server) readForm(r *Request) error {
	parts, err := r.HTTP.MultipartReader()
	if err != nil {
		return err
	}

	r.Raw = []byte("multipart\x00")
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && r.route.takesTable():
			return r.setBody(r.Form.json) // what stands beside the table
		case errors.Is(err, io.EOF):
			return r.Form.Finish()
		case err != nil:
			return err
		case n == maxFormParts:
			return Invalid(r.route.filePart(), "must be in a form of at most "+strconv.Itoa(maxFormParts)+" parts")
		case len(part.FormName()) > maxFormField:
			return Invalid(r.route.filePart(), "must be in a form whose field names have at most "+strconv.Itoa(maxFormField)+" bytes")
		}

		sum := sha256.New()
		read := s.readPart
		if r.route.takesTable() {
			read = s.readTablePart
		}
		if err := read(r, part, io.TeeReader(part, sum)); err != nil {
			return err
		}
		if _, err := io.Copy(sum, part); err != nil { // also one that is ignored is part of the fingerprint
			return err
		}

		r.Raw = binary.AppendUvarint(r.Raw, uint64(len(part.FormName())))
		r.Raw = append(r.Raw, part.FormName()...)
		r.Raw = sum.Sum(r.Raw)
	}
}

// readPart reads one part of a form with a file.
func (s *Server) readPart(r *Request, part *multipart.Part, content io.Reader) error {
	f := r.Form
	switch part.FormName() {
	case "file":
		if f.Files++; f.Files > 1 {
			return nil
		}
		if f.Filename = part.FileName(); len(f.Filename) > maxFormField {
			return Invalid("file", "must have a name of at most "+strconv.Itoa(maxFormField)+" bytes")
		}
		f.Declared = append(f.Declared, filetype.WithoutParameters(part.Header.Get("Content-Type")))
		_, err := io.Copy(&f.IncomingFile, content)
		return err

	case "type", "dry_run", "label_id":
		text, err := io.ReadAll(io.LimitReader(content, maxFormField+1))
		if err == nil && len(text) > maxFormField {
			err = Invalid(part.FormName(), "must have at most "+strconv.Itoa(maxFormField)+" characters")
		}
		f.Fields[part.FormName()] = string(text)
		if part.FormName() == "type" {
			f.Declared = append(f.Declared, filetype.WithoutParameters(string(text)))
		}
		return err
	}
	return nil
}

// readTablePart reads one part of a form with JSON and a CSV file.
func (s *Server) readTablePart(r *Request, part *multipart.Part, content io.Reader) (err error) {
	f, names := r.Form, r.route.table
	switch part.FormName() {
	case names.json:
		if f.jsons++; f.jsons > 1 {
			return nil
		}
		f.json, err = s.readWhole(r, io.LimitReader(content, MaxBody+1), MaxBody+1)
		if err == nil && len(f.json) > MaxBody {
			err = Fail(RequestTooLarge, "The part "+names.json+" is larger than 1 MiB.")
		}
	case names.csv:
		if f.Files++; f.Files == 1 {
			var size int64
			if size, err = io.Copy(f.File, content); err == nil && size > maxMedia {
				err = &Error{Code: RequestTooLarge, Param: names.csv, Message: "The file is larger than 100 MiB."}
			}
		}
	}
	return err
}

// CheckTable refuses a form with a table that has not each of its two parts once. Handlers ask for
// it, because a repeated request is recognized first.
func (r *Request) CheckTable() error {
	switch name := r.route.table.json; {
	case r.Form == nil:
		return nil
	case r.Form.jsons == 0:
		return Missing(name)
	case r.Form.jsons > 1:
		return Invalid(name, "must be given once")
	}
	return r.Form.CheckFiles(r.route.filePart())
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

// CheckFiles refuses a form, or the lack of one, without exactly one file, in the part of a name.
func (f *form) CheckFiles(name string) error {
	switch {
	case f == nil || f.Files == 0:
		return Missing(name)
	case f.Files > 1:
		return Invalid(name, "must be given once")
	}
	return nil
}
