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

// Assignment is whom a conversation is assigned to now and was before: ids of
// users, nil for no one. The team is that of the current user.
type Assignment struct {
	UserID         *string `json:"user_id"`
	TeamID         *string `json:"team_id"`
	PreviousUserID *string `json:"previous_user_id"`
}

// ConversationAssigned says that a conversation has another assignee, or none.
func ConversationAssigned(s Subject, c storage.Conversation, a Assignment) Event {
	return Event{subject: s, kind: TypeConversationAssigned, data: conversationAssigned{
		conversationData{ID: c.ID, Object: "conversation", Status: c.Status, PhoneNumberID: s.PhoneNumberID}, a,
	}}
}

type closedData struct {
	ID             string  `json:"id"`
	Object         string  `json:"object"`
	Status         string  `json:"status"`
	ClosedByUserID *string `json:"closed_by_user_id"` // nil for an API key, which is no user
	PhoneNumberID  string  `json:"phone_number_id"`
}

// ConversationClosed says that a conversation was resolved, by a user or with an API key.
func ConversationClosed(s Subject, c storage.Conversation, user *string) Event {
	return Event{subject: s, kind: TypeConversationClosed, data: map[string]any{
		"conversation": closedData{
			ID:             c.ID,
			Object:         "conversation",
			Status:         storage.ConversationResolved,
			ClosedByUserID: user,
			PhoneNumberID:  s.PhoneNumberID,
		},
	}}
}

// By is who did something to a conversation.
type By struct {
	Type string  `json:"type"` // user, key, rule, system
	ID   *string `json:"id"`
}

// Who can do something to a conversation.
const (
	ByUser   = "user"
	ByKey    = "key"
	ByRule   = "rule"
	BySystem = "system"
)

type handedOver struct {
	ConversationID string         `json:"conversation_id"`
	PhoneNumberID  string         `json:"phone_number_id"`
	From           storage.Holder `json:"from"`
	To             storage.Holder `json:"to"`
	By             By             `json:"by"`
	Note           *string        `json:"note"`
}

// ConversationHandedOver says that somebody else holds a conversation now, or nobody.
func ConversationHandedOver(s Subject, conversation string, from, to storage.Holder, by By, note *string) Event {
	return Event{subject: s, kind: TypeConversationHandedOver, data: handedOver{
		conversation, s.PhoneNumberID, from, to, by, note,
	}}
}
