package event

import (
	"encoding/json"

	"confab/storage"
)

type messageSent struct {
	Session      string           `json:"session"`
	Direction    string           `json:"direction"`
	FromMe       bool             `json:"from_me"`
	Timestamp    storage.Time     `json:"timestamp"`
	Message      sentMessage      `json:"message"`
	Conversation sentConversation `json:"conversation"`
	Contact      sentContact      `json:"contact"`
	ProviderMeta sentProvider     `json:"provider_meta"`
}

type sentMessage struct {
	ID         string  `json:"id"`
	ProviderID *string `json:"provider_id"`
	Type       string  `json:"type"`
	Body       *string `json:"body"`
	From       *string `json:"from"`
	To         *string `json:"to"`
	Status     string  `json:"status"`
	Source     string  `json:"source"`
	SentBy     *string `json:"sent_by"` // the user who sent it in the console
	ReplyTo    *string `json:"reply_to_provider_id"`
	*sentMedia
}

// sentMedia are the additional fields of a message with media. The file is
// under the name of its type.
type sentMedia struct {
	URL      *string   `json:"media_url"`
	Status   *string   `json:"media_status"`
	Image    *sentFile `json:"image,omitempty"`
	Video    *sentFile `json:"video,omitempty"`
	Audio    *sentFile `json:"audio,omitempty"`
	Document *sentFile `json:"document,omitempty"`
	Sticker  *sentFile `json:"sticker,omitempty"`
}

type sentFile struct {
	Link    *string `json:"link"`
	Caption *string `json:"caption"`
}

type sentConversation struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

type sentContact struct {
	ID          string  `json:"id"`
	PhoneNumber *string `json:"phone_number"`
	Name        *string `json:"name"`
}

type sentProvider struct {
	PhoneNumberID      string  `json:"phone_number_id"`
	DisplayPhoneNumber *string `json:"display_phone_number"`
	Provider           string  `json:"provider"`
}

// Sent is what MessageSent needs beside the message itself.
type Sent struct {
	At                 storage.Time
	Body               *string // text, caption, or rendered text
	ConversationStatus string
	MediaURL           string // "" without media
}

// MessageSent says that the provider accepted a message.
func MessageSent(s Subject, m storage.Message, sent Sent) Event {
	return Event{subject: s, kind: TypeMessageSent, source: sourceNative, eventID: sentEventID(m), data: messageSent{
		Session:   s.PhoneNumberID,
		Direction: storage.Outbound,
		FromMe:    true,
		Timestamp: sent.At,
		Message: sentMessage{
			ID:         m.ID,
			ProviderID: m.ProviderID,
			Type:       m.Type,
			Body:       sent.Body,
			From:       m.AccountPhone,
			To:         m.To(),
			Status:     m.Status,
			Source:     m.Source,
			SentBy:     m.SentBy,
			ReplyTo:    replyTo(m.Context),
			sentMedia:  mediaOf(m, sent.MediaURL),
		},
		Conversation: sentConversation{ID: m.ConversationID, Status: sent.ConversationStatus},
		Contact:      sentContact{ID: m.ContactID, PhoneNumber: m.ContactPhone, Name: m.ContactName},
		ProviderMeta: sentProvider{PhoneNumberID: s.PhoneNumberID, DisplayPhoneNumber: m.AccountPhone, Provider: "provider"},
	}}
}

// sentEventID is the id of a message's event. Those of a broadcast have a form of their own.
func sentEventID(m storage.Message) string {
	if m.Source == storage.SourceBroadcast {
		return "broadcast_msg:" + m.ID + ":sent"
	}
	return m.ID + ":sent"
}

// mediaOf are the media fields of message.sent, nil for a message without media.
func mediaOf(m storage.Message, url string) *sentMedia {
	media := &sentMedia{}
	switch {
	case url != "":
		ready := storage.MediaReady
		media.URL, media.Status = &url, &ready
	case m.MediaStatus == nil: // otherwise it is an echo whose file could not be fetched
		return nil
	}

	file := &sentFile{Link: media.URL, Caption: caption(m.Content)}
	switch m.Type {
	case "image":
		media.Image = file
	case "video":
		media.Video = file
	case "audio":
		media.Audio = file
	case "document":
		media.Document = file
	case "sticker":
		media.Sticker = file
	}

	return media
}

// replyTo is the provider's id of the message that this one is a reply to.
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
