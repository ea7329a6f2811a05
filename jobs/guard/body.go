package guard

import (
	"errors"
	"io"
)

// ReadBody reads at most limit bytes. When there are more, it returns what it
// read together with ErrTooLarge, so that a caller content with the beginning
// may ignore that error.
func ReadBody(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil || int64(len(body)) < limit {
		return body, err
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil:
		return body, ErrTooLarge
	case errors.Is(err, io.EOF):
		return body, nil
	default:
		return body, err
	}
}

// LimitBody lets at most limit bytes through and then fails with ErrTooLarge,
// for bodies that are streamed.
func LimitBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return &limited{body: body, left: limit}
}

type limited struct {
	body io.ReadCloser
	left int64
}

// Read implements io.Reader. It asks for one byte more than may pass: only
// so is a body of exactly the limit told from a longer one.
func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	if int64(n) <= l.left {
		l.left -= int64(n)
		return n, err
	}
	n, l.left = int(l.left), -1
	return n, ErrTooLarge
}

// Close implements io.Closer.
func (l *limited) Close() error { return l.body.Close() }
