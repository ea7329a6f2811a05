package event

import "confab/storage"

// changedData is what events say of a message that is no longer as it came.
type changedData struct {
	MessageID          string  `json:"message_id"`
	ProviderID         *string `json:"provider_id"`
	ConversationID     string  `json:"conversation_id"`
	ContactID          string  `json:"contact_id"`
	ContactPhoneNumber *string `json:"contact_phone_number"`
	PhoneNumberID      string  `json:"phone_number_id"`
	DisplayPhoneNumber *string `json:"display_phone_number"`
}

func changed(s Subject, m storage.Message) changedData {
	return changedData{
		MessageID: m.ID, ProviderID: m.ProviderID, ConversationID: m.ConversationID, ContactID: m.ContactID, ContactPhoneNumber: m.ContactPhone,
		PhoneNumberID: s.PhoneNumberID, DisplayPhoneNumber: m.AccountPhone,
	}
}

type messageRevoked struct {
	changedData
	RevokedAt storage.Time `json:"revoked_at"`
}

// MessageRevoked tells that a person deleted a message for everyone.
func MessageRevoked(s Subject, m storage.Message, at storage.Time) Event {
	return Event{subject: s, kind: TypeMessageRevoked, source: sourceNative, data: messageRevoked{changed(s, m), at}}
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

// MessageEdited tells that a person changed a message, which has had at least
// one earlier version. The history holds what each edit made of it.
func MessageEdited(s Subject, m storage.Message, earlier []storage.MessageEdit) Event {
	data := messageEdited{changedData: changed(s, m), NewContent: text(m.Body), OriginalContent: text(earlier[0].Body), EditedAt: m.EditedAt}
	for i, version := range earlier {
		next := m.Body
		if i+1 < len(earlier) {
			next = earlier[i+1].Body
		}
		data.EditHistory = append(data.EditHistory, editData{text(next), version.EditedAt})
	}
	return Event{subject: s, kind: TypeMessageEdited, source: sourceNative, data: data}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type contactUpdated struct {
	Contact contactData `json:"contact"`
	Fields  []string    `json:"changed_fields"`
}

// ContactUpdated tells that fields of a contact changed.
func ContactUpdated(s Subject, c storage.Contact, fields []string) Event {
	return Event{subject: s, kind: TypeContactUpdated, source: sourceNative, data: contactUpdated{contactOf(s, c), fields}}
}

// Why a contact has another identity.
const (
	BSUIDRotated       = "bsuid_rotated"
	PhoneNumberChanged = "phone_number_changed"
)

type identityUpdated struct {
	Contact       contactData  `json:"contact"`
	Previous      identityData `json:"previous"`
	Current       identityData `json:"current"`
	Reason        string       `json:"reason"`
	PhoneNumberID string       `json:"phone_number_id"`
	ChangedAt     storage.Time `json:"changed_at"`
}

type identityData struct {
	BSUID       *string `json:"bsuid"`
	ParentBSUID *string `json:"parent_bsuid"`
	PhoneNumber *string `json:"phone_number"`
	Username    *string `json:"username"`
}

func identityOf(c storage.Contact) identityData {
	return identityData{c.BSUID, c.ParentBSUID, c.PhoneNumber, c.Username}
}

// ContactIdentityUpdated tells that a person is known by another number or id.
func ContactIdentityUpdated(s Subject, previous, current storage.Contact, at storage.Time) Event {
	reason := BSUIDRotated
	moved, rotated := text(previous.PhoneNumber) != text(current.PhoneNumber), text(previous.BSUID) != text(current.BSUID)
	if moved && (previous.PhoneNumber != nil || !rotated) { // to learn a number is no change if there is one of the id
		reason = PhoneNumberChanged
	}
	return Event{subject: s, kind: TypeContactIdentityUpdated, source: sourceNative, data: identityUpdated{
		contactOf(s, current), identityOf(previous), identityOf(current), reason, s.PhoneNumberID, at,
	}}
}
