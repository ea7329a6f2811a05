package event

import "confab/storage"

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
	return Event{subject: s, kind: TypeMessageRevoked, source: sourceNative, data: messageRevoked{changedOf(s, m), at}}
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

	return Event{subject: s, kind: TypeMessageEdited, source: sourceNative, data: data}
}
