package api

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

// serviceWindow is how long after a person's last message the business may send
// anything, not only templates.
const serviceWindow = 24 * time.Hour

type conversationView struct {
	storage.FullConversation
	account       chatAccountView
	assigneeEmail *string // as far as the caller may see it
	labels        []storage.AttachedLabel
	last          *storage.LastMessage // a broadcast's only where there is no other
}

func (v conversationView) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendText(append(b, `,"object":"conversation","status":`...), v.Status)
	b = v.appendContact(append(b, `,"contact":`...))
	b = v.account.AppendJSON(append(b, `,"chat_account":`...))
	b = v.appendAssignee(append(b, `,"assignee":`...))
	b = rest.AppendLabels(append(b, `,"labels":`...), v.labels)
	b = strconv.AppendInt(append(b, `,"unread_count":`...), int64(v.UnreadCount), 10)
	b = appendLastMessage(append(b, `,"last_message":`...), v.last)

	windowEnds := storage.Time(0)
	if v.LastInboundAt != 0 {
		windowEnds = v.LastInboundAt.Add(serviceWindow)
	}
	b = v.LastMessageAt.AppendJSON(append(b, `,"last_message_at":`...))
	b = v.LastInboundAt.AppendJSON(append(b, `,"last_inbound_at":`...))
	b = windowEnds.AppendJSON(append(b, `,"service_window_expires_at":`...))
	b = v.WaitingSince.AppendJSON(append(b, `,"waiting_since":`...))
	b = v.SnoozedUntil.AppendJSON(append(b, `,"snoozed_until":`...))

	holder := v.Holder()
	b = rest.AppendText(append(b, `,"holder":{"type":`...), holder.Type)
	b = rest.AppendOptional(append(b, `,"id":`...), holder.ID)
	b = holder.Since.AppendJSON(append(b, `,"since":`...))
	b = v.CreatedAt.AppendJSON(append(b, `},"created_at":`...))
	b = v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	return append(b, '}')
}

// appendContact writes the contact. One without a number is written to by an id, which is shown
// only then.
func (v conversationView) appendContact(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ContactID)
	b = rest.AppendOptional(append(b, `,"phone_number":`...), v.ContactPhone)
	b = rest.AppendOptional(append(b, `,"name":`...), v.ContactName)
	if v.ContactPhone == nil && v.ContactBSUID != nil {
		b = rest.AppendText(append(b, `,"bsuid":`...), *v.ContactBSUID)
	}
	if v.ContactPhone == nil && v.ContactParent != nil {
		b = rest.AppendText(append(b, `,"parent_bsuid":`...), *v.ContactParent)
	}
	return append(b, '}')
}

func (v conversationView) appendAssignee(b []byte) []byte {
	if v.AssigneeID == nil {
		return append(b, "null"...)
	}

	b = rest.AppendText(append(b, `{"id":`...), *v.AssigneeID)
	b = rest.AppendOptional(append(b, `,"name":`...), v.AssigneeName)
	b = rest.AppendOptional(append(b, `,"email":`...), v.assigneeEmail)
	return append(b, '}')
}

func appendLastMessage(b []byte, m *storage.LastMessage) []byte {
	if m == nil {
		return append(b, "null"...)
	}

	b = rest.AppendText(append(b, `{"id":`...), m.ID)
	b = rest.AppendText(append(b, `,"type":`...), m.Type)
	b = rest.AppendText(append(b, `,"direction":`...), m.Direction)
	b = rest.AppendText(append(b, `,"status":`...), m.Status)
	b = rest.AppendText(append(b, `,"source":`...), m.Source)
	b = rest.AppendOptional(append(b, `,"sent_by":`...), m.SentBy)
	b = rest.AppendOptional(append(b, `,"preview":`...), m.Preview)
	b = m.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	return append(b, '}')
}

