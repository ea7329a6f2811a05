package api

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/jobs/mergefield"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// The parts of a form that makes a broadcast.
const (
	BroadcastPart  = "broadcast"
	RecipientsPart = "recipients"
)

// maxShownNumber is how much is kept of a cell that should have been a number.
const maxShownNumber = 40

// maxRecipientColumns and maxRecipientLines bound a file of recipients.
const (
	maxRecipientColumns = 256
	maxRecipientLines   = 1_000_000
)

// openRecipients reads the header of a file of recipients: its columns, of which number has
// the phone numbers, -1 if none has. file reads the lines after it.
func openRecipients(in io.Reader) (file *contactsheet.Reader, columns []string, number int, err error) {
	numberOf := func(names []string) int {
		for _, wanted := range []string{"phone_number", "to"} {
			i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), wanted) })
			if i >= 0 {
				return i
			}
		}
		return -1
	}

	file, columns, err = contactsheet.ReadHeader(in, func(names []string) bool { return numberOf(names) >= 0 })
	if errors.Is(err, io.EOF) {
		return nil, nil, -1, rest.Invalid(RecipientsPart, "has no header line")
	}
	if err := checkRecipientLine(1, columns, len(columns), err); err != nil {
		return nil, nil, -1, err
	}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
		if name := columns[i]; name != "" && slices.Contains(columns[:i], name) {
			return nil, nil, -1, rest.Invalid(RecipientsPart, "has the column "+name+" twice")
		}
	}
	return file, columns, numberOf(columns), nil
}

// checkRecipientLine refuses a file for a line that cannot be read, or that has more cells than
// there are columns: then its values may be in the wrong ones.
func checkRecipientLine(line int64, cells []string, columns int, err error) error {
	refuse := func(rule string) error {
		return rest.Invalid(RecipientsPart, "cannot be read: line "+strconv.FormatInt(line, 10)+" "+rule)
	}

	switch {
	case errors.Is(err, contactsheet.ErrTooLong), errors.Is(err, contactsheet.ErrUnclosed):
		return refuse(err.Error())
	case err != nil:
		return err
	case len(cells) > maxRecipientColumns:
		return refuse("has more than " + strconv.Itoa(maxRecipientColumns) + " cells")
	case slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) }):
		return refuse("is not text in UTF-8")
	case len(cells) > columns && !contactsheet.IsBlank(cells[columns:]):
		return refuse("has more cells than the header")
	}
	return nil
}

// NewRecipientFile reads recipients from a CSV file: numbers, and of the other columns those
// that are fields of the content of a template message.
func NewRecipientFile(in io.Reader, content []byte) (jobs.RecipientSource, error) {
	template, err := mergefield.Parse(content, nil)
	if err != nil {
		return nil, err
	}
	file, columns, number, err := openRecipients(in)
	if err != nil {
		return nil, err
	}
	if number < 0 {
		return nil, rest.Invalid(RecipientsPart, "must have a column phone_number or to")
	}

	lines := 0
	return func(limit int) (some []storage.BroadcastRecipient, err error) {
		for len(some) < limit {
			cells, err := file.Read()
			switch {
			case errors.Is(err, io.EOF) && lines == 0:
				return nil, rest.Invalid(RecipientsPart, "has no lines below its header")
			case errors.Is(err, io.EOF):
				return some, nil
			}
			if err := checkRecipientLine(file.Line(), cells, len(columns), err); err != nil {
				return nil, err
			}
			if len(cells) == 1 && strings.TrimSpace(cells[0]) == "" {
				continue
			}

			if lines++; lines > maxRecipientLines {
				return nil, rest.Invalid(RecipientsPart, "must have at most "+strconv.Itoa(maxRecipientLines)+" lines")
			}
			some = append(some, recipientOf(columns, cells, number, template.Names()))
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
	if !ok {
		r.Skip(storage.SkippedPhoneNumber)
		r.PhoneNumber = storage.OrNil(messaging.Truncate(written, maxShownNumber))
		return r
	}

	r.PhoneNumber = &phone
	values := make(map[string]string)
	for i, name := range header {
		if i != number && i < len(cells) && slices.Contains(names, name) {
			values[name] = cells[i]
		}
	}
	r.SetFields(values, names)
	return r
}
