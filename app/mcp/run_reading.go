package mcp

import (
	"context"
	"net/url"
	"strconv"
)

// pageSize is how many items a list has at the most.
const pageSize = 25

// filters are the arguments of a tool that narrow a list, with the names that the API has for them.
type filters map[string]string

// listOf runs a tool that shows a page of a list of the API: of a number's, if the tool
// takes one. Each item is shown in another shape, with its share of the page.
func listOf[From, To any](resource string, shape func(item From, items int) To, by filters) runner {
	return func(ctx context.Context, c *Client, a arguments) (any, error) {
		return fetchList(ctx, c, a, resource, shape, by)
	}
}

// fetchList fetches a page of a list of the API and shapes its items.
func fetchList[From, To any](
	ctx context.Context, c *Client, a arguments, resource string, shape func(From, int) To, by filters,
) (list[To], error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor := a.text("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	for argument, name := range by {
		// The API refuses an empty search; any other empty text is as good as none.
		if value := a.text(argument); value != "" || name == "search" {
			query.Set(name, value)
		}
	}

	at := path(resource)
	if number := a.text("phone_number_id"); number != "" {
		at = path(number, resource)
	}
	var items []From
	answer, err := c.do(ctx, call{method: "GET", path: at, query: query}, &items)

	out := list[To]{Items: make([]To, len(items)), NextCursor: answer.NextCursor}
	for i, item := range items {
		out.Items[i] = shape(item, len(items))
	}
	return out, err
}

// asItIs shows an item as the API does, as far as its type has fields.
func asItIs[T any](item T, _ int) T { return item }

// readConversation shows a conversation and a page of its messages, newest first.
func readConversation(ctx context.Context, c *Client, a arguments) (any, error) {
	var found theirConversation
	at := path(a.text("phone_number_id"), "conversations", a.text("conversation_id"))
	if _, err := c.do(ctx, call{method: "GET", path: at}, &found); err != nil {
		return nil, err
	}

	messages, err := fetchList(ctx, c, a, "messages", theirMessage.shape, filters{"conversation_id": "conversation_id"})
	return struct {
		Conversation conversation  `json:"conversation"`
		Messages     list[message] `json:"messages"`
	}{found.shape(1), messages}, err
}
