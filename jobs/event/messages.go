package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"confab/storage"
)

// Received is what message.received adds to the provider's envelope.
type Received struct {
	Message  storage.Message
	Thread   storage.Thread
	Labels   []storage.AttachedLabel // of the conversation
	MediaURL string                  // "" without media that is stored
}

type receivedData struct {
	ConversationID string                  `json:"conversation_id"`
	ContactID      string                  `json:"contact_id"`
	MessageID      string                  `json:"message_id"`
	PhoneNumberID  string                  `json:"phone_number_id"`
	Labels         []storage.AttachedLabel `json:"labels"`
	Conversation   threadData              `json:"conversation"`
	Contact        personData              `json:"contact"`
	MediaURL       *string                 `json:"media_url"`
	MediaStatus    *string                 `json:"media_status"`
}

type threadData struct {
	Status     string  `json:"status"`
	AssignedTo *string `json:"assigned_to"`
}

type personData struct {
	Name        *string `json:"name"`
	PhoneNumber *string `json:"phone_number"`
}

// MessageReceived passes an inbound message on. The envelope is the provider's
// callback, reduced to this one message and in our own words; what we know
// besides is added under "svc".
func MessageReceived(s Subject, r Received, envelope []byte) (Event, error) {
	svc := receivedData{
		ConversationID: r.Thread.ConversationID,
		ContactID:      r.Thread.ID,
		MessageID:      r.Message.ID,
		PhoneNumberID:  s.PhoneNumberID,
		Labels:         r.Labels,
		Conversation:   threadData{r.Thread.Status, r.Thread.AssigneeID},
		Contact:        personData{r.Thread.Name, r.Thread.PhoneNumber},
	}
	if svc.Labels == nil {
		svc.Labels = []storage.AttachedLabel{}
	}
	if r.MediaURL != "" {
		svc.MediaURL, svc.MediaStatus = &r.MediaURL, new(storage.MediaReady)
	}

	text, err := encode(svc)
	if err != nil {
		return Event{}, err
	}

	// The bytes are joined, not decoded, so that the envelope stays as it is.
	open := bytes.TrimSuffix(bytes.TrimSpace(envelope), []byte("}"))
	whole := make([]byte, 0, len(open)+len(text)+10)
	whole = append(append(append(append(whole, open...), `,"svc":`...), text...), '}')
	return Event{subject: s, kind: TypeMessageReceived, source: sourceProvider, eventID: *r.Message.ProviderID, envelope: whole}, nil
}

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

// sentMedia are the additional fields of a message with media: its file is under its type.
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

// MessageSent says that the provider accepted a message. mediaURL is "" without media.
func MessageSent(s Subject, m storage.Message, at storage.Time, mediaURL string) Event {
	id := m.ID + ":sent"
	if m.Source == storage.SourceBroadcast {
		id = "broadcast_msg:" + id
	}
	var replied struct {
		MessageID *string `json:"message_id"`
	}
	_ = json.Unmarshal(m.Context, &replied) // what cannot be read is no reply

	return Event{subject: s, kind: TypeMessageSent, eventID: id, data: messageSent{
		Session:   s.PhoneNumberID,
		Direction: storage.Outbound,
		FromMe:    true,
		Timestamp: at,
		Message: sentMessage{
			ID:         m.ID,
			ProviderID: m.ProviderID,
			Type:       m.Type,
			Body:       m.Body,
			From:       m.AccountPhone,
			To:         m.To(),
			Status:     m.Status,
			Source:     m.Source,
			SentBy:     m.SentBy,
			ReplyTo:    replied.MessageID,
			sentMedia:  mediaOf(m, mediaURL),
		},
		Conversation: sentConversation{ID: m.ConversationID, Status: m.ConversationStatus},
		Contact:      sentContact{ID: m.ContactID, PhoneNumber: m.ContactPhone, Name: m.ContactName},
		ProviderMeta: sentProvider{PhoneNumberID: s.PhoneNumberID, DisplayPhoneNumber: m.AccountPhone, Provider: "provider"},
	}}
}

// mediaOf are the media fields of message.sent, nil for a message without media.
func mediaOf(m storage.Message, url string) *sentMedia {
	media := &sentMedia{}
	switch {
	case url != "":
		media.URL, media.Status = &url, new(storage.MediaReady)
	case m.MediaStatus == nil: // otherwise it is an echo whose file could not be fetched
		return nil
	}

	var content struct {
		Caption *string `json:"caption"`
	}
	_ = json.Unmarshal(m.Content, &content) // one that cannot be read has none
	file := &sentFile{Link: media.URL, Caption: content.Caption}
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

// MessageStatus passes a delivery status on. The envelope is the provider's
// callback, reduced to this one status and in our own words, ready to be sent.
func MessageStatus(s Subject, providerID string, envelope []byte) Event {
	return Event{subject: s, kind: TypeMessageStatus, source: sourceProvider, eventID: providerID, envelope: envelope}
}

// Failure is why a message was not accepted by the provider, as a callback says it.
type Failure struct {
	Code    int    `json:"code"` // the provider's, or -1 for a refusal of our own
	Title   string `json:"title"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details"`
	} `json:"error_data"`
	// Further details, if the provider gave them.
	Subcode int    `json:"error_subcode,omitempty"`
	TraceID string `json:"fbtrace_id,omitempty"`
	Href    string `json:"href,omitempty"`
}