// conversationViews reads what a view of some conversations needs beside their rows,
// with a few queries for all of them, and returns the function that makes each view.
func conversationViews(
	rx *storage.Rx, r *rest.Request, all ...storage.FullConversation,
) (func(storage.FullConversation) conversationView, error) {
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}

	labels, labelsErr := rx.ConversationLabels(ids...)
	newest, newestErr := rx.LastMessages(ids...)
	chat, chatErr := rx.AccountSummary(r.Account.ID)

	return func(c storage.FullConversation) conversationView {
		v := conversationView{FullConversation: c, account: chatAccountView(chat), labels: labels[c.ID]}
		v.assigneeEmail = addressFor(r, storage.OrEmpty(c.AssigneeID), c.AssigneeEmail)
		if m, ok := newest[c.ID]; ok {
			v.last = &m
		}
		return v
	}, cmp.Or(labelsErr, newestErr, chatErr)
}

const (
	unassigned  = "none"    // no one, in the filter assigned_to
	sortWaiting = "waiting" // who waits longest first, in sort
)

func conversationFilters(r *rest.Request) (storage.ConversationFilter, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.ConversationFilter{
		Statuses:     q.SomeOf("status", storage.ConversationOpen, storage.ConversationResolved, storage.ConversationPending),
		ContactID:    q.ID("contact_id", storage.PrefixContact),
		Unread:       q.OneOf("unread", "true") != "",
		Waiting:      q.OneOf("waiting", "true") != "",
		LabelID:      q.ID("label_id", storage.PrefixLabel),
		UpdatedSince: q.After("updated_since"),
		ByWaiting:    q.OneOf("sort", sortWaiting) != "",
		Holder:       q.OneOf("holder", storage.HolderNone, storage.HolderUser, storage.HolderAgent),
	}
	if f.ByWaiting && f.UpdatedSince != 0 {
		q.Refuse("sort", "cannot be combined with updated_since")
	}

	snoozed := q.OneOf("snoozed", "true", "false")
	f.Snoozed, f.Awake = snoozed == "true", snoozed == "false"

	if q.OneOf("mentioned", me) != "" {
		if r.User == nil {
			q.Refuse("mentioned", "is for people who are signed in to the console")
		} else {
			f.MentionedID = r.User.ID
		}
	}

	if q.Values.Get("assigned_to") == unassigned {
		f.Unassigned = true
	} else {
		f.AssigneeID = q.UserID("assigned_to", ", or "+unassigned)
	}
	return f, q.Err
}

// listConversations handles GET /v1/:phone_number_id/conversations.
func (s *Server) listConversations(r *rest.Request) (rest.Reply, error) {
	f, err := conversationFilters(r)
	var view func(storage.FullConversation) conversationView
	rep, err := rest.ListOf(s.Server, r, rest.Lister[storage.FullConversation, conversationView]{
		Scope: fmt.Sprintf("conversations %d %#v", r.Account.ID, f),
		Err:   err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) (rows []storage.FullConversation, reached storage.After, err error) {
			if rows, reached, err = rx.Within(q.Budget).Conversations(r.Account.ID, f, q.After, q.Fetch()); err == nil {
				view, err = conversationViews(rx, r, rows...)
			}
			return rows, reached, err
		},
		Key:  f.Key,
		View: func(c storage.FullConversation) conversationView { return view(c) },
	})
	if err != nil {
		return rest.Reply{}, err
	}

	rep.ETag = rest.WeakETag(strconv.AppendBool(rep.List.Data, rep.List.HasMore)) // the bytes of the page stay as they are
	return rep, nil
}

// ConversationIn finds the conversation in the path.
var ConversationIn = rest.OfNumber(storage.PrefixConversation, (*storage.Rx).Conversation)

// ShowConversation replies with the conversation in the path.
func ShowConversation(rx *storage.Rx, r *rest.Request) (rest.Reply, error) {
	c, err := ConversationIn(rx, r)
	if err != nil {
		return rest.Reply{}, err
	}
	view, err := conversationViews(rx, r, c)
	return rest.OK(view(c)), err
}

// getConversation handles GET /v1/:phone_number_id/conversations/:id.
func (s *Server) getConversation(r *rest.Request) (rest.Reply, error) {
	return rest.Find(s.Server, r, ShowConversation)
}

