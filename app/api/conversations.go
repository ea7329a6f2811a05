package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

// serviceWindow is how long after a person's last message the business may send
// anything, not only templates.
const serviceWindow = 24 * time.Hour

// conversationView is the public shape of a conversation.
type conversationView struct {
	ID                     string                  `json:"id"`
	Object                 string                  `json:"object"`
	Status                 string                  `json:"status"`
	Contact                contactSummary          `json:"contact"`
	AccountSummary         chatAccountView         `json:"chat_account"`
	Assignee               *assigneeView           `json:"assignee"`
	Labels                 []storage.AttachedLabel `json:"labels"`
	UnreadCount            int                     `json:"unread_count"`
	LastMessage            *lastMessageView        `json:"last_message"`
	LastMessageAt          storage.Time            `json:"last_message_at"`
	LastInboundAt          storage.Time            `json:"last_inbound_at"`
	ServiceWindowExpiresAt storage.Time            `json:"service_window_expires_at"`
	WaitingSince           storage.Time            `json:"waiting_since"`
	SnoozedUntil           storage.Time            `json:"snoozed_until"`
	Holder                 storage.Holder          `json:"holder"`
	CreatedAt              storage.Time            `json:"created_at"`
	UpdatedAt              storage.Time            `json:"updated_at"`
}

// contactSummary is a contact inside of a conversation. One without a number is written to by an
// id, which is shown only then.
type contactSummary struct {
	ID          string  `json:"id"`
	PhoneNumber *string `json:"phone_number"`
	Name        *string `json:"name"`
	BSUID       *string `json:"bsuid,omitempty"`
	ParentBSUID *string `json:"parent_bsuid,omitempty"`
}

func (v contactSummary) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendOptional(append(b, `,"phone_number":`...), v.PhoneNumber)
	b = rest.AppendOptional(append(b, `,"name":`...), v.Name)
	if v.BSUID != nil {
		b = rest.AppendText(append(b, `,"bsuid":`...), *v.BSUID)
	}
	if v.ParentBSUID != nil {
		b = rest.AppendText(append(b, `,"parent_bsuid":`...), *v.ParentBSUID)
	}
	return append(b, '}')
}

// assigneeView is the user to whom a conversation is assigned.
type assigneeView struct {
	ID    string  `json:"id"`
	Name  *string `json:"name"`
	Email *string `json:"email"`
}

func (v conversationView) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendText(append(b, `,"object":`...), v.Object)
	b = rest.AppendText(append(b, `,"status":`...), v.Status)

	b = v.Contact.AppendJSON(append(b, `,"contact":`...))
	b = v.AccountSummary.AppendJSON(append(b, `,"chat_account":`...))
	b = v.Assignee.AppendJSON(append(b, `,"assignee":`...))
	b = rest.AppendLabels(append(b, `,"labels":`...), v.Labels)

	b = strconv.AppendInt(append(b, `,"unread_count":`...), int64(v.UnreadCount), 10)
	b = v.LastMessage.AppendJSON(append(b, `,"last_message":`...))
	b = v.LastMessageAt.AppendJSON(append(b, `,"last_message_at":`...))
	b = v.LastInboundAt.AppendJSON(append(b, `,"last_inbound_at":`...))
	b = v.ServiceWindowExpiresAt.AppendJSON(append(b, `,"service_window_expires_at":`...))
	b = v.WaitingSince.AppendJSON(append(b, `,"waiting_since":`...))
	b = v.SnoozedUntil.AppendJSON(append(b, `,"snoozed_until":`...))
	b = rest.AppendText(append(b, `,"holder":{"type":`...), v.Holder.Type)
	b = rest.AppendOptional(append(b, `,"id":`...), v.Holder.ID)
	b = v.Holder.Since.AppendJSON(append(b, `,"since":`...))
	b = v.CreatedAt.AppendJSON(append(b, `},"created_at":`...))
	b = v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	return append(b, '}')
}

