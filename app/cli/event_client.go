package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"confab/jobs/queue"
)

const (
	// firstReconnect is the pause before the first try to connect again; each further one
	// is twice as long, up to longestReconnect.
	firstReconnect   = 250 * time.Millisecond
	longestReconnect = 10 * time.Second
	// silenceTimeout is how long a server may say nothing. It sends its position more often.
	silenceTimeout = 45 * time.Second
)

// sentEvent is one block of an event stream.
type sentEvent struct {
	id    string // the position; it stays until another is sent
	event string
	data  []byte
}

// eventClient follows the events of a server. It connects again when the connection is
// lost, and goes on after the last position that it was sent.
type eventClient struct {
	http   *http.Client
	url    string
	key    string // "" over the control socket
	last   string // the last position
	notify func(text string)
}

// errRefused means that the server has no stream for us, and will have none later.
var errRefused = errors.New("the server refused")

// follow hands every event to handle, until ctx ends, the server refuses, or handle fails.
func (c *eventClient) follow(ctx context.Context, handle func(sentEvent) error) error {
	greeting, trouble := "Listening. Ctrl-C stops it.", "Could not connect"
	wait, isLost := firstReconnect, false
	opened := func() {
		c.notify(greeting)
		greeting, trouble = "Listening again.", "Connection lost"
		wait, isLost = firstReconnect, false
	}

	for {
		var handleErr error
		err := c.connect(ctx, opened, func(e sentEvent) error {
			handleErr = handle(e)
			return handleErr
		})
		if handleErr != nil || errors.Is(err, errRefused) || ctx.Err() != nil {
			return cmp.Or(handleErr, err)
		}

		if !isLost {
			isLost = true
			c.notify(fmt.Sprintf("%s (%v). Retrying.", trouble, err))
		}
		if !queue.Pause(ctx, wait) {
			return ctx.Err()
		}
		wait = min(2*wait, longestReconnect)
	}
}

func (c *eventClient) connect(ctx context.Context, opened func(), handle func(sentEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(silenceTimeout, func() { cancel(errors.New("the server stopped responding")) })
	defer silence.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.last != "" {
		req.Header.Set("Last-Event-ID", c.last)
	}

	res, err := c.http.Do(req)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return refusal(res)
	}

	opened()
	err = readEventStream(res.Body, func(e sentEvent) error {
		silence.Reset(silenceTimeout)
		c.last = cmp.Or(e.id, c.last)
		if len(e.data) == 0 {
			return nil
		}
		return handle(e)
	})
	return cmp.Or(context.Cause(ctx), err, errors.New("the server closed the connection"))
}

// refusal is why a server opened no stream. Only what may be better later is no errRefused.
func refusal(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	message := errorMessage(text) // the control socket answers with plain text
	err := fmt.Errorf("%s: %s", res.Status, printable(cmp.Or(message, strings.TrimSpace(string(text)))))
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 {
		return err
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// errorMessage is the message in an error of the API or of the simulator; "" in any other text.
func errorMessage(text []byte) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &body)
	return body.Error.Message
}

// readEventStream hands over each block of server-sent events, also one that has only a position.
// Our servers send data on one line.
func readEventStream(from io.Reader, handle func(sentEvent) error) error {
	var e sentEvent
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a block that was cut off comes again
		}
		if err != nil {
			return err
		}

		name, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(": "))
		switch {
		case string(name) == "id":
			e.id = string(value)
		case string(name) == "event":
			e.event = string(value)
		case string(name) == "data":
			e.data = value
		case len(name)+len(value) == 0:
			if err := handle(e); err != nil {
				return err
			}
			e = sentEvent{id: e.id}
		}
	}
}
