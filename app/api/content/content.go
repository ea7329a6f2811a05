// Package content knows what a message may hold: its types, their rules, and what each
// means for sending. It neither reads nor writes anything.
package content

import (
	"cmp"
	"encoding/json"
	"slices"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// MessageTypes are the contents that can be sent.
var MessageTypes = []string{"text", "image", "document", "video", "audio", "template", "interactive", "reaction"}

// ReceivedTypes are those that can only be received.
var ReceivedTypes = []string{"location", "contacts", "button", "sticker", "order", "unsupported"}

// AllTypes are all that a message can be of.
func AllTypes() []string { return slices.Concat(MessageTypes, ReceivedTypes, []string{OtherType}) }

// MessageBody is the body of POST /v1/:phone_number_id/messages: a send, which
// has a type, or a read receipt, which has a status.
type MessageBody struct {
	MessagingProduct *string         `json:"messaging_product"`
	RecipientType    *string         `json:"recipient_type"`
	To               *string         `json:"to"`
	Recipient        json.RawMessage `json:"recipient"` // with To it is not looked at
	Context          *contextBody    `json:"context"`
	Type             *string         `json:"type"`
	ScheduledAt      *string         `json:"scheduled_at"`

	Status          *string     `json:"status"`
	MessageID       *string     `json:"message_id"`
	TypingIndicator *typingBody `json:"typing_indicator"`

	// The contents are kept as they came. Only the one that type names is read.
	Text        json.RawMessage `json:"text"`
	Image       json.RawMessage `json:"image"`
	Document    json.RawMessage `json:"document"`
	Video       json.RawMessage `json:"video"`
	Audio       json.RawMessage `json:"audio"`
	Template    json.RawMessage `json:"template"`
	Interactive json.RawMessage `json:"interactive"`
	Reaction    json.RawMessage `json:"reaction"`

	rest.Timed
	AllowHTTP PlainHTTP `json:"-"` // links need not be https; set it before decoding
	content   Object    // the one that type names, once it was validated
	bsuid     string    // what Recipient says, where that counts
	later     storage.Time
}

type contextBody struct {
	MessageID *string `json:"message_id"`
}

type typingBody struct {
	Type *string `json:"type"`
}

// Object is the object under the name of a message's type.
type Object interface {
	// Check finds the first broken rule. It may also drop fields that do not belong to
	// the content, because the provider would refuse them.
	Check(allowHTTP PlainHTTP) error

	// Describe adds what the content means for sending to the message.
	Describe(*OutgoingMessage)
}

func (b *MessageBody) Validate() error {
	switch {
	case b.Type != nil:
		return b.validateSend()
	case b.Status != nil:
		return b.validateReceipt()
	}
	return rest.Missing("type")
}

func (b *MessageBody) validateSend() error {
	if err := cmp.Or(
		rest.OneOf("messaging_product", b.MessagingProduct, "chat"),
		b.checkRecipient(),
		b.checkContext(),
		rest.OneOf("type", b.Type, MessageTypes...),
	); err != nil {
		return err
	}

	var err error
	if b.later, err = b.ScheduledTime(b.ScheduledAt); err != nil {
		return err
	}

	raw, c := b.contentByType()
	if err := rest.ReadObject(*b.Type, raw, c); err != nil {
		return err
	}

	b.content = c
	return rest.Within(*b.Type, c.Check(b.AllowHTTP))
}

func (b *MessageBody) checkRecipient() error {
	switch {
	case b.RecipientType != nil && *b.RecipientType != "individual":
		return rest.Invalid("recipient_type", "must be individual")
	case b.To != nil && !rest.IsPhone(*b.To):
		return rest.ErrPhone("to")
	case b.To != nil:
		return nil
	case rest.Absent(b.Recipient):
		return rest.Missing("to")
	case json.Unmarshal(b.Recipient, &b.bsuid) != nil || !provider.BSUID.MatchString(b.bsuid):
		return rest.Invalid("recipient", "must be a business-scoped user id")
	}
	return nil
}

func (b *MessageBody) checkContext() error {
	switch {
	case b.Context == nil:
		return nil
	case b.Type != nil && *b.Type == "reaction":
		return rest.Invalid("context", "cannot be given with a reaction, which has its own message_id")
	}
	return rest.Within("context", rest.ProviderID("message_id", b.Context.MessageID))
}

func (b *MessageBody) validateReceipt() error {
	switch {
	case b.MessagingProduct != nil && *b.MessagingProduct != "chat":
		return rest.Invalid("messaging_product", "must be chat")
	case b.ScheduledAt != nil:
		return rest.Invalid("scheduled_at", "cannot be given with a read receipt, which is sent immediately")
	}

	if err := cmp.Or(rest.OneOf("status", b.Status, "read"), rest.Required("message_id", b.MessageID, rest.MaxMessageID)); err != nil {
		return err
	}
	if b.TypingIndicator != nil {
		return rest.Within("typing_indicator", rest.OneOf("type", b.TypingIndicator.Type, "text"))
	}
	return nil
}

// contentByType returns the raw content that type names, and an empty value of its Go
// type to read it into.
func (b *MessageBody) contentByType() (json.RawMessage, Object) {
	switch *b.Type {
	case "text":
		return b.Text, new(textBody)
	case "image":
		return b.Image, &pictureBody{source: source{kind: "image"}}
	case "document":
		return b.Document, &documentBody{fileBody: fileBody{source: source{kind: "document"}}}
	case "video":
		return b.Video, &pictureBody{source: source{kind: "video"}}
	case "audio":
		return b.Audio, &audioBody{source: source{kind: "audio"}}
	case "template":
		return b.Template, new(TemplateBody)
	case "interactive":
		return b.Interactive, new(interactiveBody)
	default:
		return b.Reaction, new(reactionBody)
	}
}

// ReadReceipt says that a message was read.
type ReadReceipt struct {
	MessageID string // the provider's
	Typing    bool   // an answer is being written
}

// ReadReceipt returns the read receipt in a valid body; ok is false for a send.
func (b *MessageBody) ReadReceipt() (r ReadReceipt, ok bool) {
	if b.Type != nil {
		return ReadReceipt{}, false
	}
	return ReadReceipt{MessageID: *b.MessageID, Typing: b.TypingIndicator != nil}, true
}

// OutgoingMessage is a valid message to send, with what was found out about it.
type OutgoingMessage struct {
	To           string // E.164 with +, "" when Recipient says who
	Recipient    string // a BSUID, "" when To says who
	ReplyTo      *string
	ScheduledAt  storage.Time // 0 for at once
	Type         string
	Content      json.RawMessage // the object under the type's name, as it is stored and shown
	Body         *string         // the text, the caption or the body of an interactive
	Media        []MediaRef      // of the library, also in headers and cards
	Template     *templateRef    // of a template
	Marketing    bool            // the template is one, as far as is known
	LibraryFile  *storage.Media  // the file of the library that it consists of, once it was found
	MissingMedia error           // the first file that is not in the library, if one is not
	Source       string          // who sends it; "" for a client of the API
	AnyTemplate  bool            // the template need not be known
}

// Outgoing returns the message that a valid body asks to send.
func (b *MessageBody) Outgoing() OutgoingMessage {
	s := OutgoingMessage{Type: *b.Type, Content: b.keptContent(), ScheduledAt: b.later}

	if b.To != nil {
		s.To, _ = provider.ParsePhone(*b.To)
	} else {
		s.Recipient = b.bsuid
	}

	if b.Context != nil {
		s.ReplyTo = b.Context.MessageID
	}

	b.content.Describe(&s)
	return s
}

// ProviderContent is the content of a valid send as it goes to the provider: only with
// the fields that we know, because what the API ignores the provider may refuse.
func (b *MessageBody) ProviderContent() (json.RawMessage, error) { return json.Marshal(b.content) }

const (
	maxText  = 4096
	maxEmoji = 16
)

type textBody struct {
	Body       *string `json:"body,omitempty"`
	PreviewURL *bool   `json:"preview_url,omitempty"`
}

func (t *textBody) Check(PlainHTTP) error { return rest.Required("body", t.Body, maxText) }

func (t *textBody) Describe(s *OutgoingMessage) { s.Body = t.Body }

// reactionBody is the content of a reaction. An empty emoji takes it back.
type reactionBody struct {
	MessageID *string `json:"message_id,omitempty"`
	Emoji     *string `json:"emoji,omitempty"`
}

func (r *reactionBody) Check(PlainHTTP) error {
	switch err := rest.ProviderID("message_id", r.MessageID); {
	case err != nil:
		return err
	case r.Emoji == nil:
		return rest.Missing("emoji")
	case !rest.Between(*r.Emoji, 0, maxEmoji):
		return rest.Invalid("emoji", rest.LengthRule(0, maxEmoji))
	}
	return nil
}

func (r *reactionBody) Describe(*OutgoingMessage) {}
