package api

import (
	"encoding/json"
	"strconv"

	"confab/app/api/rest"
	"confab/jobs/provider"
	"confab/storage"
)

// messageView is the public shape of a message. Its content is added under the name of
// its type.
type messageView struct {
	storage.Message
	media *mediaView
}

type mediaView struct {
	URL      *string `json:"url"`
	MIMEType *string `json:"mime_type"`
	Size     *int64  `json:"size"`
	Filename *string `json:"filename"`
	Status   *string `json:"status"`
}

type sendErrorView struct {
	Code         string `json:"code"`
	Message      string `json:"message"`
	ProviderCode *int   `json:"provider_code"`
}

func (s *Server) viewMessage(m storage.Message) messageView {
	return messageView{m, s.viewMessageMedia(m)}
}

// viewMessageMedia is the media of a message; nil if it has none, or none any more.
func (s *Server) viewMessageMedia(m storage.Message) *mediaView {
	if link := s.Publisher.MediaURL(m); link != "" {
		return &mediaView{&link, m.MediaMIMEType, m.MediaSize, m.MediaFilename, new(storage.MediaReady)}
	}
	if m.MediaStatus != nil && *m.MediaStatus != storage.MediaReady {
		return &mediaView{Status: m.MediaStatus}
	}
	return nil
}

// messageFields has the names of a message's own fields. Content is never written
// under one of them: the provider chooses the names of future types.
var messageFields = func() (fields map[string]any) {
	full := messageView{storage.Message{ErrorCode: new(""), ErrorMessage: new(""), PlayedAt: 1}, new(mediaView)}
	if err := json.Unmarshal(append(full.appendFields(nil), '}'), &fields); err != nil {
		panic(err)
	}
	return fields
}()

// AppendJSON writes the fields, and after them the content under the name of its type.
func (v messageView) AppendJSON(b []byte) []byte {
	b = v.appendFields(b)
	if _, isTaken := messageFields[v.Type]; !isTaken {
		b = rest.AppendStored(rest.AppendKey(append(b, ','), v.Type), v.Content)
	}
	return append(b, '}')
}

func (v messageView) appendFields(b []byte) []byte {
	from, to := v.AccountPhone, v.To()
	if v.Direction == storage.Inbound {
		from, to = to, from
	}
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendText(append(b, `,"object":"message","direction":`...), v.Direction)
	b = rest.AppendOptional(append(b, `,"from":`...), from)
	b = rest.AppendOptional(append(b, `,"to":`...), to)
	b = rest.AppendOptional(append(b, `,"bsuid":`...), v.ContactBSUID)
	b = rest.AppendOptional(append(b, `,"parent_bsuid":`...), v.ContactParentBSUID)
	b = rest.AppendOptional(append(b, `,"username":`...), v.ContactUsername)
	b = rest.AppendText(append(b, `,"contact_id":`...), v.ContactID)
	b = rest.AppendText(append(b, `,"conversation_id":`...), v.ConversationID)
	b = rest.AppendOptional(append(b, `,"message_id":`...), v.ProviderID)
	b = rest.AppendText(append(b, `,"type":`...), v.Type)
	b = rest.AppendText(append(b, `,"status":`...), v.Status)
	b = rest.AppendText(append(b, `,"source":`...), v.Source)
	b = rest.AppendOptional(append(b, `,"sent_by":`...), v.SentBy)
	b = rest.AppendOptional(append(b, `,"rule_id":`...), v.RuleID)
	b = rest.AppendStored(append(b, `,"context":`...), v.Context)

	if v.media != nil {
		b = v.media.AppendJSON(append(b, `,"media":`...))
	}
	if v.ErrorCode != nil {
		b = rest.AppendText(append(b, `,"error":{"code":`...), *v.ErrorCode)
		b = rest.AppendText(append(b, `,"message":`...), *v.ErrorMessage)
		b = append(rest.AppendOptionalInt(append(b, `,"provider_code":`...), v.ErrorProviderCode), '}')
	}

	b = strconv.AppendBool(append(b, `,"is_revoked":`...), v.IsRevoked)
	if v.PlayedAt != 0 {
		b = v.PlayedAt.AppendJSON(append(b, `,"played_at":`...))
	}
	b = v.EditedAt.AppendJSON(append(b, `,"edited_at":`...))
	b = v.ScheduledAt.AppendJSON(append(b, `,"scheduled_at":`...))
	b = appendPricing(append(b, `,"pricing":`...), v.Pricing)
	b = v.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	return v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
}

// appendPricing writes what the provider says about the price of a message.
func appendPricing(b []byte, said storage.JSON) []byte {
	p, ok := provider.ReadPricing(json.RawMessage(said))
	if !ok {
		return append(b, "null"...)
	}

	b = append(b, `{"billable":`...)
	if p.Billable == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendBool(b, *p.Billable)
	}
	b = rest.AppendText(append(b, `,"category":`...), p.Category)
	b = rest.AppendText(append(b, `,"type":`...), p.Type)
	b = rest.AppendText(append(b, `,"model":`...), p.Model)
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
