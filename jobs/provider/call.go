package provider

import (
	"bytes"
	"context"
	"encoding/json"
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
	secrets secrets      // besides the token
	keep    *Answer      // where the answer is kept as it came; nil if it is not
	check   func() error // that the decoded answer has what we need; nil if nothing is

	// noProof leaves out appsecret_proof: the app's own token holds the secret.
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

// encode writes JSON of texts and what is made of them, which always can be encoded.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

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

	// For net/http a body with a length of 0 is one of unknown length.
	if s.size == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}

	if s.mime != "" {
		req.Header["Content-Type"] = []string{s.mime}
	}
}

// callURL is the URL of a call. An id is escaped, so that it stays one path segment.
func (c *Client) callURL(tok Token, rq call) string {
	at, query := c.root+"/"+url.PathEscape(rq.id), rq.query.Encode()
	if rq.edge != "" {
		at += "/" + rq.edge
	}
	if rq.auth != anonymous && !rq.noProof && !c.secret.IsZero() {
		query = strings.TrimPrefix(query+"&appsecret_proof="+c.proof(tok), "&")
	}
	if query == "" {
		return at
	}
	return at + "?" + query
}

// isValidToken reports whether a token can be sent in a header.
func isValidToken(tok Token) bool {
	return !tok.IsZero() && !strings.ContainsFunc(tok.Reveal(), func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// readBody reads an answer up to its limit.
func readBody(res *http.Response, limit int64) ([]byte, error) {
	// One byte more than allowed shows that the answer goes on.
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errOversized
	}
	return body, err
}

const (
	pageSize = "100"
	// maxPages ends a list whose pages never end.
	maxPages = 1000
)

type page[T any] struct {
	envelope
	Data   []T `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
		Next string `json:"next"`
	} `json:"paging"`
}

func (p *page[T]) requireData() error { return requireKey("data", p.Data != nil) }

// next returns the cursor of the following page, and whether there is such a
// page. The address in the answer is not used: our token must not go to an
// address that an answer names.
func (p *page[T]) next() (cursor string, more bool) {
	if p.Paging.Next == "" {
		return "", false
	}

	if p.Paging.Cursors.After != "" {
		return p.Paging.Cursors.After, true
	}

	// Some answers name the cursor only in the address of the next page.
	if u, err := url.Parse(p.Paging.Next); err == nil {
		cursor = u.Query().Get("after")
	}
	return cursor, true
}

// list reads the items of all pages. If a page cannot be read, there is no list: an incomplete
// one must not look like a short one.
func list[T any](ctx context.Context, c *Client, tok Token, rq call) ([]T, error) {
	rq.limit = pageLimit
	rq.query.Set("limit", pageSize)

	all := []T{}
	for range maxPages {
		var p page[T]
		rq.check = p.requireData
		if err := c.do(ctx, tok, rq, &p); err != nil {
			return nil, err
		}
		all = append(all, p.Data...)

		// A cursor that does not move would make us read the same page for ever.
		cursor, more := p.next()
		if !more {
			return all, nil
		}
		if cursor == "" || cursor == rq.query.Get("after") {
			break
		}
		rq.query.Set("after", cursor)
	}
	return nil, unreadableError(rq.op, http.StatusOK, requireKey("end of the list", false))
}