// conversationChanges is the body of PATCH /v1/:phone_number_id/conversations/:id.
type conversationChanges struct {
	Status       rest.Patch[string] `json:"status"`
	AssignedTo   rest.Patch[string] `json:"assigned_to"`
	SnoozedUntil rest.Patch[string] `json:"snoozed_until"`
	Seen         *string            `json:"seen"` // the newest message that the caller knows

	rest.Timed
	until storage.Time // of SnoozedUntil
}

func (c *conversationChanges) Validate() (err error) {
	if !c.Status.Set && !c.AssignedTo.Set && !c.SnoozedUntil.Set {
		return rest.NoneGiven("status", "Provide at least one of status, assigned_to and snoozed_until.")
	}
	states := []string{storage.ConversationOpen, storage.ConversationResolved, storage.ConversationPending}
	if c.Status.Set && !slices.Contains(states, c.Status.Value) {
		return rest.Invalid("status", "must be open, resolved or pending")
	}

	c.until, err = c.TimeAhead("snoozed_until", c.SnoozedUntil.OrNil(), jobs.MaxSnooze, "year")
	if err == nil && c.Seen != nil && !storage.ValidID(storage.PrefixMessage, *c.Seen) {
		return errUnseen()
	}
	return err
}

// errUnseen reports a message that the caller cannot have seen here.
func errUnseen() error { return rest.Invalid("seen", "must be a message of this conversation") }

// updateConversation handles PATCH /v1/:phone_number_id/conversations/:id.
func (s *Server) updateConversation(r *rest.Request, in conversationChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		if err := changeConversation(tx, r, c.Conversation, in); err != nil {
			return rest.Reply{}, err
		}

		return ShowConversation(&tx.Rx, r)
	})
}

// isOvertaken reports whether a conversation would be resolved, or sleep, while there is a message
// of the person that the caller does not know.
func (c *conversationChanges) isOvertaken(tx *storage.Tx, v storage.Conversation) (bool, error) {
	if c.Seen == nil {
		return false, nil
	}

	newer, err := tx.HasInboundAfter(v, *c.Seen)
	if errors.Is(err, storage.ErrNotFound) {
		return false, errUnseen()
	}
	return newer && (c.Status.Value == storage.ConversationResolved || c.until != 0), err
}

func (c *conversationChanges) applyTo(tx *storage.Tx, v *storage.Conversation) error {
	c.Status.Apply(&v.Status)
	if c.until != 0 && v.Status == storage.ConversationResolved {
		return rest.Invalid("snoozed_until", "cannot be set on a resolved conversation")
	}

	switch {
	case v.Status == storage.ConversationResolved && v.SnoozedUntil != 0:
		return tx.Snooze(v, 0)
	case c.SnoozedUntil.Set && c.until != v.SnoozedUntil:
		return tx.Snooze(v, c.until)
	}
	return nil
}

// changeConversation stores the changes of a conversation, if there are any, and emits
// the events of a new assignee and of a resolved conversation.
func changeConversation(tx *storage.Tx, r *rest.Request, c storage.Conversation, in conversationChanges) error {
	before := c
	isOvertaken, err := in.isOvertaken(tx, c)
	if err != nil {
		return err
	}

	if in.AssignedTo.Given() {
		if err := checkAnyUser(&tx.Rx, r.Org.ID, "assigned_to", in.AssignedTo.Value); err != nil {
			return err
		}
	}

	in.AssignedTo.ApplyOrNil(&c.AssigneeID)
	if err := in.applyTo(tx, &c); err != nil {
		return err
	}
	if isOvertaken { // what is wrong with the body comes first
		return rest.Fail(rest.ConversationChanged, "A newer message has come in: read it first.")
	}

	// A PATCH that changes nothing leaves updated_at alone and emits no event.
	return messaging.UpdateConversation(tx, subject(r), byRequest(r), before, c)
}

func byRequest(r *rest.Request) event.By {
	if r.User != nil {
		return event.By{Type: event.ByUser, ID: &r.User.ID}
	}
	return event.By{Type: event.ByKey, ID: storage.OrNil(r.Key.ID)} // none of who has the data directory
}
