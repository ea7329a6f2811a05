package contactsheet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRecord is how many bytes a line may have, with the line breaks inside of quotes.
const maxRecord = 256 << 10

// What a line may be that cannot be read. Reading goes on at the next line, so that each line
// of the file is either in a record or reported. Both complete a sentence about the line.
var (
	ErrTooLong  = errors.New("has more than 256 KiB, perhaps because a quote is not closed")
	ErrUnclosed = errors.New("has a quote that is not closed")
)

// Reader reads CSV record by record, within bounds for any file. It takes what
// spreadsheets write: cells in quotes with anything in them, doubled quotes, any line
// break, and a quote in the middle of a cell for itself.
type Reader struct {
	in     *bufio.Reader
	comma  byte
	offset int64 // of what was not read yet
	line   int64 // that the last record began on, and
	next   int64 // the next one begins on

	cells []string
}

// NewReader reads from a place in a file that is at an offset of it.
func NewReader(in io.Reader, comma byte, offset int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, maxRecord+1), comma: comma, offset: offset, next: 1}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// ReadHeader reads a file from its beginning: the cells of its first line, and what reads
// the records after it. The separator is a comma, unless only with a semicolon the line is a header.
func ReadHeader(in io.Reader, isHeader func(names []string) bool) (r *Reader, names []string, err error) {
	r = NewReader(in, ',', 0)
	if mark, _ := r.in.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		r.advance(len(mark))
	}
	window, atEnd, err := r.window()
	if err != nil {
		return nil, nil, err
	}

	length, err := r.split(window, atEnd)
	if names = slices.Clone(r.cells); err != nil || !isHeader(names) {
		r.comma = ';'
		if n, failed := r.split(window, atEnd); failed == nil && isHeader(r.cells) {
			names, length, err = slices.Clone(r.cells), n, nil
		} else {
			r.comma = ','
		}
	}
	r.advance(length)
	return r, names, err
}

// Offset is where the next record begins.
func (r *Reader) Offset() int64 { return r.offset }

// Line is the line that the last record began on, if all were read from the first.
func (r *Reader) Line() int64 { return r.line }

// Read reads a record, whose cells are good until the next. A blank line has one empty cell.
func (r *Reader) Read() ([]string, error) {
	r.line = r.next
	window, atEnd, err := r.window()
	if err != nil {
		return nil, err
	}

	length, err := r.split(window, atEnd)
	if err != nil {
		r.skipLine()
		return nil, err
	}
	r.advance(length)
	return r.cells, nil
}

// window is what follows, as far as a record may go; atEnd says that the file ends with it.
func (r *Reader) window() (window []byte, atEnd bool, err error) {
	window, err = r.in.Peek(maxRecord + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, false, err
	case len(window) == 0:
		return nil, true, io.EOF
	}
	return window, err != nil, nil
}

// skipLine goes on after the next line break, however far that is. An unreadable record is
// for the next record to report.
func (r *Reader) skipLine() {
	for {
		window, _, err := r.window()
		if err != nil {
			return
		}
		if i := bytes.IndexAny(window, "\r\n"); i >= 0 {
			r.advance(i + lineBreak(window[i:]))
			return
		}
		r.advance(len(window))
	}
}

func (r *Reader) advance(length int) {
	passed, _ := r.in.Peek(length)
	r.next += int64(bytes.Count(passed, []byte("\n")) + bytes.Count(passed, []byte("\r")) - bytes.Count(passed, []byte("\r\n")))
	r.offset += int64(length)
	_, _ = r.in.Discard(length) // of what was peeked at
}

// lineBreak is how many bytes the line break has that a text begins with.
func lineBreak(text []byte) int {
	if bytes.HasPrefix(text, []byte("\r\n")) {
		return 2
	}
	return 1
}

// split cuts the cells of the record that the window begins with, and says how long it is.
func (r *Reader) split(window []byte, atEnd bool) (length int, err error) {
	r.cells = r.cells[:0]
	var cell []byte
	for i := 0; ; {
		cell = cell[:0]
		closed := true
		if i < len(window) && window[i] == '"' {
			if cell, i, closed = unquote(cell, window, i+1); !closed && !atEnd {
				return 0, ErrTooLong
			}
		}

		start := i
		for i < len(window) && window[i] != r.comma && window[i] != '\n' && window[i] != '\r' {
			i++
		}

		// Text after a closing quote belongs to the cell too. If that is on a later line
		// than the opening one, it opens a cell there, and the first was never closed.
		if (!closed || i > start) && bytes.ContainsAny(cell, "\r\n") {
			return 0, ErrUnclosed
		}
		r.cells = append(r.cells, string(append(cell, window[start:i]...)))

		switch {
		case i == len(window) && !atEnd:
			return 0, ErrTooLong
		case i == len(window):
			return i, nil
		case window[i] == r.comma:
			i++
		default:
			return i + lineBreak(window[i:]), nil
		}
	}
}

// unquote reads a cell after its opening quote.
func unquote(cell, window []byte, i int) (text []byte, next int, closed bool) {
	for ; i < len(window); i++ {
		switch {
		case window[i] != '"':
			cell = append(cell, window[i])
		case i+1 < len(window) && window[i+1] == '"':
			cell = append(cell, '"')
			i++
		default:
			return cell, i + 1, true
		}
	}
	return cell, i, false
}

// guarded are the characters with which a cell begins that a spreadsheet would run.
const guarded = "=+-@\t\r＝＋－＠"

// Guard puts a ' before a cell that a spreadsheet would run. It does so within the cell too,
// wherever a spreadsheet could begin another one: after a ;, which separates cells in half of
// the world, a tab or the end of a line. There quotes do not keep a cell together. A cell with
// a ' of its own there gets another one, so that unguard finds the cell again.
func Guard(cell string) string {
	var b strings.Builder
	for i := range len(cell) {
		if beginsCell(cell, i) && isRun(cell[i:]) {
			b.WriteByte('\'')
		}
		b.WriteByte(cell[i])
	}
	return b.String()
}

func unguard(cell string) string {
	if !strings.Contains(cell, "'") {
		return cell
	}

	var b strings.Builder
	begins := true
	for i := range len(cell) {
		if begins && cell[i] == '\'' && isRun(cell[i+1:]) {
			begins = false
			continue
		}
		b.WriteByte(cell[i])
		begins = beginsCell(cell, i+1)
	}
	return b.String()
}

// beginsCell reports whether a spreadsheet could begin a cell at a place.
func beginsCell(cell string, at int) bool {
	return at == 0 || strings.IndexByte(";\t\r\n", cell[at-1]) >= 0
}

// isRun reports whether a spreadsheet would run a text, or what follows its guards.
func isRun(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, isOverlooked))
	return strings.ContainsRune(guarded, first) && first != utf8.RuneError
}

// isOverlooked reports whether a spreadsheet may pass over a character on its way to what a
// cell begins with: a quote, which may be taken for that around the cell, and what nobody sees.
func isOverlooked(c rune) bool {
	isInvisible := unicode.IsSpace(c) || unicode.In(c, unicode.Cc, unicode.Cf)
	return c == '"' || c == '\'' || isInvisible && !strings.ContainsRune(guarded, c)
}
