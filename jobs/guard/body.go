package guard

import (
	"errors"
	"io"
)

// ReadBody reads at most limit bytes. If there are more, it returns what it read
// together with ErrTooLarge, so that a caller who needs only the beginning can
// ignore the error.
func ReadBody(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil || int64(len(body)) < limit {
		return body, err
	}

	// Only the next byte shows whether the body is longer than the limit.
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil:
		return body, ErrTooLarge
	case errors.Is(err, io.EOF):
		return body, nil
	default:
		return body, err
	}
}
