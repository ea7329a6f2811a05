package event

import (
	"strconv"

	"confab/storage"
)

// MessageStatus passes a delivery status on. The envelope is the provider's
// callback, reduced to this one status and in our own words, ready to be sent.
func MessageStatus(s Subject, providerID string, envelope []byte) Event {
	return Event{subject: s, kind: TypeMessageStatus, source: sourceProvider, eventID: providerID, envelope: envelope}
}

// Failure is why a message was not accepted by the provider.
type Failure struct {
	Code    int // the provider's, or -1 for a refusal of our own
	Title   string
	Message string
	Details string
	At      storage.Time
	// Further details, if the provider gave them.
	Subcode       int
	TraceID, Href string
	// WABAID and Phone (digits) are of the account.
	WABAID, Phone string
}

// MessageFailed reports a failure about which no callback will come. It has the
// form of a callback, with our own id of the message because the provider gave it
// none.
func MessageFailed(s Subject, m storage.Message, f Failure) (Event, error) {
	status := statusData{
		ID:        m.ID,
		Status:    storage.MessageFailed,
		Timestamp: strconv.FormatInt(f.At.Std().Unix(), 10),
		Errors: []faultData{{
			Code:    f.Code,
			Title:   f.Title,
			Message: f.Message,
			Data:    detailsData{f.Details},
			Subcode: f.Subcode,
			TraceID: f.TraceID,
			Href:    f.Href,
		}},
	}

	if to := m.To(); to != nil {
		status.RecipientID = (*to)[1:]
	}
	if m.ContactBSUID != nil {
		status.RecipientUserID = *m.ContactBSUID
	}
	if m.ContactParentBSUID != nil {
		status.RecipientParentUserID = *m.ContactParentBSUID
	}

	envelope, err := encode(envelopeData{
		Object: "chat_business_account",
		Entry: []entryData{{ID: f.WABAID, Changes: []changeData{{Field: "messages", Value: valueData{
			MessagingProduct: "chat",
			Metadata:         metadataData{DisplayPhoneNumber: f.Phone, PhoneNumberID: s.PhoneNumberID},
			Statuses:         []statusData{status},
		}}}}},
	})
	return Event{subject: s, kind: TypeMessageStatus, source: sourceProvider, eventID: m.ID, envelope: envelope}, err
}

// The provider's envelope, as far as we write it ourselves.
type (
	envelopeData struct {
		Object string      `json:"object"`
		Entry  []entryData `json:"entry"`
	}
	entryData struct {
		ID      string       `json:"id"`
		Changes []changeData `json:"changes"`
	}
	changeData struct {
		Field string    `json:"field"`
		Value valueData `json:"value"`
	}
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
		ID                    string      `json:"id"`
		Status                string      `json:"status"`
		Timestamp             string      `json:"timestamp"`
		RecipientID           string      `json:"recipient_id,omitempty"`
		RecipientUserID       string      `json:"recipient_user_id,omitempty"`
		RecipientParentUserID string      `json:"recipient_parent_user_id,omitempty"`
		Errors                []faultData `json:"errors"`
	}
	faultData struct {
		Code    int         `json:"code"`
		Title   string      `json:"title"`
		Message string      `json:"message"`
		Data    detailsData `json:"error_data"`
		Subcode int         `json:"error_subcode,omitempty"`
		TraceID string      `json:"fbtrace_id,omitempty"`
		Href    string      `json:"href,omitempty"`
	}
	detailsData struct {
		Details string `json:"details"`
	}
)
