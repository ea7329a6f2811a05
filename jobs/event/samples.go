package event

import (
	"strconv"
	"time"

	"confab/storage"
)

// Sample makes an event of a type as it would be if something had happened just
// now, with new ids: for whoever wants to see how an endpoint takes it. It is
// made by the code that makes real ones.
func Sample(kind string, organization int64, now storage.Time, newID func(prefix string) string) (Event, error) {
	w := world{
		subject: Subject{Organization: organization, PhoneNumberID: "106540352242922"},
		now:     now,
		message: newID(storage.PrefixMessage),
		contact: storage.Contact{
			ID: newID(storage.PrefixContact), PhoneNumber: new("+15550001111"), BSUID: new("US.13491208655302741918"), Name: new("Ana Ruiz"),
			Email: new("ana@example.com"), Metadata: storage.JSON(`{"order":"A-1042"}`), CreatedAt: now, UpdatedAt: now,
		},
		conversation: newID(storage.PrefixConversation),
		label:        newID(storage.PrefixLabel),
		team:         newID(storage.PrefixTeam),
		customer:     newID(storage.PrefixCustomer),
		link:         newID(storage.PrefixSetupLink),
		account:      newID(storage.PrefixAccount),
		user:         newID(""),
	}
	return w.event(kind)
}

// The business of the samples.
const (
	sampleWABA  = "102290129340398"
	samplePhone = "15550783881"
)

// world is what the samples tell of.
type world struct {
	subject                                                           Subject
	now                                                               storage.Time
	contact                                                           storage.Contact
	message, conversation, label, team, customer, link, account, user string
}

func (w world) providerID() string { return "wamid.sample." + w.message[len(storage.PrefixMessage):] }

// event makes the sample of a type that is in the catalogue.
func (w world) event(kind string) (Event, error) {
	switch kind {
	case TypeMessageReceived:
		return w.messageReceived()
	case TypeMessageStatus:
		return w.messageStatus()
	case TypeMessageSent:
		return MessageSent(w.subject, w.sent(), Sent{At: w.now, Body: new("Your order is on its way."), ConversationStatus: storage.ConversationOpen}), nil
	case TypeMessageRevoked:
		return MessageRevoked(w.subject, w.written(), w.now), nil
	case TypeMessageEdited:
		return MessageEdited(w.subject, w.written(), []storage.MessageEdit{{Body: new("Where is my order?"), EditedAt: w.now}}), nil
	case TypeConversationAssigned:
		return ConversationAssigned(w.subject, w.thread(), Assignment{UserID: &w.user, TeamID: &w.team}), nil
	case TypeConversationClosed:
		return ConversationClosed(w.subject, w.thread()), nil
	case TypeContactCreated:
		return ContactCreated(w.subject, w.contact), nil
	case TypeContactUpdated:
		return ContactUpdated(w.subject, w.contact, []string{"name", "labels"}), nil
	case TypeContactIdentityUpdated:
		before := w.contact
		before.BSUID = new("US.10973450127712803651")
		return ContactIdentityUpdated(w.subject, before, w.contact, w.now), nil
	default:
		return w.customerChange(kind), nil
	}
}

func (w world) sent() storage.Message {
	return storage.Message{
		ID: w.message, ConversationID: w.conversation, ContactID: w.contact.ID, Direction: storage.Outbound, Type: "text", Status: storage.MessageSent,
		Source: storage.SourceAPI, ProviderID: new(w.providerID()), Content: storage.JSON(`{"body":"Your order is on its way."}`),
		ContactPhone: w.contact.PhoneNumber, ContactName: w.contact.Name, AccountPhone: new("+" + samplePhone),
	}
}

func (w world) timestamp() string { return strconv.FormatInt(w.now.Std().Unix(), 10) }

