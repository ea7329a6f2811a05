package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/storage"
)

// contactByID finds the contact in the path, of any number of the organization.
var contactByID = rest.OfOrganization(storage.PrefixContact, (*storage.Rx).ContactOfOrganization)

// historyStopped is that somebody takes no more marketing.
const historyStopped = "marketing_stopped"

type historyView struct {
	Object    string        `json:"object"`
	Consent   consentView   `json:"consent"`
	Marketing string        `json:"marketing"` // whether they take such messages, as far as is known
	Items     []historyItem `json:"items"`     // the newest first
}

// consentView is whether somebody may be messaged, since when and by what.
type consentView struct {
	Given    bool         `json:"given"`
	Required bool         `json:"required"` // by the organization, for templates
	By       *string      `json:"by"`       // a message of theirs, or a record of the team or a program
	Since    storage.Time `json:"since"`
}

// historyItem is one thing that happened. Which of the fields it has depends on the type.
type historyItem struct {
	Type   string       `json:"type"`
	At     storage.Time `json:"at"`
	ID     string       `json:"id,omitempty"`     // of the conversation or the broadcast
	Name   string       `json:"name,omitempty"`   // of the broadcast, or of a person of the team
	Status string       `json:"status,omitempty"` // of the recipient
	Reason string       `json:"reason,omitempty"`
	From   string       `json:"from,omitempty"` // an earlier number
	To     string       `json:"to,omitempty"`
	Fields []string     `json:"fields,omitempty"` // that were changed
	Text   string       `json:"text,omitempty"`   // of a note, or its beginning
}

// mostHistory bounds each kind of what happened, and mostOfNote the characters of a note.
const (
	mostHistory = 50
	mostOfNote  = 200
)

// getContactHistory handles GET /console/api/contacts/:id/history.
func (s *Server) getContactHistory(r *rest.Request) (rest.Reply, error) {
	return rest.QueryMany(s.Server, r, func(rx *storage.Rx) (rest.Reply, error) {
		c, err := contactByID(rx, r)
		if err != nil {
			return rest.Reply{}, err
		}
		view, err := readHistory(rx, r.Org, c)
		return rest.OK(view), err
	})
}

func readHistory(rx *storage.Rx, org storage.Organization, c storage.Contact) (v historyView, err error) {
	conversation, err := rx.ConversationOf(c.ID)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return v, err
	}
	writing, err := rx.ContactWriting(conversation.ID)
	if err != nil {
		return v, err
	}

	v = historyView{Object: "contact_history", Marketing: marketingOf(c, writing), Consent: consentOf(org, c, writing)}
	v.add(historyItem{Type: "added", At: c.CreatedAt})
	if conversation.ID != "" {
		v.add(historyItem{Type: "conversation", At: conversation.CreatedAt, ID: conversation.ID, Status: conversation.Status})
	}
	if err := v.addBroadcasts(rx, c); err != nil {
		return v, err
	}
	if err := v.addNotes(rx, conversation.ID); err != nil {
		return v, err
	}
	if err := v.addEvents(rx, org, c, conversation.ID); err != nil {
		return v, err
	}

	// Events are not kept for ever.
	isStop := func(item historyItem) bool { return item.Type == historyStopped }
	if writing.RefusedAt != 0 && !slices.ContainsFunc(v.Items, isStop) {
		v.add(historyItem{Type: historyStopped, At: writing.RefusedAt})
	}
	slices.SortStableFunc(v.Items, func(a, b historyItem) int { return cmp.Compare(b.At, a.At) })
	return v, nil
}

// consentOf is whether somebody may be messaged. Who writes agrees by that.
func consentOf(org storage.Organization, c storage.Contact, w storage.ContactWriting) consentView {
	v := consentView{Given: c.OptedIn, Required: org.RequireOptIn}
	switch {
	case !c.OptedIn:
	case w.FirstInboundAt != 0:
		v.By, v.Since = new("message"), w.FirstInboundAt
	default:
		v.By = new("record")
	}
	return v
}

// marketingOf is whether somebody takes marketing. That they wrote says nothing of it.
func marketingOf(c storage.Contact, w storage.ContactWriting) string {
	switch {
	case c.MarketingOptedOut:
		return "stopped"
	case c.OptedIn && w.FirstInboundAt == 0:
		return "allowed"
	}
	return "unknown"
}

func (v *historyView) add(item historyItem) { v.Items = append(v.Items, item) }

func (v *historyView) addBroadcasts(rx *storage.Rx, c storage.Contact) error {
	all, err := rx.ContactBroadcasts(c.ID, mostHistory)
	for _, b := range all {
		item := historyItem{Type: "broadcast", At: b.At, ID: b.ID, Name: b.Name, Status: b.Status.String()}
		if b.Status == storage.RecipientSkipped {
			item.Reason = storage.OrEmpty(b.Reason)
		}
		v.add(item)
	}
	return err
}

func (v *historyView) addNotes(rx *storage.Rx, conversation string) error {
	all, _, err := rx.Notes(conversation, storage.NoteFilter{}, storage.First, mostHistory)
	for _, n := range all {
		text := shorten(n.Text, mostOfNote)
		v.add(historyItem{Type: "note", At: n.CreatedAt, ID: conversation, Name: storage.OrEmpty(n.NoteAuthor.Name), Text: text})
	}
	return err
}

// happened is what the history needs of the payload of an event.
type happened struct {
	Data struct {
		Conversation struct {
			ClosedBy *string `json:"closed_by_user_id"`
		} `json:"conversation"`
		Assignee struct {
			UserID *string `json:"user_id"`
		} `json:"assignee"`
		Previous, Current struct {
			PhoneNumber string `json:"phone_number"`
		}
		Fields  []string `json:"changed_fields"`
		Stopped bool     `json:"marketing_opted_out"`
		By      string   `json:"by"`
	} `json:"data"`
}

func (v *historyView) addEvents(rx *storage.Rx, org storage.Organization, c storage.Contact, conversation string) error {
	all, err := rx.ContactEvents(org.ID, c.ID, conversation, mostHistory)
	if err != nil {
		return err
	}
	people, err := rx.Users(org.ID)
	if err != nil {
		return err
	}

	names := make(map[string]string, len(people))
	for _, one := range people {
		names[one.ID] = one.Name
	}
	stopped := false // before the event
	for _, e := range slices.Backward(all) {
		var h happened
		if json.Unmarshal(e.Payload, &h) != nil {
			continue
		}
		if e.Type == event.TypeContactConsentChanged {
			was := stopped
			stopped = h.Data.Stopped
			if was || !stopped || h.Data.By == event.ConsentByAPI { // which contact.updated tells
				continue
			}
		}
		v.add(itemOf(e.Event, h, names))
	}
	return nil
}

func itemOf(e storage.Event, h happened, names map[string]string) historyItem {
	item := historyItem{At: e.CreatedAt}
	switch e.Type {
	case event.TypeConversationAssigned:
		item.Type, item.Name = "assigned", names[storage.OrEmpty(h.Data.Assignee.UserID)]
	case event.TypeConversationClosed:
		item.Type, item.Name = "resolved", names[storage.OrEmpty(h.Data.Conversation.ClosedBy)]
	case event.TypeContactIdentityUpdated:
		item.Type, item.From, item.To = "identity", h.Data.Previous.PhoneNumber, h.Data.Current.PhoneNumber
	case event.TypeContactConsentChanged:
		item.Type = historyStopped
	default:
		item.Type, item.Fields = "updated", h.Data.Fields
	}
	return item
}
