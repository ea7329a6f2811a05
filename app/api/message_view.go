package api

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"confab/app/api/rest"
	"confab/jobs/provider"
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
	RuleID         *string        `json:"rule_id"`
	Context        storage.JSON   `json:"context"`
	Media          *mediaView     `json:"media,omitempty"`
	Error          *sendErrorView `json:"error,omitempty"`
	IsRevoked      bool           `json:"is_revoked"`
	PlayedAt       *storage.Time  `json:"played_at,omitempty"`
	EditedAt       storage.Time   `json:"edited_at"`
	ScheduledAt    storage.Time   `json:"scheduled_at"`
	Pricing        *pricingView   `json:"pricing"`
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

// pricingView is what the provider says about the price of a message.
type pricingView provider.Pricing

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
		RuleID:         m.RuleID,
		Context:        m.Context,
		IsRevoked:      m.IsRevoked,
		EditedAt:       m.EditedAt,
		ScheduledAt:    m.ScheduledAt,
		CreatedAt:      m.CreatedAt,
		UpdatedAt:      m.UpdatedAt,
		content:        m.Content,
	}

	if m.Direction == storage.Inbound {
		v.From, v.To = v.To, v.From
	}

	if m.PlayedAt != 0 {
		at := m.PlayedAt
		v.PlayedAt = &at
	}
	if m.ErrorCode != nil {
		v.Error = &sendErrorView{Code: *m.ErrorCode, Message: *m.ErrorMessage, ProviderCode: m.ErrorProviderCode}
	}

	if p, ok := provider.ReadPricing(json.RawMessage(m.Pricing)); ok {
		v.Pricing = (*pricingView)(&p)
	}

	v.Media = s.viewMessageMedia(m)
	return v
}

// viewMessageMedia is the media of a message; nil if it has none, or none any more.
func (s *Server) viewMessageMedia(m storage.Message) *mediaView {
	if link := s.Publisher.MediaURL(m); link != "" {
		url, ready := link, storage.MediaReady
		return &mediaView{
			URL:      &url,
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

// MarshalJSON is for views that show a message inside of something else.
func (v messageView) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// AppendJSON writes the fields, and after them the content under the name of its type.
func (v messageView) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendText(append(b, `,"object":`...), v.Object)
	b = rest.AppendText(append(b, `,"direction":`...), v.Direction)
	b = rest.AppendOptional(append(b, `,"from":`...), v.From)
	b = rest.AppendOptional(append(b, `,"to":`...), v.To)
	b = rest.AppendOptional(append(b, `,"bsuid":`...), v.BSUID)
	b = rest.AppendOptional(append(b, `,"parent_bsuid":`...), v.ParentBSUID)
	b = rest.AppendOptional(append(b, `,"username":`...), v.Username)
	b = rest.AppendText(append(b, `,"contact_id":`...), v.ContactID)
	b = rest.AppendText(append(b, `,"conversation_id":`...), v.ConversationID)
	b = rest.AppendOptional(append(b, `,"message_id":`...), v.MessageID)
	b = rest.AppendText(append(b, `,"type":`...), v.Type)
	b = rest.AppendText(append(b, `,"status":`...), v.Status)
	b = rest.AppendText(append(b, `,"source":`...), v.Source)
	b = rest.AppendOptional(append(b, `,"sent_by":`...), v.SentBy)
	b = rest.AppendOptional(append(b, `,"rule_id":`...), v.RuleID)
	b = rest.AppendStored(append(b, `,"context":`...), v.Context)

	if v.Media != nil {
		b = v.Media.AppendJSON(append(b, `,"media":`...))
	}
	if v.Error != nil {
		b = v.Error.AppendJSON(append(b, `,"error":`...))
	}

	b = strconv.AppendBool(append(b, `,"is_revoked":`...), v.IsRevoked)
	if v.PlayedAt != nil {
		b = v.PlayedAt.AppendJSON(append(b, `,"played_at":`...))
	}
	b = v.EditedAt.AppendJSON(append(b, `,"edited_at":`...))
	b = v.ScheduledAt.AppendJSON(append(b, `,"scheduled_at":`...))
	b = v.Pricing.AppendJSON(append(b, `,"pricing":`...))
	b = v.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))

	if !messageFieldNames[v.Type] {
		b = rest.AppendStored(rest.AppendKey(append(b, ','), v.Type), v.content)
	}
	return append(b, '}')
}

func (v *pricingView) AppendJSON(b []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}

	b = append(b, `{"billable":`...)
	if v.Billable == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendBool(b, *v.Billable)
	}
	b = rest.AppendText(append(b, `,"category":`...), v.Category)
	b = rest.AppendText(append(b, `,"type":`...), v.Type)
	b = rest.AppendText(append(b, `,"model":`...), v.Model)
	return append(b, '}')
}

func (v mediaView) AppendJSON(b []byte) []byte {
	b = rest.AppendOptional(append(b, `{"url":`...), v.URL)
	b = rest.AppendOptional(append(b, `,"mime_type":`...), v.MIMEType)
	b = rest.AppendOptionalInt(append(b, `,"size":`...), v.Size)
	b = rest.AppendOptional(append(b, `,"filename":`...), v.Filename)
	b = rest.AppendOptional(append(b, `,"status":`...), v.Status)
	return append(b, '}')
}

func (v sendErrorView) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"code":`...), v.Code)
	b = rest.AppendText(append(b, `,"message":`...), v.Message)
	b = rest.AppendOptionalInt(append(b, `,"provider_code":`...), v.ProviderCode)
	return append(b, '}')
}
