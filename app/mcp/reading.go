package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// pageSize is how many items a list has at the most.
const pageSize = 25

// fetch fetches a page of a list of the API.
func fetch[T any](ctx context.Context, c *Client, path string, a arguments, query url.Values) ([]T, *string, error) {
	query.Set("limit", strconv.Itoa(pageSize))
	if cursor := a.text("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	var items []T
	answer, err := c.do(ctx, call{method: "GET", path: path, query: query}, &items)
	return items, answer.NextCursor, err
}

// shaped is a page whose items are shown in another shape. Each gets its share of the page.
func shaped[From, To any](items []From, next *string, shape func(From, int) To) list[To] {
	out := list[To]{Items: make([]To, len(items)), NextCursor: next}
	for i, item := range items {
		out.Items[i] = shape(item, len(items))
	}
	return out
}

// asItIs shows an item as the API does, as far as its type has fields.
func asItIs[T any](item T, _ int) T { return item }

func listNumbers(ctx context.Context, c *Client, a arguments) (any, error) {
	items, next, err := fetch[number](ctx, c, "/accounts", a, url.Values{})
	return shaped(items, next, asItIs), err
}

func listConversations(ctx context.Context, c *Client, a arguments) (any, error) {
	query := url.Values{}
	for from, to := range map[string]string{"label_id": "label_id", "user_id": "assigned_to", "contact_id": "contact_id"} {
		if value := a.text(from); value != "" {
			query.Set(to, value)
		}
	}
	items, next, err := fetch[theirConversation](ctx, c, path(a.text("phone_number_id"), "conversations"), a, query)
	return shaped(items, next, theirConversation.shape), err
}

// readConversation shows a conversation and a page of its messages, newest first.
func readConversation(ctx context.Context, c *Client, a arguments) (any, error) {
	var found theirConversation
	number, id := a.text("phone_number_id"), a.text("conversation_id")
	if _, err := c.do(ctx, call{method: "GET", path: path(number, "conversations", id)}, &found); err != nil {
		return nil, err
	}

	messages, err := listMessages(ctx, c, a, url.Values{"conversation_id": {id}})
	return struct {
		Conversation conversation  `json:"conversation"`
		Messages     list[message] `json:"messages"`
	}{found.shape(1), messages}, err
}

func searchMessages(ctx context.Context, c *Client, a arguments) (any, error) {
	return listMessages(ctx, c, a, url.Values{"search": {a.text("query")}})
}

// listMessages fetches a page of messages.
func listMessages(ctx context.Context, c *Client, a arguments, query url.Values) (list[message], error) {
	items, next, err := fetch[json.RawMessage](ctx, c, path(a.text("phone_number_id"), "messages"), a, query)
	if err != nil {
		return list[message]{}, err
	}

	out := list[message]{Items: make([]message, len(items)), NextCursor: next}
	for i, item := range items {
		if out.Items[i], err = shapeMessage(item, len(items)); err != nil {
			return out, err
		}
	}
	return out, nil
}

func findContact(ctx context.Context, c *Client, a arguments) (any, error) {
	items, next, err := fetch[theirContact](ctx, c, path(a.text("phone_number_id"), "contacts"), a, url.Values{"search": {a.text("query")}})
	return shaped(items, next, theirContact.shape), err
}

func listTemplates(ctx context.Context, c *Client, a arguments) (any, error) {
	type theirs struct {
		template
		Variables []string `json:"variables"`
	}
	items, next, err := fetch[theirs](ctx, c, path(a.text("phone_number_id"), "templates"), a, url.Values{})
	return shaped(items, next, func(t theirs, _ int) template {
		t.Parameters = t.Variables
		return t.template
	}), err
}

func listDeliveries(ctx context.Context, c *Client, a arguments) (any, error) {
	items, next, err := fetch[delivery](ctx, c, "/webhook_deliveries", a, url.Values{})
	return shaped(items, next, asItIs), err
}
