package provider

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// UploadHandle uploads the example of a template's header and returns its header_handle.
func (c *Client) UploadHandle(ctx context.Context, tok Token, f File) (string, error) {
	// Sessions belong to the app, not to an account.
	rq := post("start upload", c.appID, "uploads", nil)
	rq.query = url.Values{"file_name": {f.Name}, "file_length": {strconv.FormatInt(f.Size, 10)}, "file_type": {f.MIME}}
	rq.reclassify = reclassifyMissing
	if c.appID == "" {
		return "", notSentError(rq.op, errNoApp)
	}

	var session struct {
		envelope
		ID string `json:"id"`
	}
	rq.check = func() error { return requireKey("upload id", strings.HasPrefix(session.ID, "upload:")) }
	if err := c.do(ctx, tok, rq, &session); err != nil {
		return "", err
	}
	return c.uploadContent(ctx, tok, session.ID, f)
}

// uploadContent sends the content of a session and returns the handle. The session's id holds a
// colon and often a query, with a signature that must be sent back as it is.
func (c *Client) uploadContent(ctx context.Context, tok Token, session string, f File) (string, error) {
	ctx, stall := c.withStallTimer(ctx)
	defer stall.stop()

	id, query, _ := strings.Cut(session, "?")
	rq := call{op: "upload", method: http.MethodPost, id: id, auth: oauth, limit: answerLimit, reclassify: reclassifyMissing}
	rq.query, _ = url.ParseQuery(query)
	rq.header = map[string]string{"file_offset": "0"}
	rq.stream = &stream{
		size: f.Size,
		mime: "application/octet-stream",
		open: func() io.Reader { return stall.trackSending(io.NewSectionReader(f.Content, 0, f.Size)) },
	}

	var a struct {
		envelope
		Handle string `json:"h"`
	}
	rq.check = func() error { return requireKey("h", a.Handle != "") }
	err := c.exchange(ctx, tok, rq, &a)
	return a.Handle, err
}
