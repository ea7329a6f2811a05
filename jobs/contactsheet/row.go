// Package contactsheet is how contacts are written in a CSV file: its columns, what their cells
// may hold, and how such a file is written and read.
//
// A header line names the columns; metadata has a column for each key, metadata.KEY. A cell that a
// spreadsheet would run as a formula gets a ' in front when it is written, and loses it when
// it is read. Reading is bounded for any file.
package contactsheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"confab/jobs/provider"
	"confab/storage"
)

// Layout is what the header line of a file says.
type Layout struct {
	Comma byte
	First int64 // the offset of the first record after the header

	names []string
}

// ReadLayout reads the header line. Its error completes a sentence about the file.
func ReadLayout(in io.Reader) (*Layout, error) {
	r, cells, err := ReadHeader(in, namesPeople)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, ErrTooLong), errors.Is(err, ErrUnclosed):
		return nil, errors.New("must begin with a header line")
	case err != nil:
		return nil, err
	case !utf8.ValidString(strings.Join(cells, "")):
		return nil, errors.New("must be text in UTF-8")
	case !namesPeople(cells):
		return nil, errors.New("must have a column phone_number or bsuid")
	}

	l := &Layout{Comma: r.comma, First: r.Offset()}
	for _, cell := range cells {
		name := columnOf(cell)
		if name != "" && slices.Contains(l.names, name) {
			return nil, errors.New("has the column " + name + " twice")
		}
		l.names = append(l.names, name)
	}
	return l, nil
}

// namesPeople reports whether one of the columns says whom a line is about.
func namesPeople(cells []string) bool {
	return slices.ContainsFunc(cells, func(cell string) bool {
		return columnOf(cell) == columnPhone || columnOf(cell) == columnBSUID
	})
}

func columnOf(cell string) string {
	name := strings.TrimSpace(unguard(cell))
	if folded := strings.ToLower(name); slices.Contains(columns, folded) || folded == columnMetadata {
		return folded
	}
	return name
}

// Problem is an error in a line.
type Problem struct {
	Line    int64  `json:"line"`
	Param   string `json:"param"` // the column
	Message string `json:"message"`
}

// Row is a line of the file. A nil field had an empty cell, or none.
type Row struct {
	PhoneNumber, BSUID, Username, Name, Email *string

	Labels   string // names
	OptedIn  *bool
	OptedOut bool

	metadata map[string]json.RawMessage // new values, by their key
}

// IsBlank reports whether a record holds nothing.
func IsBlank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// Row reads a record. A nil problem means that it may be stored.
func (l *Layout) Row(cells []string) (row Row, problem *Problem) {
	row.metadata = make(map[string]json.RawMessage)
	for i, cell := range cells {
		if i >= len(l.names) {
			if strings.TrimSpace(cell) != "" {
				return row, &Problem{Message: "The line has more cells than the header."}
			}
			continue
		}
		if rule := row.set(l.names[i], cell); rule != "" {
			return row, &Problem{Param: l.names[i], Message: l.names[i] + " " + rule + "."}
		}
	}

	if row.PhoneNumber == nil && row.BSUID == nil {
		return row, &Problem{Param: columnPhone, Message: "The line has neither phone_number nor bsuid."}
	}
	return row, nil
}

// set puts a cell into the row, and returns the rule that it breaks.
func (r *Row) set(column, cell string) (rule string) {
	if !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) {
		return "must be text in UTF-8"
	}
	cell = unguard(cell)
	if key, ok := strings.CutPrefix(column, metadataPrefix); ok {
		if cell != "" {
			r.setMetadata(key, cell)
		}
		return ""
	}

	if cell = strings.TrimSpace(cell); cell == "" {
		return ""
	}
	return r.setField(column, cell)
}

func (r *Row) setField(column, cell string) (rule string) {
	switch column {
	case columnPhone:
		phone, ok := provider.ParseWrittenPhone(cell)
		if !ok {
			return "must be a phone number in E.164 form: 7 to 15 digits that begin with the country code"
		}
		r.PhoneNumber = &phone
	case columnBSUID:
		if !IsOwnBSUID(cell) {
			return "must be a country code of two letters, a dot and 1 to 128 letters and digits"
		}
		r.BSUID = &cell

	case columnUsername:
		r.Username = &cell
		return atMost(cell, MaxUsername)
	case columnName:
		r.Name = &cell
		return atMost(cell, MaxName)

	case columnEmail:
		if !storage.ValidEmail(cell) {
			return "must be an address such as ana@example.com"
		}
		r.Email = &cell

	case columnLabels:
		r.Labels = cell
	case columnOptedIn:
		r.OptedIn = new(cell == "true")
		return boolean(cell)
	case columnOptedOut:
		r.OptedOut = cell == "true"
		return boolean(cell)
	case columnMetadata:
		return r.setAllMetadata(cell)
	}

	return ""
}