// MessageFailed reports a failure of a sender's message about which no callback will come. It has
// the form of a callback, with our own id of the message because the provider gave it none.
func MessageFailed(s Subject, sender storage.Account, m storage.Message, at storage.Time, f Failure) (Event, error) {
	status := statusData{
		ID:                    m.ID,
		Status:                storage.MessageFailed,
		Timestamp:             strconv.FormatInt(at.Std().Unix(), 10),
		RecipientID:           strings.TrimPrefix(storage.OrEmpty(m.To()), "+"),
		RecipientUserID:       storage.OrEmpty(m.ContactBSUID),
		RecipientParentUserID: storage.OrEmpty(m.ContactParentBSUID),
		Errors:                []Failure{f},
	}

	phone := strings.TrimPrefix(storage.OrEmpty(sender.PhoneNumber), "+")
	value, err := encode(valueData{
		MessagingProduct: "chat",
		Metadata:         metadataData{DisplayPhoneNumber: phone, PhoneNumberID: s.PhoneNumberID},
		Statuses:         []statusData{status},
	})

	waba := storage.OrEmpty(sender.WABAID) // digits
	const form = `{"object":"chat_business_account","entry":[{"id":"%s","changes":[{"field":"messages","value":%s}]}]}`
	envelope := fmt.Appendf(nil, form, waba, value)
	return Event{subject: s, kind: TypeMessageStatus, source: sourceProvider, eventID: m.ID, envelope: envelope}, err
}

// The value of a change, as far as we write it ourselves.
type (
	valueData struct {
		MessagingProduct string       `json:"messaging_product"`
		Metadata         metadataData `json:"metadata"`
		Statuses         []statusData `json:"statuses"`
	}
	metadataData struct {
		DisplayPhoneNumber string `json:"display_phone_number"`
		PhoneNumberID      string `json:"phone_number_id"`
	}
	statusData struct {
		ID                    string    `json:"id"`
		Status                string    `json:"status"`
		Timestamp             string    `json:"timestamp"`
		RecipientID           string    `json:"recipient_id,omitempty"`
		RecipientUserID       string    `json:"recipient_user_id,omitempty"`
		RecipientParentUserID string    `json:"recipient_parent_user_id,omitempty"`
		Errors                []Failure `json:"errors"`
	}
)

// changedData is what the events of an edited or revoked message have in common.
type changedData struct {
	MessageID          string  `json:"message_id"`
	ProviderID         *string `json:"provider_id"`
	ConversationID     string  `json:"conversation_id"`
	ContactID          string  `json:"contact_id"`
	ContactPhoneNumber *string `json:"contact_phone_number"`
	PhoneNumberID      string  `json:"phone_number_id"`
	DisplayPhoneNumber *string `json:"display_phone_number"`
}

func changedOf(s Subject, m storage.Message) changedData {
	return changedData{
		MessageID:          m.ID,
		ProviderID:         m.ProviderID,
		ConversationID:     m.ConversationID,
		ContactID:          m.ContactID,
		ContactPhoneNumber: m.ContactPhone,
		PhoneNumberID:      s.PhoneNumberID,
		DisplayPhoneNumber: m.AccountPhone,
	}
}

type messageRevoked struct {
	changedData
	RevokedAt storage.Time `json:"revoked_at"`
}

// MessageRevoked says that a person deleted a message for everyone.
func MessageRevoked(s Subject, m storage.Message, at storage.Time) Event {
	return Event{subject: s, kind: TypeMessageRevoked, data: messageRevoked{changedOf(s, m), at}}
}

type messageEdited struct {
	changedData
	NewContent      string       `json:"new_content"`
	OriginalContent string       `json:"original_content"`
	EditedAt        storage.Time `json:"edited_at"`
	EditHistory     []editData   `json:"edit_history"`
}

type editData struct {
	Content  string       `json:"content"`
	EditedAt storage.Time `json:"edited_at"`
}

// MessageEdited says that a person edited a message. earlier are its versions
// before the current one, oldest first, and at least one; each has the time of
// the edit that replaced it. The history holds the content after each edit.
func MessageEdited(s Subject, m storage.Message, earlier []storage.MessageEdit) Event {
	data := messageEdited{
		changedData:     changedOf(s, m),
		NewContent:      storage.OrEmpty(m.Body),
		OriginalContent: storage.OrEmpty(earlier[0].Body),
		EditedAt:        m.EditedAt,
	}

	for i, version := range earlier {
		next := m.Body
		if i+1 < len(earlier) {
			next = earlier[i+1].Body
		}
		data.EditHistory = append(data.EditHistory, editData{storage.OrEmpty(next), version.EditedAt})
	}

	return Event{subject: s, kind: TypeMessageEdited, data: data}
}