// provider wraps what a callback brought in the provider's envelope.
func (w world) provider(kind string, value map[string]any) (Event, error) {
	value["messaging_product"] = "chat"
	value["metadata"] = metadataData{DisplayPhoneNumber: samplePhone, PhoneNumberID: w.subject.PhoneNumberID}
	envelope := map[string]any{
		"object": "chat_business_account",
		"entry":  []any{map[string]any{"id": sampleWABA, "changes": []any{map[string]any{"field": "messages", "value": value}}}},
	}
	text, err := encode(envelope)
	return Event{subject: w.subject, kind: kind, source: sourceProvider, eventID: w.providerID(), envelope: text}, err
}

func (w world) messageReceived() (Event, error) {
	digits := (*w.contact.PhoneNumber)[1:]
	received, err := w.provider(TypeMessageReceived, map[string]any{
		"contacts": []any{map[string]any{"profile": map[string]any{"name": w.contact.Name}, "wa_id": digits}},
		"messages": []any{map[string]any{
			"from": digits, "id": w.providerID(), "timestamp": w.timestamp(), "type": "text", "text": map[string]any{"body": "Where is my order?"},
		}},
	})
	if err != nil {
		return received, err
	}
	return MessageReceived(w.subject, Received{
		Message: storage.Message{ID: w.message, ProviderID: new(w.providerID())},
		Thread:  storage.Thread{Contact: w.contact, ConversationID: w.conversation, Status: storage.ConversationOpen, AssigneeID: &w.user},
		Labels:  []storage.Attached{{ID: w.label, Name: "VIP", Color: "red"}},
	}, received.envelope)
}

func (w world) messageStatus() (Event, error) {
	return w.provider(TypeMessageStatus, map[string]any{
		"statuses": []any{map[string]any{
			"id": w.providerID(), "status": storage.MessageDelivered, "timestamp": w.timestamp(), "recipient_id": (*w.contact.PhoneNumber)[1:],
			"pricing": map[string]any{"billable": true, "pricing_model": "PMP", "type": "regular", "category": "utility"},
		}},
	})
}

// written is a message from the contact.
func (w world) written() storage.Message {
	return storage.Message{
		ID: w.message, ConversationID: w.conversation, ContactID: w.contact.ID, ProviderID: new(w.providerID()), Body: new("Where is my order A-1042?"),
		EditedAt: w.now, ContactPhone: w.contact.PhoneNumber, AccountPhone: new("+" + samplePhone),
	}
}

func (w world) thread() storage.Conversation {
	return storage.Conversation{ID: w.conversation, Status: storage.ConversationOpen}
}

// customerChange makes the samples that tell of a customer and its links.
func (w world) customerChange(kind string) Event {
	c := storage.Customer{ID: w.customer, OrganizationID: w.subject.Organization, TeamPublicID: w.team, Name: "Bakery Nord",
		Email: new("hello@bakery.example"), Status: storage.CustomerActive, CreatedAt: w.now, UpdatedAt: w.now}
	l := storage.SetupLink{ID: w.link, CustomerID: w.customer, TokenLast4: "x7Qa", Status: storage.LinkActive,
		SuccessRedirectURL: new("https://app.example.com/connected"), ExpiresAt: w.now.Add(7 * 24 * time.Hour), CreatedAt: w.now}
	a := storage.Account{PublicID: w.account, PhoneNumberID: &w.subject.PhoneNumberID}
	switch kind {
	case TypeCustomerCreated:
		c.Status = storage.CustomerPending
		return CustomerCreated(c)
	case TypeCustomerArchived:
		c.Status, c.ArchivedAt = storage.CustomerArchived, w.now
		return CustomerArchived(c)
	case TypeCustomerOnboarded:
		return CustomerOnboarded(c, a, "+1 555-078-3881")
	case TypeSetupLinkCreated:
		return SetupLinkCreated(c, l)
	case TypeSetupLinkConsumed:
		l.Status, l.ConsumedAt = storage.LinkConsumed, w.now
		return SetupLinkConsumed(c, l, a)
	default:
		return CustomerUpdated(c)
	}
}
