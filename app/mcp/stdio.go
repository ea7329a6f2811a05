package mcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long the end of the input waits for what was asked before it.
const lastAnswers = 30 * time.Second

// Stdio is the protocol over standard input and output. What was asked before the input
// ended is answered: a script that pipes its questions closes it at once.
type Stdio struct{ mcp.StdioTransport }

// Connect implements mcp.Transport.
func (t *Stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.StdioTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConnection{Connection: c, answered: make(chan struct{}, 1)}, nil
}

// countedConnection is a connection that counts what is asked and not answered yet.
type countedConnection struct {
	mcp.Connection
	answered chan struct{} // something was, since somebody looked

	mu   sync.Mutex
	open int
}

// Read implements mcp.Connection.
func (c *countedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if asked, ok := message.(*jsonrpc.Request); ok && asked.IsCall() {
		c.count(1)
	}
	if errors.Is(err, io.EOF) {
		c.awaitAnswers(ctx)
	}
	return message, err
}

// Write implements mcp.Connection.
func (c *countedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.count(-1)
		select {
		case c.answered <- struct{}{}:
		default: // somebody will look anyway
		}
	}
	return err
}

// count adds to what is open, and returns how much is.
func (c *countedConnection) count(by int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += by
	return c.open
}

// awaitAnswers waits until all is answered, for a while.
func (c *countedConnection) awaitAnswers(ctx context.Context) {
	late := time.NewTimer(lastAnswers)
	defer late.Stop()
	for c.count(0) > 0 {
		select {
		case <-c.answered:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
