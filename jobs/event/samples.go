package event

import (
	"strconv"
	"time"

	"confab/storage"
)

// Sample makes an invented event of a type, with new ids and the current time, to
// try out an endpoint. It uses the same functions as real events do.
func Sample(kind string, organization int64, now storage.Time, newID func(prefix string) string) (Event, error) {
	d := sampleData{
		subject: Subject{Organization: organization, PhoneNumberID: "106540352242922"},
		now:     now,
		user:    newID(""),
		contact: storage.Contact{
			ID:          newID(storage.PrefixContact),
			PhoneNumber: new("+15550001111"),
			BSUID:       new("US.13491208655302741918"),
			Name:        new("Ana Ruiz"),
			Email:       new("ana@example.com"),
			Metadata:    storage.JSON(`{"order":"A-1042"}`),
			CreatedAt:   now,
			UpdatedAt:   now,
		},
	}
	return d.event(kind)
}

// The business account and the phone number of the samples.
const (
	sampleWABA  = "102290129340398"
	samplePhone = "15550783881"
)

type sampleData struct {
	subject Subject
	now     storage.Time
	contact storage.Contact
	user    string // its id, which those of the rest end with
}

func (d sampleData) providerID() string { return "wamid.sample." + d.user }

func (d sampleData) event(kind string) (Event, error) {
	switch kind {
	case TypeMessageReceived:
		return d.messageReceived()
	case TypeMessageStatus:
		return d.messageStatus()
	case TypeMessageSent:
		return MessageSent(d.subject, d.outboundMessage(), d.now, ""), nil
	case TypeMessageRevoked:
		return MessageRevoked(d.subject, d.inboundMessage(), d.now), nil
	case TypeMessageEdited:
		return MessageEdited(d.subject, d.inboundMessage(), []storage.MessageEdit{{Body: new("Where is my order?"), EditedAt: d.now}}), nil

	case TypeConversationAssigned:
		return ConversationAssigned(d.subject, d.thread(), Assignment{UserID: &d.user, TeamID: new(storage.PrefixTeam + d.user)}), nil
	case TypeConversationClosed:
		return ConversationClosed(d.subject, d.thread(), nil), nil
	case TypeConversationHandedOver:
		from := storage.Holder{Type: storage.HolderAgent, ID: new("concierge"), Since: d.now}
		to := storage.Holder{Type: storage.HolderUser, ID: &d.user, Since: d.now}
		return ConversationHandedOver(d.subject, d.thread().ID, from, to, By{ByUser, &d.user}, new("Wants a refund.")), nil

	case TypeNoteCreated, TypeNoteUpdated, TypeNoteDeleted:
		return Note(kind, d.subject, d.note()), nil

	case TypeContactCreated:
		return ContactCreated(d.subject, d.contact), nil
	case TypeContactUpdated:
		return ContactUpdated(d.subject, d.contact, []string{"name", "labels"}), nil
	case TypeContactIdentityUpdated:
		before := d.contact
		before.BSUID = new("US.10973450127712803651")
		return ContactIdentityUpdated(d.subject, before, d.contact, d.now), nil
	case TypeContactConsentChanged:
		after := d.contact
		after.MarketingOptedOut, after.OptedIn = true, true
		return ContactConsentChanged(d.subject, after, ConsentByWord, new(storage.PrefixMessage+d.user)), nil

	case TypeBroadcastStarted:
		return Broadcast(kind, d.subject, d.broadcast()), nil
	case TypeBroadcastCompleted:
		b := d.broadcast()
		b.Status, b.CompletedAt, b.Waiting, b.Delivered = storage.BroadcastCompleted, d.now, 0, b.Total
		return Broadcast(kind, d.subject, b), nil

	case TypeTemplateCategory:
		return TemplateCategoryChanging(d.subject, d.template()), nil

	default:
		return d.customerChange(kind), nil
	}
}

func (d sampleData) note() storage.Note {
	return storage.Note{
		ID:             storage.PrefixNote + d.user,
		ConversationID: storage.PrefixConversation + d.user,
		Text:           "Refund approved.",
		Mentions:       storage.Strings{},
		NoteAuthor:     storage.NoteAuthor{Type: storage.NoteByUser, ID: d.user, Name: new("Ben Okafor")},
		CreatedAt:      d.now,
		UpdatedAt:      d.now,
	}
}

func (d sampleData) broadcast() storage.Broadcast {
	return storage.Broadcast{
		ID:              storage.PrefixBroadcast + d.user,
		Name:            "Spring sale",
		AccountNumberID: &d.subject.PhoneNumberID,
		Content:         storage.JSON(`{"name":"spring_sale","language":"en_US"}`),
		AudienceType:    storage.AudienceLabel,
		LabelID:         new(storage.PrefixLabel + d.user),
		Status:          storage.BroadcastRunning,
		BroadcastCounts: storage.BroadcastCounts{Total: 50, Waiting: 50},
		StartedAt:       d.now,
		CreatedBy:       &d.user,
		CreatedAt:       d.now,
		UpdatedAt:       d.now,
	}
}

func (d sampleData) template() storage.Template {
	return storage.Template{
		ID:               storage.PrefixTemplate + d.user,
		Name:             "order_ready",
		Language:         "en_US",
		Status:           storage.TemplateApproved,
		Category:         "UTILITY",
		CategoryChangeTo: "MARKETING",
		CategoryChangeAt: d.now.Add(30 * 24 * time.Hour),
	}
}

func (d sampleData) outboundMessage() storage.Message {
	return storage.Message{
		ID:                 storage.PrefixMessage + d.user,
		ConversationID:     storage.PrefixConversation + d.user,
		ConversationStatus: storage.ConversationOpen,
		ContactID:          d.contact.ID,
		Direction:          storage.Outbound,
		Type:               "text",
		Status:             storage.MessageSent,
		Source:             storage.SourceAPI,
		ProviderID:         new(d.providerID()),
		Content:            storage.JSON(`{"body":"Your order is on its way."}`),
		Body:               new("Your order is on its way."),
		ContactPhone:       d.contact.PhoneNumber,
		ContactName:        d.contact.Name,
		AccountPhone:       new("+" + samplePhone),
	}
}

func (d sampleData) timestamp() string { return strconv.FormatInt(d.now.Std().Unix(), 10) }

func (d sampleData) providerEvent(kind string, value map[string]any) (Event, error) {
	value["messaging_product"] = "chat"
	value["metadata"] = metadataData{DisplayPhoneNumber: samplePhone, PhoneNumberID: d.subject.PhoneNumberID}
	text, err := encode(map[string]any{
		"object": "chat_business_account",
		"entry":  []any{map[string]any{"id": sampleWABA, "changes": []any{map[string]any{"field": "messages", "value": value}}}},
	})
	return Event{subject: d.subject, kind: kind, source: sourceProvider, eventID: d.providerID(), envelope: text}, err
}

func (d sampleData) messageReceived() (Event, error) {
	digits := (*d.contact.PhoneNumber)[1:]
	received, err := d.providerEvent(TypeMessageReceived, map[string]any{
		"contacts": []any{map[string]any{"profile": map[string]any{"name": d.contact.Name}, "wa_id": digits}},
		"messages": []any{map[string]any{
			"from":      digits,
			"id":        d.providerID(),
			"timestamp": d.timestamp(),
			"type":      "text",
			"text":      map[string]any{"body": "Where is my order?"},
		}},
	})
	if err != nil {
		return received, err
	}

	return MessageReceived(d.subject, Received{
		Message: storage.Message{ID: storage.PrefixMessage + d.user, ProviderID: new(d.providerID())},
		Thread:  storage.Thread{Contact: d.contact, ConversationID: d.thread().ID, Status: storage.ConversationOpen, AssigneeID: &d.user},
		Labels:  []storage.AttachedLabel{{ID: storage.PrefixLabel + d.user, Name: "VIP", Color: "red"}},
	}, received.envelope)
}

func (d sampleData) messageStatus() (Event, error) {
	return d.providerEvent(TypeMessageStatus, map[string]any{
		"statuses": []any{map[string]any{
			"id":           d.providerID(),
			"status":       storage.MessageDelivered,
			"timestamp":    d.timestamp(),
			"recipient_id": (*d.contact.PhoneNumber)[1:],
			"pricing":      map[string]any{"billable": true, "pricing_model": "PMP", "type": "regular", "category": "utility"},
		}},
	})
}

func (d sampleData) inboundMessage() storage.Message {
	return storage.Message{
		ID:             storage.PrefixMessage + d.user,
		ConversationID: storage.PrefixConversation + d.user,
		ContactID:      d.contact.ID,
		ProviderID:     new(d.providerID()),
		Body:           new("Where is my order A-1042?"),
		EditedAt:       d.now,
		ContactPhone:   d.contact.PhoneNumber,
		AccountPhone:   new("+" + samplePhone),
	}
}

func (d sampleData) thread() storage.Conversation {
	return storage.Conversation{ID: storage.PrefixConversation + d.user, Status: storage.ConversationOpen}
}

func (d sampleData) customerChange(kind string) Event {
	c := storage.Customer{
		ID:             storage.PrefixCustomer + d.user,
		OrganizationID: d.subject.Organization,
		TeamPublicID:   storage.PrefixTeam + d.user,
		Name:           "Bakery Nord",
		Email:          new("hello@bakery.example"),
		Status:         storage.CustomerActive,
		CreatedAt:      d.now,
		UpdatedAt:      d.now,
	}
	l := storage.SetupLink{
		ID:                 storage.PrefixSetupLink + d.user,
		CustomerID:         storage.PrefixCustomer + d.user,
		TokenLast4:         "x7Qa",
		Status:             storage.LinkActive,
		SuccessRedirectURL: new("https://app.example.com/connected"),
		ExpiresAt:          d.now.Add(7 * 24 * time.Hour),
		CreatedAt:          d.now,
	}
	a := storage.Account{PublicID: storage.PrefixAccount + d.user, PhoneNumberID: &d.subject.PhoneNumberID}

	switch kind {
	case TypeCustomerCreated:
		c.Status = storage.CustomerPending
	case TypeCustomerArchived:
		c.Status, c.ArchivedAt = storage.CustomerArchived, d.now
	case TypeCustomerOnboarded:
		return CustomerOnboarded(c, a, "+1 555-078-3881", true)
	case TypeSetupLinkCreated:
		return SetupLinkCreated(c, l)
	case TypeSetupLinkConsumed:
		l.Status, l.ConsumedAt = storage.LinkConsumed, d.now
		return SetupLinkConsumed(c, l, a)
	}
	return Customer(kind, c)
}
