package mcp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is how long a request of the protocol may be: a text of 4,096 characters and its
// surroundings.
const maxBody = 1 << 20

// Handler serves the protocol over HTTP: each POST is independent, with the key of the
// caller, and its tools call api on the way that every request takes. Access is
// checked before.
func Handler(o Options, api http.Handler) http.Handler {
	server := New(o, func(ctx context.Context) *Client { return ctx.Value(clientKey{}).(*Client) })
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless:                  true,
		JSONResponse:               true,
		MaxRequestBodyBytes:        maxBody,
		DisableLocalhostProtection: true, // the caller checks the host, by names that it knows
	})

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		client := &Client{HTTP: &http.Client{Transport: inProcess{api, r}}, Base: "http://confab/v1", Key: key}
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, client)))
	})
}

// clientKey is the key of the client in the context of a request.
type clientKey struct{}

// inProcess hands requests to a handler of this process, in the name of another request.
type inProcess struct {
	api  http.Handler
	from *http.Request
}

// RoundTrip answers one request.
func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr, r.Host = p.from.RemoteAddr, p.from.Host
	for _, name := range []string{"X-Forwarded-For", "User-Agent"} {
		if values := p.from.Header[name]; values != nil {
			r.Header[name] = values
		}
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}

	w := &recorder{header: make(http.Header), status: http.StatusOK}
	p.api.ServeHTTP(w, r)
	return &http.Response{
		Status:     http.StatusText(w.status),
		StatusCode: w.status,
		Header:     w.header,
		Body:       io.NopCloser(&w.body),
		Request:    r,
	}, nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }
