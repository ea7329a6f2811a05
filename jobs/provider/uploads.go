package provider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxResumes is how often an interrupted upload is continued.
const maxResumes = 2

// UploadHandle uploads the example file of a template's header and returns the
// handle for example.header_handle. An interrupted upload is continued where the
// provider says that it stopped.
func (c *Client) UploadHandle(ctx context.Context, tok Token, f File) (string, error) {
	session, err := c.startUpload(ctx, tok, f)
	if err != nil {
		return "", err
	}

	handle, err := c.continueUpload(ctx, tok, session, f, 0)
	for range maxResumes {
		if !IsTransient(err) {
			break
		}

		offset, offsetErr := c.uploadOffset(ctx, tok, session)
		if offsetErr != nil {
			return "", offsetErr
		}
		handle, err = c.continueUpload(ctx, tok, session, f, offset)
	}

	return handle, err
}

type sessionAnswer struct {
	envelope
	ID     string `json:"id"`
	Offset *Int   `json:"file_offset"`
	start  bool   // the answer to startUpload has an id, all others an offset
}

func (a *sessionAnswer) check() error {
	switch {
	case a.start && !strings.HasPrefix(a.ID, "upload:"):
		return missingKey("upload id")
	case !a.start && (a.Offset == nil || *a.Offset < 0):
		return missingKey("file_offset")
	default:
		return nil
	}
}

// startUpload opens an upload session and returns its id. Sessions belong to
// the app, not to an account.
func (c *Client) startUpload(ctx context.Context, tok Token, f File) (session string, err error) {
	rq := post("start upload", c.appID, "uploads", nil)
	rq.query = url.Values{"file_name": {f.Name}, "file_length": {strconv.FormatInt(f.Size, 10)}, "file_type": {f.MIME}}
	rq.reclassify = reclassifyMissing

	if c.appID == "" {
		return "", notSentError(rq.op, errNoApp)
	}

	a := sessionAnswer{start: true}
	if err := c.do(ctx, tok, rq, &a); err != nil {
		return "", err
	}
	return a.ID, nil
}

// uploadOffset returns how many bytes of a session have arrived.
func (c *Client) uploadOffset(ctx context.Context, tok Token, session string) (int64, error) {
	var a sessionAnswer
	if err := c.do(ctx, tok, sessionCall("look up upload", http.MethodGet, session), &a); err != nil {
		return 0, err
	}
	return int64(*a.Offset), nil
}

type handleAnswer struct {
	envelope
	Handle string `json:"h"`
}

func (a *handleAnswer) check() error { return requireKey("h", a.Handle != "") }

// continueUpload sends the content of a session from an offset on, and returns
// the handle.
func (c *Client) continueUpload(ctx context.Context, tok Token, session string, f File, offset int64) (handle string, err error) {
	rq := sessionCall("upload", http.MethodPost, session)
	if offset < 0 || offset > f.Size {
		return "", notSentError(rq.op, fmt.Errorf("offset %d lies outside of a file of %d bytes", offset, f.Size))
	}

	ctx, stall := c.withStallTimer(ctx)
	defer stall.stop()

	rq.header = map[string]string{"file_offset": strconv.FormatInt(offset, 10)}
	rq.stream = &stream{
		size: f.Size - offset,
		mime: "application/octet-stream",
		open: func() io.Reader {
			return stall.trackSending(io.NewSectionReader(f.Content, offset, f.Size-offset))
		},
	}

	var a handleAnswer
	if err := c.exchange(ctx, tok, rq, &a); err != nil {
		return "", err
	}
	return a.Handle, nil
}

// sessionCall is a call to an upload session. The session's id holds a colon and
// often a query, with a signature that must be sent back as it is.
func sessionCall(op, method, session string) call {
	id, query, _ := strings.Cut(session, "?")
	rq := call{op: op, method: method, id: id, auth: oauth, limit: answerLimit, reclassify: reclassifyMissing}

	if !strings.HasPrefix(id, "upload:") {
		rq.id = "" // an id that Client.request refuses
	}
	rq.query, _ = url.ParseQuery(query)
	return rq
}
