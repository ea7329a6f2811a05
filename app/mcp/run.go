package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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

// idempotencyKey is what the API takes and a header can carry: blanks around it would get lost.
var idempotencyKey = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)

const maxIdempotencyKey = 255

// send sends to a contact that exists: a number is never taken from a model.
func send(ctx context.Context, c *Client, a arguments, content map[string]any) (any, error) {
	var to theirContact
	number, id := a.text("phone_number_id"), a.text("contact_id")
	if _, err := c.do(ctx, call{method: "GET", path: path(number, "contacts", id)}, &to); err != nil {
		return nil, err
	}

	key := a.text("idempotency_key")
	if !idempotencyKey.MatchString(key) || len(key) > maxIdempotencyKey {
		const rule = "idempotency_key must have 1 to 255 printable ASCII characters, without spaces at the ends."
		return nil, refuse("invalid_field_value", "idempotency_key", rule)
	}

	content["messaging_product"] = "chat"
	if to.PhoneNumber != nil {
		content["to"] = *to.PhoneNumber
	} else if id := cmp.Or(to.BSUID, to.ParentBSUID); id != nil {
		content["recipient"] = *id
	}

	var made message
	post := call{method: "POST", path: path(number, "messages"), body: content, idempotencyKey: key}
	_, err := c.do(ctx, post, &made)
	return struct {
		MessageID      string `json:"message_id"`
		ConversationID string `json:"conversation_id"`
		ContactID      string `json:"contact_id"`
		Status         string `json:"status"`
	}{made.ID, made.ConversationID, made.ContactID, made.Status}, err
}

func sendText(ctx context.Context, c *Client, a arguments) (any, error) {
	return send(ctx, c, a, map[string]any{"type": "text", "text": map[string]any{"body": a.text("text")}})
}

func sendTemplate(ctx context.Context, c *Client, a arguments) (any, error) {
	template := map[string]any{"name": a.text("template"), "language": map[string]any{"code": a.text("language")}}
	components, err := templateComponents(a["parameters"])
	if err != nil {
		return nil, err
	}
	if components != nil {
		template["components"] = components
	}
	return send(ctx, c, a, map[string]any{"type": "template", "template": template})
}

// templateComponents makes the components of a template of its parameters: a list of texts
// for the variables of the body in their order, an object for those that have names, or the
// components themselves.
func templateComponents(given json.RawMessage) (any, error) {
	type parameter struct {
		Type string `json:"type"`
		Name string `json:"parameter_name,omitempty"`
		Text string `json:"text"`
	}
	type component struct {
		Type       string      `json:"type"`
		Parameters []parameter `json:"parameters"`
	}
	body := component{Type: "body"}

	var inOrder []string
	var byName map[string]string
	var whole []map[string]any
	switch {
	case len(given) == 0:
		return nil, nil
	case json.Unmarshal(given, &inOrder) == nil:
		for _, text := range inOrder {
			body.Parameters = append(body.Parameters, parameter{Type: "text", Text: text})
		}
	case json.Unmarshal(given, &byName) == nil:
		for name, text := range byName {
			body.Parameters = append(body.Parameters, parameter{Type: "text", Name: name, Text: text})
		}
		slices.SortFunc(body.Parameters, func(a, b parameter) int { return strings.Compare(a.Name, b.Name) })
	case json.Unmarshal(given, &whole) == nil:
		return whole, nil
	default:
		return nil, refuse("invalid_field_value", "parameters",
			"parameters must be a list of strings, an object of strings, or a list of components.")
	}

	if len(body.Parameters) == 0 {
		return nil, nil
	}
	return []component{body}, nil
}

func labelContact(ctx context.Context, c *Client, a arguments) (any, error) {
	var out struct {
		ContactID string `json:"contact_id"`
		LabelID   string `json:"label_id"`
		Attached  bool   `json:"attached"`
	}
	at := path(a.text("phone_number_id"), "contacts", a.text("contact_id"), "labels")
	_, err := c.do(ctx, call{method: "POST", path: at, body: map[string]any{"label_id": a.text("label_id")}}, &out)
	return out, err
}

// changeConversation runs a tool that changes a field of a conversation and shows it.
func changeConversation(field string, value func(arguments) string) runner {
	return func(ctx context.Context, c *Client, a arguments) (any, error) {
		var out theirConversation
		at := path(a.text("phone_number_id"), "conversations", a.text("conversation_id"))
		_, err := c.do(ctx, call{method: "PATCH", path: at, body: map[string]any{field: value(a)}}, &out)
		return out.shape(1), err
	}
}

func handOver(ctx context.Context, c *Client, a arguments) (any, error) {
	var out theirConversation
	body := map[string]any{"to": map[string]any{"type": "none"}}
	if user := a.text("user_id"); user != "" {
		body["to"] = map[string]any{"type": "user", "id": user}
	}
	if note := a.text("note"); note != "" {
		body["note"] = note
	}
	at := path(a.text("phone_number_id"), "conversations", a.text("conversation_id"), "hand_over")
	_, err := c.do(ctx, call{method: "POST", path: at, body: body}, &out)
	return out.shape(1), err
}

func addNote(ctx context.Context, c *Client, a arguments) (any, error) {
	var out struct {
		ID             string `json:"id"`
		ConversationID string `json:"conversation_id"`
	}
	at := path(a.text("phone_number_id"), "conversations", a.text("conversation_id"), "notes")
	_, err := c.do(ctx, call{method: "POST", path: at, body: map[string]any{"text": a.text("text")}}, &out)
	return struct {
		NoteID         string `json:"note_id"`
		ConversationID string `json:"conversation_id"`
	}{out.ID, out.ConversationID}, err
}

func replayDelivery(ctx context.Context, c *Client, a arguments) (any, error) {
	var out struct {
		delivery
		ReplayedFrom *string `json:"replayed_from"`
	}
	_, err := c.do(ctx, call{method: "POST", path: path("webhook_deliveries", a.text("delivery_id"), "replay")}, &out)
	return out, err
}
