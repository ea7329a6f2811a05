package contactsheet

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"confab/storage"
)

// Columns of a contact, in their order; those of its metadata follow.
const (
	columnPhone    = "phone_number"
	columnBSUID    = "bsuid"
	columnUsername = "username"
	columnName     = "name"
	columnEmail    = "email"
	columnLabels   = "labels"
	columnOptedIn  = "opted_in"
	columnOptedOut = "marketing_opted_out"
	columnCreated  = "created_at"
	columnMetadata = "metadata"

	metadataPrefix = columnMetadata + "."
	// maxMetadataColumns is for how many keys there are columns. Where there are more, one
	// column has all of the metadata as JSON.
	maxMetadataColumns = 256
	labelSeparator     = ";"
)

var columns = []string{
	columnPhone, columnBSUID, columnUsername, columnName, columnEmail, columnLabels, columnOptedIn, columnOptedOut, columnCreated,
}

// Keys are the keys of contacts' metadata, as far as they get columns.
type Keys map[string]bool

// Add adds the keys of a contact, and reports whether more could matter.
func (k Keys) Add(metadata storage.JSON) bool {
	var fields map[string]json.RawMessage
	if len(metadata) > 0 && json.Unmarshal(metadata, &fields) == nil {
		for key := range fields {
			k[key] = true
		}
	}
	return len(k) <= maxMetadataColumns
}

// Writer writes contacts as CSV.
type Writer struct {
	out  *csv.Writer
	keys []string // nil: one column for all of the metadata
}

// NewWriter writes the header line.
func NewWriter(out io.Writer, keys Keys) (*Writer, error) {
	w := &Writer{out: csv.NewWriter(out)}
	header := slices.Clone(columns)
	if len(keys) > maxMetadataColumns {
		header = append(header, columnMetadata)
	} else {
		w.keys = slices.AppendSeq(make([]string, 0, len(keys)), maps.Keys(keys))
		slices.Sort(w.keys)
		for _, key := range w.keys {
			header = append(header, Guard(metadataPrefix+key))
		}
	}
	return w, w.out.Write(header)
}

// Write writes a contact with its labels.
func (w *Writer) Write(c storage.Contact, labels []storage.AttachedLabel) error {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.Name
	}

	created, err := json.Marshal(c.CreatedAt)
	if err != nil {
		return err
	}
	cells := []string{
		storage.OrEmpty(c.PhoneNumber), guardText(c.BSUID), guardText(c.Username), guardText(c.Name), guardText(c.Email),
		Guard(strings.Join(names, labelSeparator)), strconv.FormatBool(c.OptedIn), strconv.FormatBool(c.MarketingOptedOut),
		strings.Trim(string(created), `"`),
	}

	if w.keys == nil {
		return w.out.Write(append(cells, Guard(string(c.Metadata))))
	}
	var fields map[string]json.RawMessage
	if len(c.Metadata) > 0 {
		if err := json.Unmarshal(c.Metadata, &fields); err != nil {
			return err
		}
	}
	for _, key := range w.keys {
		cells = append(cells, Guard(showValue(fields[key])))
	}
	return w.out.Write(cells)
}

// Flush writes the buffered rows.
func (w *Writer) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// showValue is a value of metadata as a cell: a text as it is, all else as JSON.
func showValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func guardText(text *string) string { return Guard(storage.OrEmpty(text)) }
