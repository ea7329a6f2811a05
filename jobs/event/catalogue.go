package event

import "slices"

// Names of events.
const (
	TypeMessageReceived        = "message.received"
	TypeMessageStatus          = "message.status"
	TypeMessageSent            = "message.sent"
	TypeMessageRevoked         = "message.revoked"
	TypeMessageEdited          = "message.edited"
	TypeConversationAssigned   = "conversation.assigned"
	TypeConversationClosed     = "conversation.closed"
	TypeConversationHandedOver = "conversation.handed_over"
	TypeNoteCreated            = "note.created"
	TypeNoteUpdated            = "note.updated"
	TypeNoteDeleted            = "note.deleted"
	TypeContactCreated         = "contact.created"
	TypeContactUpdated         = "contact.updated"
	TypeContactIdentityUpdated = "contact.identity_updated"
	TypeContactConsentChanged  = "contact.consent_changed"
	TypeCustomerCreated        = "customer.created"
	TypeCustomerUpdated        = "customer.updated"
	TypeCustomerArchived       = "customer.archived"
	TypeCustomerOnboarded      = "customer.onboarded"
	TypeSetupLinkCreated       = "customer.setup_link.created"
	TypeSetupLinkConsumed      = "customer.setup_link.consumed"
	TypeBroadcastStarted       = "broadcast.started"
	TypeBroadcastCompleted     = "broadcast.completed"
	TypeTemplateCategory       = "template.category_changing"
)

// AllTypes means every type of event in a subscription, also for future ones.
const AllTypes = "*"

// types are the whole catalogue, in its order.
var types = []string{
	TypeMessageReceived, TypeMessageStatus, TypeMessageSent, TypeMessageRevoked, TypeMessageEdited,
	TypeConversationAssigned, TypeConversationClosed, TypeConversationHandedOver,
	TypeNoteCreated, TypeNoteUpdated, TypeNoteDeleted,
	TypeContactCreated, TypeContactUpdated, TypeContactIdentityUpdated, TypeContactConsentChanged,
	TypeCustomerCreated, TypeCustomerUpdated, TypeCustomerArchived, TypeCustomerOnboarded,
	TypeSetupLinkCreated, TypeSetupLinkConsumed,
	TypeBroadcastStarted, TypeBroadcastCompleted,
	TypeTemplateCategory,
}

// Types lists the names of all events.
func Types() []string { return slices.Clone(types) }

// IsType reports whether an event of this name exists.
func IsType(name string) bool { return slices.Contains(types, name) }
