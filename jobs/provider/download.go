package provider

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Content describes media that was downloaded.
type Content struct {
	MIME string // as the provider's server says, or else its lookup
	Size int64
}

// FetchMedia looks media up and writes its content to w. An address that has
// expired in between is looked up once more.
func (c *Client) FetchMedia(ctx context.Context, tok Token, id, phoneNumberID string, limit int64, w io.Writer) (Media, Content, error) {
	for again := true; ; again = false {
		m, err := c.LookupMedia(ctx, tok, id, phoneNumberID)
		if err != nil {
			return Media{}, Content{}, err
		}
		content, err := c.DownloadMedia(ctx, tok, m, limit, w)
		if again && Missing(err) { // then nothing was written
			continue
		}
		return m, content, err
	}
}

// DownloadMedia writes the content of media to w. More than limit bytes are
// ErrTooLarge. After an error w may hold a part. An error of w is returned as it
// is, for it is not the provider's.
func (c *Client) DownloadMedia(ctx context.Context, tok Token, m Media, limit int64, w io.Writer) (Content, error) {
	rq := call{op: "download media", reclassify: reclassifyMissing}
	switch {
	case m.url == nil:
		return Content{}, notSentError(rq.op, errNoLookup)
	case !isValidToken(tok):
		return Content{}, notSentError(rq.op, errNoToken)
	case m.Size > limit:
		return Content{}, tooLargeError(rq.op)
	}
	ctx, watch := c.withStallTimer(ctx)
	defer watch.stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.String(), nil)
	if err != nil {
		return Content{}, notSentError(rq.op, errUnreadable)
	}
	req.Header["User-Agent"] = []string{c.agent}
	req.Header["Authorization"] = []string{string(bearer) + tok.Reveal()}

	hidden := c.secretsOf(tok, rq)
	res, err := c.http.Do(req)
	if err != nil {
		return Content{}, noAnswerError(rq.op, hidden.redactError(contextCause(ctx, err)), true)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e := downloadError(rq, res)
		e.sanitize(hidden)
		return Content{}, e
	}
	n, err := copyLimited(w, watch.trackReceiving(res.Body), limit)
	if err, ok := err.(readError); ok {
		return Content{}, noAnswerError(rq.op, hidden.redactError(contextCause(ctx, err.error)), true)
	}
	if err == ErrTooLarge {
		return Content{}, tooLargeError(rq.op)
	}
	return Content{MIME: firstOf(res.Header.Get("Content-Type"), m.MIME), Size: n}, err
}

// downloadError reads the refusal of a download.
func downloadError(rq call, res *http.Response) *Error {
	body, _ := readBody(res, answerLimit) // what cannot be read explains nothing
	e := parseFailure(rq, res.StatusCode, body)
	if res.StatusCode == http.StatusNotFound && e.Code == NoCode {
		e.cause = errExpiredURL
	}
	e.RetryAfter = requestedWait(res.Header, time.Now())
	return e
}

// tooLargeError is final: the media will not shrink.
func tooLargeError(op string) *Error {
	return &Error{Op: op, Fault: Fault{Code: NoCode}, Class: Class{Code: mediaDownload}, Outcome: Done, cause: ErrTooLarge}
}

// readError is an error of the reading side.
type readError struct{ error }

// copyLimited copies at most limit bytes and tells whose fault an error is.
func copyLimited(w io.Writer, r io.Reader, limit int64) (n int64, err error) {
	buf := make([]byte, 32<<10)
	for {
		got, rerr := r.Read(buf)
		if n+int64(got) > limit {
			return n, ErrTooLarge
		}
		if got > 0 {
			if _, err := w.Write(buf[:got]); err != nil {
				return n, err
			}
			n += int64(got)
		}
		switch rerr {
		case nil:
		case io.EOF:
			return n, nil
		default:
			return n, readError{rerr}
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