func boolean(cell string) string {
	if cell != "true" && cell != "false" {
		return "must be true or false"
	}
	return ""
}

// setMetadata puts a value under a key: a JSON object or list as such, all else as text.
func (r *Row) setMetadata(key, cell string) {
	if (cell[0] == '{' || cell[0] == '[') && json.Valid([]byte(cell)) {
		r.metadata[key] = Compact(json.RawMessage(cell))
		return
	}
	r.metadata[key], _ = json.Marshal(cell) // a text always can be
}

func (r *Row) setAllMetadata(cell string) (rule string) {
	if !json.Valid([]byte(cell)) {
		return "must be a JSON object"
	}
	if rule := MetadataRule(json.RawMessage(cell)); rule != "" {
		return rule
	}

	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(cell), &fields) // which the rule has found to be an object
	for key, value := range fields {
		r.metadata[key] = Compact(value)
	}
	return ""
}

// ChangeMetadata puts the row's values into metadata. Keys without a column stay, and so
// does a value that the cell already shows, of any type. It returns the rule that
// the outcome breaks.
func (r *Row) ChangeMetadata(before storage.JSON) (after storage.JSON, rule string) {
	fields := make(map[string]json.RawMessage)
	if len(before) > 0 && json.Unmarshal(before, &fields) != nil {
		return before, ""
	}

	changed := false
	for key, value := range r.metadata {
		if old, ok := fields[key]; !ok || showValue(old) != showValue(value) {
			fields[key], changed = value, true
		}
	}
	if !changed {
		return before, ""
	}

	text, err := json.Marshal(fields)
	if err != nil {
		return before, "cannot be stored"
	}
	return text, MetadataRule(text)
}

// LabelNames cuts the names of labels apart. A name may hold the separator itself: unless all
// that is between separators is known, the longest that is known is meant. It returns the
// first that is not.
func (r *Row) LabelNames(known func(name string) bool) (names []string, unknown string) {
	parts := strings.Split(r.Labels, labelSeparator)
	for _, part := range parts {
		if name := strings.TrimSpace(part); name != "" {
			names = append(names, name)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return !known(name) }) {
		return names, ""
	}

	names = nil
	for len(parts) > 0 {
		n := len(parts)
		for ; n > 0; n-- {
			if name := strings.TrimSpace(strings.Join(parts[:n], labelSeparator)); known(name) {
				names = append(names, name)
				break
			}
		}
		if n == 0 {
			if name := strings.TrimSpace(parts[0]); name != "" {
				return nil, name
			}
			n = 1
		}
		parts = parts[n:]
	}
	return names, ""
}

// Limits of a contact's texts, in characters.
const (
	MaxName     = 200
	MaxUsername = 100
)

// Bounds of metadata. The depth is far below what the database reads.
const (
	maxMetadataKeys  = 64
	maxMetadataSize  = 16 << 10
	maxMetadataDepth = 64
)

// MetadataRule is the rule that metadata breaks, which completes a sentence that begins
// with its name; "" if it breaks none. The value is valid JSON.
func MetadataRule(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &fields) != nil || fields == nil:
		return "must be an object"
	case len(fields) > maxMetadataKeys:
		return "must have at most " + strconv.Itoa(maxMetadataKeys) + " keys"
	case len(Compact(raw)) > maxMetadataSize:
		return "must have at most 16 KB"
	case provider.JSONDepth(raw) > maxMetadataDepth:
		return "must not be nested deeper than " + strconv.Itoa(maxMetadataDepth) + " levels"
	}
	return ""
}

// Compact is a JSON text without the space in it.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw // it is valid
	}
	return b.Bytes()
}

// IsOwnBSUID reports whether a text is a person's own BSUID, not a parent portfolio's.
func IsOwnBSUID(id string) bool { return provider.BSUID.MatchString(id) && !provider.IsParentBSUID(id) }

// atMost is the rule that a text breaks which is too long.
func atMost(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		return "must have at most " + strconv.Itoa(most) + " characters"
	}
	return ""
}
