package event

import (
	"bytes"

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
		ready := storage.MediaReady
		svc.MediaURL, svc.MediaStatus = &r.MediaURL, &ready
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
