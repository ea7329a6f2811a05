package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// authScheme is how a call presents its token.
type authScheme string

const (
	bearer    authScheme = "Bearer "
	oauth     authScheme = "OAuth " // what the documentation of uploads asks for
	anonymous authScheme = ""
)

// call is one request, without the token.
type call struct {
	op     string
	method string
	id     string // of the addressed object, the first path segment
	edge   string // path behind it
	query  url.Values
	auth   authScheme
	limit  int64 // of the answer, in bytes

	body    []byte // JSON, when not empty
	stream  *stream
	header  map[string]string
	secrets secrets // besides the token

	// noProof leaves out the proof, for the app's own token, which holds the
	// secret already.
	noProof bool
	// reclassify is for calls at which a code means something else than usual.
	reclassify func(Fault, Class) Class
}

// reclassifyMissing is for objects that may vanish without the account being lost, as
// media and templates do.
func reclassifyMissing(f Fault, usual Class) Class {
	if f.missing() {
		return Class{Code: upstreamError}
	}
	return usual
}

// stream is a body that is not held in memory. It can be opened again, for a
// connection that turns out dead before anything was written to it.
type stream struct {
	open func() io.Reader
	size int64
	mime string
}

func get(op, id, edge string) call {
	return call{op: op, method: http.MethodGet, id: id, edge: edge, auth: bearer, limit: answerLimit}
}

func post(op, id, edge string, body []byte) call {
	return call{op: op, method: http.MethodPost, id: id, edge: edge, auth: bearer, limit: answerLimit, body: body}
}

func remove(op, id, edge string) call {
	return call{op: op, method: http.MethodDelete, id: id, edge: edge, auth: bearer, limit: answerLimit}
}

// request builds the HTTP request of a call.
func (c *Client) request(ctx context.Context, tok Token, rq call) (*http.Request, error) {
	if rq.auth != anonymous && !isValidToken(tok) {
		return nil, errNoToken
	}
	if rq.id == "" || rq.id == "." || rq.id == ".." || len(rq.id) > 4096 {
		return nil, errors.New("not the id of an object")
	}
	var body io.Reader
	if len(rq.body) > 0 {
		body = bytes.NewReader(rq.body)
	}
	req, err := http.NewRequestWithContext(ctx, rq.method, c.callURL(tok, rq), body)
	if err != nil {
		return nil, err
	}
	req.Header["User-Agent"] = []string{c.agent}
	if rq.auth != anonymous {
		req.Header["Authorization"] = []string{string(rq.auth) + tok.Reveal()}
	}
	if body != nil {
		req.Header["Content-Type"] = []string{"application/json"}
	}
	for key, value := range rq.header {
		req.Header.Set(key, value)
	}
	if rq.stream != nil {
		rq.stream.attach(req)
	}
	return req, nil
}

func (s *stream) attach(req *http.Request) {
	req.ContentLength = s.size
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(s.open()), nil }
	req.Body = io.NopCloser(s.open())
	if s.size == 0 {
		req.Body, req.GetBody = http.NoBody, nil // with a length of 0 a body means "unknown"
	}
	if s.mime != "" {
		req.Header["Content-Type"] = []string{s.mime}
	}
}

// callURL is the URL of a call. An id is one path segment, whatever is in it.
func (c *Client) callURL(tok Token, rq call) string {
	var b strings.Builder
	b.WriteString(c.root)
	b.WriteByte('/')
	b.WriteString(url.PathEscape(rq.id))
	if rq.edge != "" {
		b.WriteByte('/')
		b.WriteString(rq.edge)
	}
	separator := byte('?')
	if len(rq.query) > 0 {
		b.WriteByte(separator)
		b.WriteString(rq.query.Encode())
		separator = '&'
	}
	if rq.auth != anonymous && !rq.noProof && !c.secret.IsZero() {
		b.WriteByte(separator)
		b.WriteString("appsecret_proof=")
		b.WriteString(c.proof(tok))
	}
	return b.String()
}

// isValidToken reports whether a token can stand in a header.
func isValidToken(tok Token) bool {
	for _, r := range tok.Reveal() {
		if r <= ' ' || r >= 0x7f {
			return false
		}
	}
	return !tok.IsZero()
}

// readBody reads an answer up to its limit.
func readBody(res *http.Response, limit int64) ([]byte, error) {
	if res.ContentLength > limit {
		return nil, errOversized
	}
	var b bytes.Buffer
	b.Grow(int(max(res.ContentLength, 0)) + bytes.MinRead) // room to see the end without growing
	_, err := b.ReadFrom(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(b.Len()) > limit {
		err = errOversized
	}
	return b.Bytes(), err
}

// formatInt writes a whole number for a query or a header.
func formatInt(n int64) string { return strconv.FormatInt(n, 10) }
