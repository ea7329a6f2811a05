package main

import (
	"context"
	"encoding/json"
	"fmt"
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

// callUntilAnswered repeats a request until it is answered: the server may be down, or
// its disk full. It does not stop when the trial ends, because then it would be unknown
// whether the request was carried out.
func (c *client) callUntilAnswered(r rig.Request) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for ; ; time.Sleep(20 * time.Millisecond) {
		status, text, err := c.Do(ctx, r)
		a = answer{status: status}
		if err == nil {
			err = json.Unmarshal(text, &a.body)
		}

		switch {
		case ctx.Err() != nil:
			return a, fmt.Errorf("%s %s was never answered: %d %.200q: %w", r.Method, r.Path, status, text, err)
		case err == nil && a.body.Error.Code != "service_unavailable" && a.body.Error.Code != "idempotency_in_progress":
			return a, nil
		}
	}
}

// call repeats a request until it is answered, fails unless the answer is a success, and
// reads its data into out, unless that is nil.
func (c *client) call(r rig.Request, out any) error {
	_, err := c.callAllowing("", r, out)
	return err
}

// notFound is the code of the error that something does not exist.
const notFound = "resource_not_found"

// callAllowing is call for a request that may be refused with one error, and says whether
// it was.
func (c *client) callAllowing(code string, r rig.Request, out any) (isRefused bool, err error) {
	a, err := c.callUntilAnswered(r)
	switch {
	case err != nil:
		return false, err
	case a.status >= 300 && a.body.Error.Code == code:
		return true, nil
	case a.status >= 300:
		return false, fmt.Errorf("%s %s: %d %s: %s (%.300s)", r.Method, r.Path, a.status, a.body.Error.Code, a.body.Error.Message, r.Body)
	case out == nil:
		return false, nil
	}
	return false, json.Unmarshal(a.body.Data, out)
}

// get reads something.
func (c *client) get(path string, out any) error {
	return c.call(rig.Request{Method: "GET", Path: path}, out)
}

// post makes or changes something.
func (c *client) post(path, body, idempotency string, out any) error {
	return c.call(rig.Request{Method: "POST", Path: path, Body: body, IdempotencyKey: idempotency}, out)
}

// list returns all items of a list, page by page. The path has a query.
func list[T any](c *client, path string) (all []T, err error) {
	for next := ""; ; {
		a, err := c.callUntilAnswered(rig.Request{Method: "GET", Path: path + next})
		if err != nil {
			return nil, err
		}

		var page []T
		if err := json.Unmarshal(a.body.Data, &page); err != nil {
			return nil, fmt.Errorf("GET %s: %d %s: %w", path, a.status, a.body.Error.Code, err)
		}
		all = append(all, page...)
		if a.body.NextCursor == nil {
			return all, nil
		}
		next = "&cursor=" + *a.body.NextCursor
	}
}
