package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A page of text is what a tool answers at the most: so many characters of what people
// wrote, shared by the items of the page, but at least a few for each.
const (
	pageOfText  = 16_000
	leastOfText = 200
)

// list is what tools that list answer.
type list[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// untrusted is a text that people wrote, cut where it is too long for its share of a page.
type untrusted struct {
	Text  string `json:"untrusted_text,omitempty"`
	IsCut bool   `json:"is_cut,omitempty"`
}

// cut keeps as much of a text as one of n items may have.
func cut(text string, n int) untrusted {
	most := max(leastOfText, pageOfText/max(n, 1))
	if runes := []rune(text); len(runes) > most {
		return untrusted{Text: string(runes[:most]) + "…", IsCut: true}
	}
	return untrusted{Text: text}
}

type number struct {
	PhoneNumberID *string `json:"phone_number_id"`
	PhoneNumber   *string `json:"phone_number"`
	Name          *string `json:"name"`
	Status        string  `json:"status"`
	StatusReason  *string `json:"status_reason,omitempty"`
}

type label struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// person is a contact, whose name is what it calls itself.
type person struct {
	ID          string  `json:"id"`
	PhoneNumber *string `json:"phone_number"`
	untrusted
}

// contact is a contact as tools show it: all that it calls itself in one text.
type contact struct {
	person
	Labels    []label `json:"labels,omitempty"`
	OptedOut  bool    `json:"marketing_opted_out"`
	CreatedAt string  `json:"created_at"`
}

type theirContact struct {
	contact
	BSUID       *string `json:"bsuid"`
	ParentBSUID *string `json:"parent_bsuid"`
	Name        *string `json:"name"`
	Email       *string `json:"email"`
	Username    *string `json:"username"`
}

func (c theirContact) shape(n int) contact {
	var names []string
	for _, name := range []*string{c.Name, c.Username, c.Email} {
		if name != nil && *name != "" {
			names = append(names, *name)
		}
	}
	c.untrusted = cut(strings.Join(names, " · "), n)
	return c.contact
}

type conversation struct {
	ID            string        `json:"id"`
	Status        string        `json:"status"`
	Contact       person        `json:"contact"`
	AssignedTo    *string       `json:"assigned_to"`
	Labels        []label       `json:"labels,omitempty"`
	UnreadCount   int           `json:"unread_count"`
	LastMessage   *shortMessage `json:"last_message,omitempty"`
	LastMessageAt *string       `json:"last_message_at"`
	WindowExpires *string       `json:"service_window_expires_at"`
}

type shortMessage struct {
	Type      string `json:"type"`
	Direction string `json:"direction"`
	untrusted
}

type theirConversation struct {
	conversation
	Contact  theirContact `json:"contact"`
	Assignee *struct {
		ID string `json:"id"`
	} `json:"assignee"`
	LastMessage *struct {
		shortMessage
		Preview *string `json:"preview"`
	} `json:"last_message"`
}

func (c theirConversation) shape(n int) conversation {
	out := c.conversation
	out.Contact = c.Contact.shape(n).person
	if c.Assignee != nil {
		out.AssignedTo = &c.Assignee.ID
	}

	if last := c.LastMessage; last != nil {
		if last.Preview != nil {
			last.untrusted = cut(*last.Preview, n)
		}
		out.LastMessage = &last.shortMessage
	}
	return out
}

type message struct {
	ID             string   `json:"id"`
	ConversationID string   `json:"conversation_id"`
	ContactID      string   `json:"contact_id"`
	Direction      string   `json:"direction"`
	Type           string   `json:"type"`
	Status         string   `json:"status"`
	SentBy         *string  `json:"sent_by,omitempty"`
	Failure        *failure `json:"error,omitempty"`
	IsRevoked      bool     `json:"is_revoked,omitempty"`
	CreatedAt      string   `json:"created_at"`
	untrusted
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// theirMessage is a message as the API shows it, which holds its content under its type.
type theirMessage struct {
	message
	content json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *theirMessage) UnmarshalJSON(raw []byte) error {
	var fields map[string]json.RawMessage
	err := cmp.Or(json.Unmarshal(raw, &m.message), json.Unmarshal(raw, &fields))
	m.content = fields[m.Type]
	return err
}

func (m theirMessage) shape(n int) message {
	found := words(json.NewDecoder(bytes.NewReader(m.content)), "")
	m.untrusted = cut(strings.Join(found, "\n"), n)
	return m.message
}

// worded are the fields of a message's content that hold what people read.
var worded = []string{
	"body", "text", "caption", "filename", "title", "description", "name", "formatted_name", "address", "emoji", "phone", "footer",
}

// words finds all that people read in a value of a message's content, in its order. key is
// the field that has the value; "" for an item of a list.
func words(content *json.Decoder, key string) (found []string) {
	token, _ := content.Token() // valid JSON, or nothing at all
	switch token := token.(type) {
	case json.Delim:
		for content.More() {
			name := ""
			if token == '{' {
				field, _ := content.Token()
				name, _ = field.(string)
			}
			found = append(found, words(content, name)...)
		}
		content.Token() // the end of the object or the list
	case string:
		if token != "" && slices.Contains(worded, key) {
			found = append(found, token)
		}
	}
	return found
}

// template is a template as tools show it. Admins of the organization wrote it.
type template struct {
	Name       string   `json:"name"`
	Language   string   `json:"language"`
	Status     string   `json:"status"`
	Category   *string  `json:"category"`
	Content    string   `json:"content"`
	Parameters []string `json:"parameters"`
}

type theirTemplate struct {
	template
	Variables []string `json:"variables"`
}

func (t theirTemplate) shape(int) template {
	t.Parameters = t.Variables
	return t.template
}

// delivery is a webhook's delivery, without the endpoint's answer, which strangers wrote.
type delivery struct {
	ID             string  `json:"id"`
	EventType      string  `json:"event_type"`
	EventID        string  `json:"event_id"`
	Status         string  `json:"status"`
	AttemptCount   int     `json:"attempt_count"`
	ResponseStatus *int    `json:"response_status"`
	ErrorCode      *string `json:"error_code"`
	CreatedAt      string  `json:"created_at"`
}
