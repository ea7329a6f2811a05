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
