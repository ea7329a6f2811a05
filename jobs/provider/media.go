package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"confab/jobs/errorcode"
)

// File is a file to upload, which is read again when a connection has to be replaced.
type File struct {
	Name    string
	MIME    string
	Size    int64
	Content io.ReaderAt
}

// Media is the result of a lookup. Only lookupMedia makes one that can be
// downloaded, so that a token is never sent to an address from elsewhere.
type Media struct {
	MIME   string // as the download says, or else the lookup
	SHA256 string // hexadecimal or base64: the provider uses both
	Size   int64  // 0 if unknown
	url    *url.URL
}

// Matches reports whether content with this hash, in hexadecimal, is what the provider described.
// If the provider gave no readable hash, any content matches.
func (m Media) Matches(sum string) bool {
	want, err := hex.DecodeString(m.SHA256)
	if err != nil {
		want, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(m.SHA256, "="))
	}
	return err != nil || len(want) != sha256.Size || hex.EncodeToString(want) == sum
}

// UploadMedia stores a file at the provider for 30 days and returns its id. The answer is kept as
// it came where keep is not nil.
func (c *Client) UploadMedia(ctx context.Context, tok Token, phoneNumberID string, f File, keep *Answer) (string, error) {
	rq := post("upload media", phoneNumberID, "media", nil)
	rq.keep = keep
	head, tail, boundary, err := formParts(f)
	if err != nil {
		return "", notSentError(rq.op, err)
	}

	ctx, stall := c.withStallTimer(ctx)
	defer stall.stop()

	rq.stream = &stream{
		size: int64(len(head)) + f.Size + int64(len(tail)),
		mime: "multipart/form-data; boundary=" + boundary,
		open: func() io.Reader {
			content := io.NewSectionReader(f.Content, 0, f.Size)
			return stall.trackSending(io.MultiReader(bytes.NewReader(head), content, bytes.NewReader(tail)))
		},
	}

	var a struct {
		envelope
		ID ID `json:"id"`
	}
	rq.check = func() error { return requireKey("id", a.ID != "") }
	if err := c.exchange(ctx, tok, rq, &a); err != nil {
		return "", err
	}
	return string(a.ID), nil
}

// formParts writes what precedes and follows the content in a multipart body.
// The content itself can then be streamed, and the whole length is known before.
func formParts(f File) (head, tail []byte, boundary string, err error) {
	if _, _, err := mime.ParseMediaType(f.MIME); err != nil {
		return nil, nil, "", err
	}

	// Errors are not checked: writing to a buffer does not fail.
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.WriteField("messaging_product", theirProduct)
	w.WriteField("type", f.MIME)
	w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("file", f.Name)},
		"Content-Type":        {f.MIME},
	})

	cut := b.Len()
	w.Close()

	return b.Bytes()[:cut], b.Bytes()[cut:], w.Boundary(), nil
}

// lookupMedia finds where media can be downloaded for the next five minutes.
// With a phoneNumberID only media of that number is found.
func (c *Client) lookupMedia(ctx context.Context, tok Token, id, phoneNumberID string) (Media, error) {
	rq := get("look up media", id, "")
	rq.reclassify = reclassifyMissing
	if phoneNumberID != "" {
		rq.query = url.Values{"phone_number_id": {phoneNumberID}}
	}

	var a struct {
		envelope
		URL    string `json:"url"`
		MIME   string `json:"mime_type"`
		SHA256 string `json:"sha256"`
		Size   Int    `json:"file_size"`
	}
	rq.check = func() error { return requireKey("url", a.URL != "") }
	if err := c.do(ctx, tok, rq, &a); err != nil {
		return Media{}, err
	}

	// The token goes only to an address with https, or to the host that all calls go to.
	at, err := url.Parse(a.URL)
	isOurs := err == nil && at.Scheme == c.base.Scheme && at.Host == c.base.Host
	if err != nil || at.Host == "" || at.User != nil || at.Scheme != "https" && !isOurs {
		return Media{}, unreadableError(rq.op, http.StatusOK, requireKey("usable url", false))
	}
	return Media{MIME: a.MIME, SHA256: a.SHA256, Size: int64(a.Size), url: at}, nil
}

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

// readError marks an error of the reader in copyLimited, not of the writer.
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
