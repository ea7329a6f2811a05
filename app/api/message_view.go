package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"confab/storage"
)

// messageView is the public shape of a message. Its content is added under the name of
// its type.
type messageView struct {
	ID             string         `json:"id"`
	Object         string         `json:"object"`
	Direction      string         `json:"direction"`
	From           *string        `json:"from"`
	To             *string        `json:"to"`
	BSUID          *string        `json:"bsuid"`
	ParentBSUID    *string        `json:"parent_bsuid"`
	Username       *string        `json:"username"`
	ContactID      string         `json:"contact_id"`
	ConversationID string         `json:"conversation_id"`
	MessageID      *string        `json:"message_id"`
	Type           string         `json:"type"`
	Status         string         `json:"status"`
	Source         string         `json:"source"`
	SentBy         *string        `json:"sent_by"`
	Context        storage.JSON   `json:"context"`
	Media          *mediaView     `json:"media,omitempty"`
	Error          *sendErrorView `json:"error,omitempty"`
	IsRevoked      bool           `json:"is_revoked"`
	PlayedAt       *storage.Time  `json:"played_at,omitempty"`
	EditedAt       storage.Time   `json:"edited_at"`
	CreatedAt      storage.Time   `json:"created_at"`
	UpdatedAt      storage.Time   `json:"updated_at"`

	content storage.JSON
}

// mediaView is what a message's media is.
type mediaView struct {
	URL      *string `json:"url"`
	MIMEType *string `json:"mime_type"`
	Size     *int64  `json:"size"`
	Filename *string `json:"filename"`
	Status   *string `json:"status"`
}

// sendErrorView is why a message failed.
type sendErrorView struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	ProviderCode *int   `json:"provider_code"`
}

func (s *Server) viewMessage(m storage.Message) messageView {
	v := messageView{
		ID:             m.ID,
		Object:         "message",
		Direction:      m.Direction,
		From:           m.AccountPhone,
		To:             m.To(),
		BSUID:          m.ContactBSUID,
		ParentBSUID:    m.ContactParentBSUID,
		Username:       m.ContactUsername,
		ContactID:      m.ContactID,
		ConversationID: m.ConversationID,
		MessageID:      m.ProviderID,
		Type:           m.Type,
		Status:         m.Status,
		Source:         m.Source,
		SentBy:         m.SentBy,
		Context:        m.Context,
		IsRevoked:      m.IsRevoked,
		EditedAt:       m.EditedAt,
		CreatedAt:      m.CreatedAt,
		UpdatedAt:      m.UpdatedAt,
		content:        m.Content,
	}

	if m.Direction == storage.Inbound {
		v.From, v.To = v.To, v.From
	}

	if m.PlayedAt != 0 {
		v.PlayedAt = &m.PlayedAt
	}
	if m.ErrorCode != nil {
		v.Error = &sendErrorView{Code: *m.ErrorCode, Message: *m.ErrorMessage, ProviderCode: m.ErrorProviderCode}
	}

	v.Media = s.viewMessageMedia(m)
	return v
}

// viewMessageMedia is the media of a message; nil if it has none, or none any more.
func (s *Server) viewMessageMedia(m storage.Message) *mediaView {
	if link := s.Publisher.MediaURL(m); link != "" {
		ready := storage.MediaReady
		return &mediaView{
			URL:      &link,
			MIMEType: m.MediaMIMEType,
			Size:     m.MediaSize,
			Filename: m.MediaFilename,
			Status:   &ready,
		}
	}
	if m.MediaStatus != nil && *m.MediaStatus != storage.MediaReady {
		return &mediaView{Status: m.MediaStatus}
	}
	return nil
}

// messageFieldNames are the names of a message's own fields. Content is never written
// under one of them: the provider chooses the names of future types.
var messageFieldNames = func() map[string]bool {
	names := make(map[string]bool)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[messageView]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// MarshalJSON puts the content under the name of its type.
func (v messageView) MarshalJSON() ([]byte, error) {
	type plain messageView
	body, err := encode(plain(v))
	if err != nil || messageFieldNames[v.Type] {
		return body, err
	}

	name, err := json.Marshal(v.Type)
	if err != nil {
		return nil, err
	}

	b := bytes.NewBuffer(append(body[:len(body)-1], ','))
	b.Write(name)
	b.WriteByte(':')
	err = json.Compact(b, v.content) // it is kept as it came
	b.WriteByte('}')
	return b.Bytes(), err
}
