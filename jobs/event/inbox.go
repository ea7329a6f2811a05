package event

import "confab/storage"

type conversationAssigned struct {
	Conversation conversationData `json:"conversation"`
	Assignee     Assignment       `json:"assignee"`
}

type conversationData struct {
	ID            string `json:"id"`
	Object        string `json:"object"`
	Status        string `json:"status"`
	PhoneNumberID string `json:"phone_number_id"`
}

// Assignment is who has a conversation now and who had it before: ids of users
// as they are, nil for nobody. The team is that of the user who has it now.
type Assignment struct {
	UserID         *string `json:"user_id"`
	TeamID         *string `json:"team_id"`
	PreviousUserID *string `json:"previous_user_id"`
}

// ConversationAssigned tells that a conversation went to another user, or to
// nobody.
func ConversationAssigned(s Subject, c storage.Conversation, a Assignment) Event {
	return Event{subject: s, kind: TypeConversationAssigned, source: sourceNative, data: conversationAssigned{
		conversationData{ID: c.ID, Object: "conversation", Status: c.Status, PhoneNumberID: s.PhoneNumberID}, a,
	}}
}

type conversationClosed struct {
	Conversation closedData `json:"conversation"`
}

type closedData struct {
	ID             string  `json:"id"`
	Object         string  `json:"object"`
	Status         string  `json:"status"`
	ClosedByUserID *string `json:"closed_by_user_id"` // nil for a key, which is nobody
	PhoneNumberID  string  `json:"phone_number_id"`
}

// ConversationClosed tells that a conversation became resolved, through a key.
func ConversationClosed(s Subject, c storage.Conversation) Event {
	return Event{subject: s, kind: TypeConversationClosed, source: sourceNative, data: conversationClosed{
		closedData{ID: c.ID, Object: "conversation", Status: storage.ConversationResolved, PhoneNumberID: s.PhoneNumberID},
	}}
}
