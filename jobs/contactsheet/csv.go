package contactsheet

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxRecord is how many bytes a line may have, with the line breaks inside of quotes.
const maxRecord = 256 << 10

// ErrTooLong is a line with more bytes than any can need. Often a quote before it was not
// closed: reading goes on behind the first line break.
var ErrTooLong = errors.New("has more than 256 KiB, perhaps because a quote is not closed")

// Reader reads CSV record by record, within bounds whatever the file holds. It takes what
// spreadsheets write: cells in quotes with anything in them, doubled quotes, any line
// break, and a quote in the middle of a cell for itself.
type Reader struct {
	in     *bufio.Reader
	comma  byte
	offset int64 // of what was not read yet

	cells []string
}

// NewReader reads from a place in a file that is at an offset of it.
func NewReader(in io.Reader, comma byte, offset int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, maxRecord+1), comma: comma, offset: offset}
}

// Offset is where the next record begins.
func (r *Reader) Offset() int64 { return r.offset }

// Read reads a record. Its cells are good until the next one. A blank line is a record
// with one empty cell.
func (r *Reader) Read() ([]string, error) {
	window, err := r.in.Peek(maxRecord + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(window) == 0 {
		return nil, io.EOF
	}

	atEnd := err != nil // the window ends with the file
	next, ok := r.split(window, atEnd)
	if !ok {
		return nil, r.skipLine(window)
	}
	r.advance(next)
	return r.cells, nil
}

// skipLine goes on behind the first line break of a record that is too long.
func (r *Reader) skipLine(window []byte) error {
	next := bytes.IndexByte(window, '\n') + 1
	if next == 0 {
		next = len(window)
	}
	r.advance(next)
	return ErrTooLong
}

func (r *Reader) advance(n int) {
	r.offset += int64(n)
	_, _ = r.in.Discard(n) // of what was peeked at
}

// split cuts the cells of the record that the window begins with, and tells where the next
// one begins; not ok when its end is not in the window.
func (r *Reader) split(window []byte, atEnd bool) (next int, ok bool) {
	r.cells = r.cells[:0]
	var cell []byte
	for i := 0; ; {
		cell = cell[:0]
		if i < len(window) && window[i] == '"' {
			var closed bool
			if cell, i, closed = unquote(cell, window, i+1); !closed && !atEnd {
				return 0, false
			}
		}

		// What follows a closing quote belongs to the cell too.
		start := i
		for i < len(window) && window[i] != r.comma && window[i] != '\n' && window[i] != '\r' {
			i++
		}
		r.cells = append(r.cells, string(append(cell, window[start:i]...)))

		switch {
		case i == len(window):
			return i, atEnd
		case window[i] == r.comma:
			i++
		case window[i] == '\r' && i+1 < len(window) && window[i+1] == '\n':
			return i + 2, true
		default:
			return i + 1, true
		}
	}
}

// unquote reads a cell behind its opening quote.
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
const guarded = "=+-@\t\r"

// Guard puts a ' before a cell that a spreadsheet would run.
func Guard(cell string) string {
	if cell != "" && bytes.IndexByte([]byte(guarded), cell[0]) >= 0 {
		return "'" + cell
	}
	return cell
}

// unguard takes off what Guard has put there.
func unguard(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && bytes.IndexByte([]byte(guarded), cell[1]) >= 0 {
		return cell[1:]
	}
	return cell
}
