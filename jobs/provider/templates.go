package provider

import (
	"context"
	"encoding/json"
	"net/url"
)

// templateFields are the fields that every supported version of the API has: one
// unknown field would fail the whole call.
const templateFields = "id,name,language,status,category,components,parameter_format,rejected_reason"

// Template is a message template as the provider keeps it.
type Template struct {
	ID              ID              `json:"id"`
	Name            string          `json:"name"`
	Language        string          `json:"language"`
	Status          string          `json:"status"`
	Category        string          `json:"category"`
	ParameterFormat string          `json:"parameter_format"`
	RejectedReason  string          `json:"rejected_reason"`
	Components      json.RawMessage `json:"components"`
}

// Templates lists an account's templates, all or those with a name.
func (c *Client) Templates(ctx context.Context, tok Token, wabaID, name string) ([]Template, error) {
	rq := get("list templates", wabaID, "message_templates")
	rq.query = url.Values{"fields": {templateFields}}

	if name != "" {
		rq.query.Set("name", name)
	}
	return list[Template](ctx, c, tok, rq)
}

// CreateTemplate submits a template for review. The answer holds its id, its
// first status, and the category, which may not be the one that was asked for.
func (c *Client) CreateTemplate(ctx context.Context, tok Token, wabaID string, body []byte) (Template, error) {
	var a struct {
		envelope
		Template
	}
	rq := post("create template", wabaID, "message_templates", body)
	rq.check = func() error { return requireKey("id", a.ID != "") }
	err := c.do(ctx, tok, rq, &a)
	return a.Template, err
}

// EditTemplate replaces the components of a template and submits it again.
func (c *Client) EditTemplate(ctx context.Context, tok Token, id string, body []byte) error {
	rq := post("edit template", id, "", body)
	rq.reclassify = reclassifyMissing
	return c.order(ctx, tok, rq)
}

// DeleteTemplate deletes a template in one language.
func (c *Client) DeleteTemplate(ctx context.Context, tok Token, wabaID, name, id string) error {
	rq := remove("delete template", wabaID, "message_templates")
	rq.query = url.Values{"name": {name}, "hsm_id": {id}}
	return c.order(ctx, tok, rq)
}
