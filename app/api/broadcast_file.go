package api

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"confab/jobs"
	"confab/jobs/mergefield"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// The parts of a form that makes a broadcast.
const (
	broadcastPart  = "broadcast"
	recipientsPart = "recipients"
)

// readTable reads a multipart body with a JSON part and a CSV file, which goes to disk while
// it arrives.
func (s *Server) readTable(x *exchange) error {
	r := x.request
	file, err := s.beginUpload(x)
	if err != nil {
		return err
	}

	r.csv = file
	r.http.Body = http.MaxBytesReader(x.ResponseWriter, r.http.Body, maxForm)
	var body []byte
	files := 0
	read := func(part *multipart.Part, sum io.Writer) error {
		content := io.TeeReader(part, sum)
		switch part.FormName() {
		case broadcastPart:
			if body != nil {
				return invalid(broadcastPart, "must be given once")
			}
			text, err := s.readWhole(r, io.LimitReader(content, maxBody+1), maxBody+1)
			if err == nil && len(text) > maxBody {
				err = fail(RequestTooLarge, "The part "+broadcastPart+" has more than 1 MiB.")
			}
			body = text
			return err
		case recipientsPart:
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
			return missing(broadcastPart)
		case files == 0:
			return missing(recipientsPart)
		case files > 1:
			return invalid(recipientsPart, "must be given once")
		}
		return r.setBody(body)
	}
	return asFormError(recipientsPart, r.readForm(recipientsPart, read, finish))
}

// maxShownNumber is how much is kept of a cell that should have been a number.
const maxShownNumber = 40

// NewRecipientFile reads recipients from a CSV file: numbers, and of the other columns those
// that are fields of the content of a template message.
func NewRecipientFile(file io.Reader, content []byte) (jobs.RecipientSource, error) {
	template, err := mergefield.Parse(content, nil)
	if err != nil {
		return nil, err
	}
	table, err := newCSVTable(file, recipientsPart)
	if err != nil {
		return nil, err
	}
	number := table.column("phone_number", "to")
	if number < 0 {
		return nil, invalid(recipientsPart, "must have a column phone_number or to")
	}

	return func(limit int) (some []storage.BroadcastRecipient, err error) {
		for len(some) < limit {
			cells, err := table.next()
			switch {
			case errors.Is(err, io.EOF) && table.records == 0:
				return nil, invalid(recipientsPart, "has no lines below its header")
			case errors.Is(err, io.EOF):
				return some, nil
			case err != nil:
				return nil, err
			}
			some = append(some, recipientOf(table.header, cells, number, template.Names()))
		}
		return some, nil
	}, nil
}

// recipientOf is the recipient of a line. One without a valid number is skipped.
func recipientOf(header, cells []string, number int, names []string) (r storage.BroadcastRecipient) {
	written := ""
	if number < len(cells) {
		written = strings.TrimPrefix(strings.TrimSpace(cells[number]), "'") // which guards a + in spreadsheets
	}
	phone, ok := provider.ParseWrittenPhone(written)
	switch {
	case ok:
		r.PhoneNumber = &phone
	default:
		r.Skip(storage.SkippedPhoneNumber)
		if written = messaging.Truncate(written, maxShownNumber); written != "" {
			r.PhoneNumber = &written
		}
		return r
	}

	values := make(map[string]string)
	for i, name := range header {
		if i != number && i < len(cells) && slices.Contains(names, name) {
			values[name] = cells[i]
		}
	}
	r.SetFields(values, names)
	return r
}
