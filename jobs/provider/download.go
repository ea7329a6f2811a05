package provider

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"confab/jobs/errorcode"
)

// FetchMedia looks media up and writes its content to w. If the address expires
// in between, it is looked up once more.
func (c *Client) FetchMedia(ctx context.Context, tok Token, id, phoneNumberID string, limit int64, w io.Writer) (Media, error) {
	for again := true; ; again = false {
		m, err := c.lookupMedia(ctx, tok, id, phoneNumberID)
		if err != nil {
			return Media{}, err
		}

		m.MIME, err = c.downloadMedia(ctx, tok, m, limit, w)
		if again && IsMissing(err) { // nothing was written to w
			continue
		}
		return m, err
	}
}

// downloadMedia writes the content of media to w and returns its type, or
// ErrTooLarge if it has more than limit bytes. After an error w may hold a part.
// An error of w itself is returned as it is, because it is not the provider's.
func (c *Client) downloadMedia(ctx context.Context, tok Token, m Media, limit int64, w io.Writer) (mimeType string, err error) {
	rq := call{op: "download media", reclassify: reclassifyMissing}
	switch {
	case m.url == nil:
		return "", notSentError(rq.op, errNoLookup)
	case !isValidToken(tok):
		return "", notSentError(rq.op, errNoToken)
	case m.Size > limit:
		return "", tooLargeError(rq.op)
	}

	ctx, stall := c.withStallTimer(ctx)
	defer stall.stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.String(), nil)
	if err != nil {
		return "", notSentError(rq.op, errUnreadable)
	}
	req.Header["User-Agent"] = []string{c.agent}
	req.Header["Authorization"] = []string{string(bearer) + tok.Reveal()}

	hidden := c.secretsOf(tok, rq)
	res, err := c.http.Do(req)
	if err != nil {
		return "", noAnswerError(rq.op, hidden.redactError(contextCause(ctx, err)), true)
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		e := downloadError(rq, res)
		e.sanitize(hidden)
		return "", e
	}

	err = copyLimited(w, stall.trackReceiving(res.Body), limit)
	if err, ok := err.(readError); ok {
		return "", noAnswerError(rq.op, hidden.redactError(contextCause(ctx, err.error)), true)
	}
	if err == ErrTooLarge {
		return "", tooLargeError(rq.op)
	}
	return cmp.Or(res.Header.Get("Content-Type"), m.MIME), err
}

// downloadError reads the answer to a download that was refused. A plain 404
// means that the address has expired, not that the media is gone.
func downloadError(rq call, res *http.Response) *Error {
	body, _ := readBody(res, answerLimit) // a body that breaks off is read as far as it goes
	e := parseFailure(rq, res.StatusCode, body)

	if res.StatusCode == http.StatusNotFound && e.Code == NoCode {
		e.cause = errExpiredURL
	}

	e.RetryAfter = requestedWait(res.Header, time.Now())
	return e
}

// tooLargeError is final: the same media will be too large the next time.
func tooLargeError(op string) *Error {
	return ownError(op, 0, Class{Code: errorcode.MediaDownloadFailed}, Done, ErrTooLarge)
}

// readError marks an error of the reader in copyLimited, as opposed to one of
// the writer.
type readError struct{ error }

// copyLimited copies r to w, or fails with ErrTooLarge after limit bytes. An
// error of r is returned as a readError, one of w as it is.
func copyLimited(w io.Writer, r io.Reader, limit int64) error {
	var total int64
	_, err := io.Copy(w, readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		total += int64(n)
		switch {
		case total > limit:
			return 0, ErrTooLarge
		case err != nil && err != io.EOF:
			return n, readError{err}
		}
		return n, err
	}))
	return err
}
