package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is how long a request may be: a text of 4,096 characters and more.
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
		switch r.Header.Get("Mcp-Protocol-Version") { // the old ones have batches: thousands of calls at the price of one
		case "", "2024-11-05", "2025-03-26":
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), clientKey{}, client)))
	})
}

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

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }

// lastAnswers is how long the end of the input waits for what was asked before it.
const lastAnswers = 30 * time.Second

// Stdio is the protocol over standard input and output. A request made before the input
// ended is answered: a script that pipes its questions closes it at once.
type Stdio struct{ mcp.StdioTransport }

// Connect implements mcp.Transport.
func (t *Stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.StdioTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConnection{Connection: c}, nil
}

// countedConnection is a connection that counts requests not answered yet.
type countedConnection struct {
	mcp.Connection
	open atomic.Int64
}

// Read implements mcp.Connection.
func (c *countedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if asked, ok := message.(*jsonrpc.Request); ok && asked.IsCall() {
		c.open.Add(1)
	}
	if errors.Is(err, io.EOF) {
		// It looks now and then: that is soon enough for the end of the input, which comes once.
		for end := time.Now().Add(lastAnswers); c.open.Load() > 0 && ctx.Err() == nil && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
	}
	return message, err
}

// Write implements mcp.Connection.
func (c *countedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.open.Add(-1)
	}
	return err
}
