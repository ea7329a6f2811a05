package event

import (
	"encoding/json"

	"confab/storage"
)

// nativeEnvelope is what every event of our own is wrapped in.
type nativeEnvelope struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	CreatedAt storage.Time `json:"created_at"`
	Data      any          `json:"data"`
}

type contactCreated struct {
	Contact contactData `json:"contact"`
}

type contactData struct {
	ID            string       `json:"id"`
	Object        string       `json:"object"`
	PhoneNumber   *string      `json:"phone_number"`
	Name          *string      `json:"name"`
	Email         *string      `json:"email"`
	Metadata      storage.JSON `json:"metadata"`
	PhoneNumberID string       `json:"phone_number_id"`
	CreatedAt     storage.Time `json:"created_at"`
	UpdatedAt     storage.Time `json:"updated_at"`
}

func contactOf(s Subject, c storage.Contact) contactData {
	return contactData{
		ID: c.ID, Object: "contact", PhoneNumber: c.PhoneNumber, Name: c.Name, Email: c.Email, Metadata: c.Metadata,
		PhoneNumberID: s.PhoneNumberID, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

// ContactCreated tells of a new contact, however it came to be.
func ContactCreated(s Subject, c storage.Contact) Event {
	return Event{subject: s, kind: TypeContactCreated, source: sourceNative, data: contactCreated{contactOf(s, c)}}
}

type messageSent struct {
	Session      string         `json:"session"`
	Direction    string         `json:"direction"`
	FromMe       bool           `json:"from_me"`
	Timestamp    storage.Time   `json:"timestamp"`
	Message      map[string]any `json:"message"`
	Conversation map[string]any `json:"conversation"`
	Contact      map[string]any `json:"contact"`
	ProviderMeta map[string]any `json:"provider_meta"`
}

// Sent is what message.sent says beside the message itself.
type Sent struct {
	At                 storage.Time
	Body               *string // text, caption, or rendered text
	ConversationStatus string
	MediaURL           string // "" without media
}

// MessageSent tells that the provider took a message.
func MessageSent(s Subject, m storage.Message, sent Sent) Event {
	message := map[string]any{
		"id": m.ID, "provider_id": m.ProviderID, "type": m.Type, "body": sent.Body, "from": m.AccountPhone, "to": m.To(),
		"status": m.Status, "source": m.Source, "reply_to_provider_id": replyTo(m.Context),
	}
	switch {
	case sent.MediaURL != "":
		message["media_url"], message["media_status"] = sent.MediaURL, "ready"
		message[m.Type] = map[string]any{"link": sent.MediaURL, "caption": caption(m.Content)}
	case m.MediaStatus != nil: // of an echo, which could not be had
		message["media_url"], message["media_status"] = nil, nil
		message[m.Type] = map[string]any{"link": nil, "caption": caption(m.Content)}
	}
	return Event{subject: s, kind: TypeMessageSent, source: sourceNative, eventID: m.ID + ":sent", data: messageSent{
		Session: s.PhoneNumberID, Direction: storage.Outbound, FromMe: true, Timestamp: sent.At, Message: message,
		Conversation: map[string]any{"id": m.ConversationID, "status": sent.ConversationStatus},
		Contact:      map[string]any{"id": m.ContactID, "phone_number": m.ContactPhone, "name": m.ContactName},
		ProviderMeta: map[string]any{"phone_number_id": s.PhoneNumberID, "display_phone_number": m.AccountPhone, "provider": "provider"},
	}}
}

// replyTo is the provider id of the message that another one answers.
func replyTo(context storage.JSON) *string {
	var c struct {
		MessageID *string `json:"message_id"`
	}
	if context == nil || json.Unmarshal(context, &c) != nil {
		return nil
	}
	return c.MessageID
}

// caption is the caption in a media message's content.
func caption(content storage.JSON) *string {
	var c struct {
		Caption *string `json:"caption"`
	}
	if json.Unmarshal(content, &c) != nil {
		return nil
	}
	return c.Caption
}
