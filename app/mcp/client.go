package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxAnswer is how much of an answer of the API is read. Its pages are smaller.
const maxAnswer = 32 << 20

// Client calls the API as one caller.
type Client struct {
	HTTP *http.Client
	Base string // URL of the API, /v1 included
	Key  string // API key; "" where the connection itself says who calls
}

// Refusal is why the API, or a tool in its manner, refused a call.
type Refusal struct {
	Type      string `json:"type"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Param     string `json:"param,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// refuse is a refusal of a tool itself, with a code of the API.
func refuse(code, param, message string) *Refusal {
	kind := "invalid_request_error"
	if code == "resource_not_found" {
		kind = "not_found"
	}
	return &Refusal{Type: kind, Code: code, Param: param, Message: message}
}

type call struct {
	method, path   string
	query          url.Values
	body           any
	idempotencyKey string
}

type envelope struct {
	Data       json.RawMessage `json:"data"`
	NextCursor *string         `json:"next_cursor"`
	Error      *Refusal        `json:"error"`
}

// do calls the API and reads what it answers into data.
func (c *Client) do(ctx context.Context, one call, data any) (envelope, error) {
	var answer envelope
	request, err := c.request(ctx, one)
	if err != nil {
		return answer, err
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return answer, &Refusal{Type: "api_error", Code: "service_unavailable", Message: "Could not reach confab: " + err.Error()}
	}
	defer response.Body.Close()

	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil || answer.Data == nil && answer.Error == nil {
		why := "This does not look like confab: HTTP " + response.Status
		return answer, &Refusal{Type: "api_error", Code: "internal_error", Message: why}
	}
	if answer.Error != nil {
		return answer, answer.Error
	}
	return answer, json.Unmarshal(answer.Data, data)
}

func (c *Client) request(ctx context.Context, one call) (*http.Request, error) {
	var body io.Reader
	if one.body != nil {
		text, err := json.Marshal(one.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}

	at := c.Base + one.path
	if len(one.query) > 0 {
		at += "?" + one.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, one.method, at, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", one.method, one.path, err)
	}

	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "confab-mcp")
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if one.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", one.idempotencyKey)
	}
	return request, nil
}

// path joins the parts of a path below /v1. A caller's value is one part, with any characters.
func path(parts ...string) string {
	at := ""
	for _, part := range parts {
		at += "/" + url.PathEscape(part)
	}
	return at
}