func (v *assigneeView) AppendJSON(b []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}

	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendOptional(append(b, `,"name":`...), v.Name)
	b = rest.AppendOptional(append(b, `,"email":`...), v.Email)
	return append(b, '}')
}

// lastMessageView is the newest message of a conversation in short: a broadcast's only
// where there is no other.
type lastMessageView storage.LastMessage

func (v *lastMessageView) AppendJSON(b []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}

	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendText(append(b, `,"type":`...), v.Type)
	b = rest.AppendText(append(b, `,"direction":`...), v.Direction)
	b = rest.AppendText(append(b, `,"status":`...), v.Status)
	b = rest.AppendText(append(b, `,"source":`...), v.Source)
	b = rest.AppendOptional(append(b, `,"sent_by":`...), v.SentBy)
	b = rest.AppendOptional(append(b, `,"preview":`...), v.Preview)
	b = v.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
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

	labels, err := rx.ConversationLabels(ids...)
	if err != nil {
		return nil, err
	}

	newest, err := rx.LastMessages(ids...)
	if err != nil {
		return nil, err
	}

	chat, err := rx.AccountSummary(r.Account.ID)

	return func(c storage.FullConversation) conversationView {
		v := conversationView{
			ID:             c.ID,
			Object:         "conversation",
			Status:         c.Status,
			Contact:        contactSummary{ID: c.ContactID, PhoneNumber: c.ContactPhone, Name: c.ContactName},
			AccountSummary: viewChatAccount(chat),
			Labels:         rest.OrEmpty(labels[c.ID]),
			UnreadCount:    c.UnreadCount,
			LastMessageAt:  c.LastMessageAt,
			LastInboundAt:  c.LastInboundAt,
			WaitingSince:   c.WaitingSince,
			SnoozedUntil:   c.SnoozedUntil,
			Holder:         c.Holder(),
			CreatedAt:      c.CreatedAt,
			UpdatedAt:      c.UpdatedAt,
		}

		if c.ContactPhone == nil {
			v.Contact.BSUID, v.Contact.ParentBSUID = c.ContactBSUID, c.ContactParent
		}
		if c.AssigneeID != nil {
			v.Assignee = &assigneeView{*c.AssigneeID, c.AssigneeName, addressFor(r, *c.AssigneeID, c.AssigneeEmail)}
		}
		if m, ok := newest[c.ID]; ok {
			v.LastMessage = (*lastMessageView)(&m)
		}
		if c.LastInboundAt != 0 {
			v.ServiceWindowExpiresAt = c.LastInboundAt.Add(serviceWindow)
		}

		return v
	}, err
}

const (
	unassigned  = "none"    // no one, in the filter assigned_to
	sortWaiting = "waiting" // who waits longest first, in sort
)

// conversationFilters reads the filters of a list of conversations.
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
	return withETag(rep), nil
}

// withETag gives a page a weak ETag: a hash of everything that it shows.
func withETag(rep rest.Reply) rest.Reply {
	h := sha256.New()
	h.Write(rep.List.Data)
	h.Write(strconv.AppendBool(nil, rep.List.HasMore))
	rep.ETag = `W/"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
	return rep
}

// ConversationIn finds the conversation in the path.
func ConversationIn(rx *storage.Rx, r *rest.Request) (storage.FullConversation, error) {
	return rest.InPath(r, "id", storage.PrefixConversation, r.Account.ID, rx.Conversation)
}

// ShowConversation replies with the conversation in the path.
func ShowConversation(rx *storage.Rx, r *rest.Request) (rest.Reply, error) {
	c, err := ConversationIn(rx, r)
	if err != nil {
		return rest.Reply{}, err
	}
	view, err := conversationViews(rx, r, c)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(view(c)), nil
}

// getConversation handles GET /v1/:phone_number_id/conversations/:id.
func (s *Server) getConversation(r *rest.Request) (rest.Reply, error) {
	return rest.Find(s.Server, r, ShowConversation)
}
