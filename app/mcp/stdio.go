package mcp

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
		c.awaitAnswers(ctx)
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

// awaitAnswers waits until all is answered, for a while. It looks now and then: that is soon
// enough for the end of the input, which comes once.
func (c *countedConnection) awaitAnswers(ctx context.Context) {
	for end := time.Now().Add(lastAnswers); c.open.Load() > 0 && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}
