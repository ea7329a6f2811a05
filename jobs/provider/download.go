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
	rq := call{op: "download media", adjust: passing}
	switch {
	case m.url == nil:
		return Content{}, local(rq.op, errNoLookup)
	case !usable(tok):
		return Content{}, local(rq.op, errNoToken)
	case m.Size > limit:
		return Content{}, tooLarge(rq.op)
	}
	ctx, watch := c.watched(ctx)
	defer watch.stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url.String(), nil)
	if err != nil {
		return Content{}, local(rq.op, errUnreadable)
	}
	req.Header["User-Agent"] = []string{c.agent}
	req.Header["Authorization"] = []string{string(bearer) + tok.Reveal()}

	hidden := c.hidden(tok, rq)
	res, err := c.http.Do(req)
	if err != nil {
		return Content{}, lost(rq.op, hidden.cause(interrupted(ctx, err)), true)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e := noContent(rq, res)
		e.tidy(hidden)
		return Content{}, e
	}
	n, err := transfer(w, watch.receiving(res.Body), limit)
	if err, ok := err.(torn); ok {
		return Content{}, lost(rq.op, hidden.cause(interrupted(ctx, err.error)), true)
	}
	if err == ErrTooLarge {
		return Content{}, tooLarge(rq.op)
	}
	return Content{MIME: firstOf(res.Header.Get("Content-Type"), m.MIME), Size: n}, err
}

// noContent reads the refusal of a download.
func noContent(rq call, res *http.Response) *Error {
	body, _ := readBody(res, answerLimit) // what cannot be read explains nothing
	e := parseFailure(rq, res.StatusCode, body)
	if res.StatusCode == http.StatusNotFound && e.Code == NoCode {
		e.cause = errGone
	}
	e.RetryAfter = pause(res.Header, time.Now())
	return e
}

// tooLarge is final: the media will not shrink.
func tooLarge(op string) *Error {
	return &Error{Op: op, Fault: Fault{Code: NoCode}, Class: Class{Code: mediaDownload}, Outcome: Done, cause: ErrTooLarge}
}

// torn is an error of the reading side.
type torn struct{ error }

// transfer copies at most limit bytes and tells whose fault an error is.
func transfer(w io.Writer, r io.Reader, limit int64) (n int64, err error) {
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
			return n, torn{rerr}
		}
	}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
