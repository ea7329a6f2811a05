package provider

import (
	"bytes"
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
)

// File is a file to upload. It is read from the start again when a connection
// has to be replaced.
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

// Matches reports whether content with this hash is what the provider described.
// If the provider gave no readable hash, any content matches.
func (m Media) Matches(sum [sha256.Size]byte) bool {
	want, err := hex.DecodeString(m.SHA256)
	if err != nil {
		want, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(m.SHA256, "="))
	}
	return err != nil || len(want) != sha256.Size || bytes.Equal(want, sum[:])
}

type uploadAnswer struct {
	envelope
	ID ID `json:"id"`
}

func (a *uploadAnswer) check() error { return requireKey("id", a.ID != "") }

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

	var a uploadAnswer
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

type mediaAnswer struct {
	envelope
	URL    string `json:"url"`
	MIME   string `json:"mime_type"`
	SHA256 string `json:"sha256"`
	Size   Int    `json:"file_size"`
}

func (a *mediaAnswer) check() error { return requireKey("url", a.URL != "") }

// lookupMedia finds where media can be downloaded for the next five minutes.
// With a phoneNumberID only media of that number is found.
func (c *Client) lookupMedia(ctx context.Context, tok Token, id, phoneNumberID string) (Media, error) {
	rq := get("look up media", id, "")
	rq.reclassify = reclassifyMissing
	if phoneNumberID != "" {
		rq.query = url.Values{"phone_number_id": {phoneNumberID}}
	}

	var a mediaAnswer
	if err := c.do(ctx, tok, rq, &a); err != nil {
		return Media{}, err
	}

	at, err := url.Parse(a.URL)
	if err != nil || !c.trusted(at) {
		return Media{}, unreadableError(rq.op, http.StatusOK, missingKey("usable url"))
	}
	return Media{MIME: a.MIME, SHA256: a.SHA256, Size: int64(a.Size), url: at}, nil
}

// trusted reports whether a token may be sent to an address that the provider
// named: one with https, or the host that all calls go to.
func (c *Client) trusted(at *url.URL) bool {
	if at.Host == "" || at.User != nil {
		return false
	}
	return at.Scheme == "https" || at.Scheme == c.base.Scheme && at.Host == c.base.Host
}
