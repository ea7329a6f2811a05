package rest

import (
	"io"
	"mime/multipart"
	"net/http"
)

// tableParts are the names of the two parts of a form with a table.
type tableParts struct{ json, csv string }

// TakesTable lets a route take much: JSON of 10 MiB, or a multipart body in which a part is the
// JSON and another a CSV file.
func (rt Route) TakesTable(jsonPart, csvPart string) Route {
	rt.table = tableParts{json: jsonPart, csv: csvPart}
	return rt
}

func (rt *Route) takesTable() bool { return rt.table.csv != "" }

// readTable reads a multipart body with a JSON part and a CSV file, which goes to disk while
// it arrives.
func (s *Server) readTable(x *Exchange) error {
	r, parts := x.Request, x.Request.route.table
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
		case parts.json:
			if body != nil {
				return Invalid(parts.json, "must be given once")
			}
			text, err := s.readWhole(r, io.LimitReader(content, MaxBody+1), MaxBody+1)
			if err == nil && len(text) > MaxBody {
				err = Fail(RequestTooLarge, "The part "+parts.json+" is larger than 1 MiB.")
			}
			body = text
			return err
		case parts.csv:
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
			return Missing(parts.json)
		case files == 0:
			return Missing(parts.csv)
		case files > 1:
			return Invalid(parts.csv, "must be given once")
		}
		return r.setBody(body)
	}
	return asFormError(parts.csv, r.readForm(parts.csv, read, finish))
}
