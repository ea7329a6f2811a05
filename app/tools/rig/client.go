package rig

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client makes requests to one server.
type Client struct {
	Base string // goes before every path
	Key  string // of the API; "" for none
	// Timeout ends a request without an answer; 0 for no limit.
	Timeout time.Duration
	// Transport has the connections; nil for those that all clients share.
	Transport *http.Transport
}

// Request is one request. Only the first two fields are needed.
type Request struct{ Method, Path, Body, IdempotencyKey, ContentType, Cookie string }

// sharedTransport keeps as many connections as the busiest trial has callers.
var sharedTransport = &http.Transport{MaxIdleConnsPerHost: 64}

// Do makes one request, and returns the status and the body of its answer. An error means
// that there was none.
func (c Client) Do(ctx context.Context, r Request) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, c.Base+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return 0, nil, err
	}

	headers := map[string]string{"Idempotency-Key": r.IdempotencyKey, "Content-Type": r.ContentType, "Cookie": r.Cookie}
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}

	res, err := (&http.Client{Transport: cmp.Or(c.Transport, sharedTransport), Timeout: c.Timeout}).Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	text, err = io.ReadAll(res.Body)
	return res.StatusCode, text, err
}

// Call makes one request with a JSON body, which must succeed, and reads its answer into
// out unless that is nil.
func (c Client) Call(method, path, body string, out any) {
	c.Send(Request{Method: method, Path: path, Body: body, ContentType: "application/json"}, out)
}

// Send is Call for any request.
func (c Client) Send(r Request, out any) {
	status, text, err := c.Do(context.Background(), r)
	Check(err)
	Require(status < 300, "%s %s: %d %.300s", r.Method, r.Path, status, text)
	if out != nil {
		Check(json.Unmarshal(text, out))
	}
}
