package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxTableLine bounds one record of a file, which may go over several lines, and so what
	// is kept of the file in memory.
	maxTableLine    = 1 << 20
	maxTableColumns = 256
	maxTableLines   = 1_000_000
)

// csvTable reads a CSV file as a stream: with commas or semicolons, with a byte order mark
// or without, in UTF-8. Unlike encoding/csv it keeps no more than one record in memory,
// however long a cell is that somebody forgot to close.
type csvTable struct {
	from      *bufio.Reader
	separator byte
	header    []string
	line      int // of the last record, the header being 1
	records   int
	param     string
}

// newCSVTable reads the header of a file; param names the file in errors.
func newCSVTable(from io.Reader, param string) (*csvTable, error) {
	t := &csvTable{from: bufio.NewReaderSize(from, 1<<16), separator: ',', param: param}
	if mark, err := t.from.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = t.from.Discard(len(mark))
	}

	first, err := t.from.Peek(t.from.Size())
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	t.separator = separatorOf(first)

	t.header, err = t.record()
	if errors.Is(err, io.EOF) {
		return nil, invalid(param, "has no header line")
	}
	for i := range t.header {
		t.header[i] = strings.TrimSpace(t.header[i])
	}
	return t, err
}

// separatorOf is the separator of a file: what its first line has more of outside of quotes.
func separatorOf(beginning []byte) byte {
	semicolons, quoted := 0, false
	for i, b := range beginning {
		switch {
		case b == '"': // which opens only where a cell begins, or behind one that has just closed
			quoted = !quoted && (i == 0 || strings.IndexByte(`,;"`, beginning[i-1]) >= 0)
		case quoted:
		case b == ';':
			semicolons++
		case b == ',':
			semicolons--
		}
		if b == '\n' && !quoted {
			break
		}
	}

	if semicolons > 0 {
		return ';'
	}
	return ','
}

// column finds the first of some columns, -1 if there is none.
func (t *csvTable) column(names ...string) int {
	for _, name := range names {
		for i, column := range t.header {
			if strings.EqualFold(column, name) {
				return i
			}
		}
	}
	return -1
}

// next reads the next record, or io.EOF. Empty lines are none.
func (t *csvTable) next() ([]string, error) {
	for {
		cells, err := t.record()
		if err != nil {
			return nil, err
		}
		if len(cells) == 1 && strings.TrimSpace(cells[0]) == "" {
			continue
		}
		if t.records++; t.records > maxTableLines {
			return nil, invalid(t.param, "must have at most "+strconv.Itoa(maxTableLines)+" lines")
		}
		return cells, nil
	}
}

// record reads one record with all its lines.
func (t *csvTable) record() (cells []string, err error) {
	var cell []byte
	size, quoted, began := 0, false, false
	t.line++
	for {
		c, err := t.from.ReadByte()
		if errors.Is(err, io.EOF) {
			if size == 0 {
				return nil, io.EOF
			}
			return t.finish(append(cells, string(cell)))
		}
		if err != nil {
			return nil, err
		}
		if size++; size > maxTableLine {
			return nil, t.refuse("is longer than 1 MiB")
		}

		switch {
		case quoted && c == '"':
			if following, _ := t.from.Peek(1); len(following) == 1 && following[0] == '"' {
				_, _ = t.from.Discard(1)
				cell = append(cell, '"')
			} else {
				quoted = false
			}
		case quoted:
			cell = append(cell, c)
		case c == '"' && !began:
			quoted, began = true, true
		case c == t.separator:
			if cells = append(cells, string(cell)); len(cells) >= maxTableColumns {
				return nil, t.refuse("has more than " + strconv.Itoa(maxTableColumns) + " cells")
			}
			cell, began = cell[:0], false
		case c == '\n':
			return t.finish(append(cells, strings.TrimSuffix(string(cell), "\r")))
		default:
			cell, began = append(cell, c), true
		}
	}
}

// finish checks the cells of a record.
func (t *csvTable) finish(cells []string) ([]string, error) {
	for _, cell := range cells {
		if !utf8.ValidString(cell) || strings.ContainsRune(cell, 0) {
			return nil, t.refuse("is not text in UTF-8")
		}
	}
	return cells, nil
}

// refuse reports what is wrong with the present record.
func (t *csvTable) refuse(rule string) error {
	return invalid(t.param, "cannot be read: record "+strconv.Itoa(t.line)+" "+rule)
}
