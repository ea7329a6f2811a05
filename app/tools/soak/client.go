package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"confab/app/tools/rig"
)

// client calls the API for one tenant.
type client struct{ rig.Client }

func newClient(base, key string) *client {
	return &client{rig.Client{Base: base + "/v1", Key: key, Timeout: 5 * time.Second}}
}

// answer is an answer of the API.
type answer struct {
	status int
	body   struct {
		Data       json.RawMessage `json:"data"`
		NextCursor *string         `json:"next_cursor"`
		Error      struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
}

// call makes one request; an error means that there was no answer.
func (c *client) call(ctx context.Context, r rig.Request) (a answer, err error) {
	status, text, err := c.Do(ctx, r)
	if err != nil {
		return a, err
	}

	a.status = status
	if err := json.Unmarshal(text, &a.body); err != nil {
		return a, fmt.Errorf("%s %s answered %d %.200q", r.Method, r.Path, status, text)
	}
	return a, nil
}

// callUntilAnswered repeats a request until it is answered: the server may be down, or
// its disk full. It does not give up when the trial ends, because then nobody would know
// whether the request was carried out.
func (c *client) callUntilAnswered(method, path, body, idempotency string) (answer, error) {
	return c.repeat(rig.Request{Method: method, Path: path, Body: body, IdempotencyKey: idempotency})
}

// repeat is callUntilAnswered for any request.
func (c *client) repeat(r rig.Request) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		a, err := c.call(ctx, r)

		switch {
		case ctx.Err() != nil:
			return a, fmt.Errorf("%s %s was never answered: %w", r.Method, r.Path, err)
		case err == nil && a.body.Error.Code != "service_unavailable" && a.body.Error.Code != "idempotency_in_progress":
			return a, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// callOK repeats a request until it is answered, fails unless the answer is a success,
// and reads its data.
func (c *client) callOK(method, path, body, idempotency string, out any) error {
	a, err := c.callUntilAnswered(method, path, body, idempotency)
	switch {
	case err != nil:
		return err
	case a.status >= 300:
		return fmt.Errorf("%s %s: %d %s: %s (%.300s)", method, path, a.status, a.body.Error.Code, a.body.Error.Message, body)
	case out == nil:
		return nil
	}
	return json.Unmarshal(a.body.Data, out)
}

// eachItem calls visit with every item of a list, page by page.
func (c *client) eachItem(path string, visit func(json.RawMessage) error) error {
	next := ""
	for {
		a, err := c.callUntilAnswered("GET", path+next, "", "")
		if err != nil {
			return err
		}
		if a.status != http.StatusOK {
			return fmt.Errorf("GET %s: %d %s", path, a.status, a.body.Error.Code)
		}

		var page []json.RawMessage
		if err := json.Unmarshal(a.body.Data, &page); err != nil {
			return err
		}

		for _, item := range page {
			if err := visit(item); err != nil {
				return err
			}
		}

		if a.body.NextCursor == nil {
			return nil
		}
		next = "&cursor=" + *a.body.NextCursor
	}
}
