package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"confab/jobs/errorcode"
)

// authScheme is how a call presents its token.
type authScheme string

const (
	bearer    authScheme = "Bearer "
	oauth     authScheme = "OAuth " // what the documentation of uploads asks for
	anonymous authScheme = ""
)

// call describes one request to the provider, without the token.
type call struct {
	op     string // for errors: "send message"
	method string
	id     string // of the addressed object, the first path segment
	edge   string // path after it
	query  url.Values
	auth   authScheme
	limit  int64 // of the answer, in bytes

	body    []byte // JSON, when not empty
	stream  *stream
	header  map[string]string
	secrets secrets // besides the token
	keep    *Answer // where the answer is kept as it came; nil if it is not

	// noProof leaves out appsecret_proof, for the app's own token, which holds
	// the secret already.
	noProof bool
	// reclassify, when set, replaces the class of an error: for calls in which a
	// code means something else than usual.
	reclassify func(Fault, Class) Class
}

// reclassifyMissing makes a missing object a plain failure of the call. Media
// and templates may be deleted at any time; that says nothing of the account,
// while the same code elsewhere means that we lost access to it.
func reclassifyMissing(f Fault, usual Class) Class {
	if f.missing() {
		return Class{Code: errorcode.UpstreamError}
	}
	return usual
}

// stream is a request body that is not held in memory. It can be opened again,
// because net/http repeats a request when the connection turns out to be dead
// before anything was written to it.
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

// attach makes the stream the body of a request.
func (s *stream) attach(req *http.Request) {
	req.ContentLength = s.size
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(s.open()), nil }
	req.Body = io.NopCloser(s.open())

	// For net/http a body with a length of 0 is one of unknown length.
	if s.size == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}

	if s.mime != "" {
		req.Header["Content-Type"] = []string{s.mime}
	}
}

// callURL is the URL of a call. An id is escaped, so that it is always a single
// path segment.
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

// isValidToken reports whether a token can be sent in a header.
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
	b.Grow(int(max(res.ContentLength, 0)) + bytes.MinRead) // ReadFrom needs MinRead to see the end

	// One byte more than allowed shows that the answer goes on.
	_, err := b.ReadFrom(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(b.Len()) > limit {
		err = errOversized
	}

	return b.Bytes(), err
}
