package rest

import (
	"io"
	"mime/multipart"
	"net/http"
)

// The parts of a form that makes a broadcast.
const (
	broadcastPart  = "broadcast"
	RecipientsPart = "recipients"
)

// readTable reads a multipart body with a JSON part and a CSV file, which goes to disk while
// it arrives.
func (s *Server) readTable(x *Exchange) error {
	r := x.Request
	file, err := s.beginUpload(x)
	if err != nil {
		return err
	}

	r.CSV = file
	r.HTTP.Body = http.MaxBytesReader(x.ResponseWriter, r.HTTP.Body, MaxForm)
	var body []byte
	files := 0
	read := func(part *multipart.Part, sum io.Writer) error {
		content := io.TeeReader(part, sum)
		switch part.FormName() {
		case broadcastPart:
			if body != nil {
				return Invalid(broadcastPart, "must be given once")
			}
			text, err := s.readWhole(r, io.LimitReader(content, MaxBody+1), MaxBody+1)
			if err == nil && len(text) > MaxBody {
				err = Fail(RequestTooLarge, "The part "+broadcastPart+" has more than 1 MiB.")
			}
			body = text
			return err
		case RecipientsPart:
			if files++; files == 1 {
				_, err := io.Copy(file, content)
				return err
			}
		}
		_, err := io.Copy(io.Discard, content)
		return err
	}
	finish := func() error {
		switch {
		case body == nil:
			return Missing(broadcastPart)
		case files == 0:
			return Missing(RecipientsPart)
		case files > 1:
			return Invalid(RecipientsPart, "must be given once")
		}
		return r.setBody(body)
	}
	return asFormError(RecipientsPart, r.readForm(RecipientsPart, read, finish))
}
