package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

// listMessages handles GET /v1/:phone_number_id/messages.
func (s *Server) listMessages(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.MessageFilter{
		ConversationID: q.ID("conversation_id", storage.PrefixConversation),
		ContactID:      q.ID("contact_id", storage.PrefixContact),
		Direction:      q.OneOf("direction", storage.Inbound, storage.Outbound),
		Status: q.OneOf("status", storage.MessageQueued, storage.MessagePending, storage.MessageSent,
			storage.MessageDelivered, storage.MessageRead, storage.MessageFailed),
		Type:          q.OneOf("type", content.AllTypes()...),
		CreatedAfter:  q.After("created_after"),
		CreatedBefore: q.Before("created_before"),
		Scheduled:     q.OneOf("scheduled", "true", "false") == "true",
		Search:        q.Text("search", maxSearch),
	}

	return rest.ListOf(s.Server, r, rest.Lister[storage.Message, messageView]{
		Scope: fmt.Sprintf("messages %d %#v", r.Account.ID, f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Message, storage.After, error) {
			return rx.Within(q.Budget).Messages(r.Account.ID, f, q.After, q.Fetch())
		},
		Key:  f.Key,
		View: s.viewMessage,
	})
}

func (s *Server) messageIn(r *rest.Request) (m storage.Message, err error) {
	id := r.Param("id")
	if !storage.ValidID(storage.PrefixMessage, id) {
		return m, rest.NotFound()
	}

	err = s.DB.ViewOnce(r.HTTP.Context(), func(rx *storage.Rx) (err error) {
		m, err = rx.ShownMessage(r.Account.ID, id)
		return err
	})
	return m, err
}

// getMessage handles GET /v1/:phone_number_id/messages/:id.
func (s *Server) getMessage(r *rest.Request) (rest.Reply, error) {
	m, err := s.messageIn(r)
	if err != nil {
		return rest.Reply{}, err
	}

	rep := rest.Reply{Status: http.StatusOK, ETag: s.messageETag(m)}
	if !rep.IsKnown(r.HTTP) {
		rep.Data = s.viewMessage(m)
	}
	return rep, nil
}

// messageETag is a weak ETag over what can change of a message: its status, its error, its
// content and its media.
func (s *Server) messageETag(m storage.Message) string {
	state := make([]byte, 0, 512)
	failed := storage.OrEmpty(m.ErrorCode) + " " + storage.OrEmpty(m.ErrorMessage)
	for _, text := range []string{m.ID, m.Status, failed, m.Type, string(m.Content)} {
		state = append(append(state, text...), 0)
	}
	for _, at := range []storage.Time{m.PlayedAt, m.EditedAt} {
		state = strconv.AppendInt(append(state, 0), int64(at), 10)
	}
	if m.ErrorProviderCode != nil {
		state = strconv.AppendInt(append(state, 0), int64(*m.ErrorProviderCode), 10)
	}
	state = strconv.AppendBool(append(state, 0), m.IsRevoked)
	if media := s.viewMessageMedia(m); media != nil {
		state = media.AppendJSON(state)
	}

	return rest.WeakETag(state)
}

// createMessage handles POST /v1/:phone_number_id/messages.
func (s *Server) createMessage(r *rest.Request, in content.MessageBody) (rest.Reply, error) {
	if read, ok := in.ReadReceipt(); ok {
		return s.markRead(r, read)
	}

	out := in.Outgoing()
	wire, err := in.ProviderContent()
	if err != nil {
		return rest.Reply{}, err
	}

	return s.withTemplateSync(r, func() (rest.Reply, error) {
		return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
			m, err := s.acceptMessage(tx, r, out)
			if err != nil {
				return rest.Reply{}, err
			}
			return rest.OK(s.viewMessage(m)), jobs.EnqueueSend(tx, r.Key, m, wire)
		})
	})
}

// markRead marks an inbound message as read and sends a read receipt to its sender.
func (s *Server) markRead(r *rest.Request, read content.ReadReceipt) (rest.Reply, error) {
	unread, err := s.unreadAfter(r, read.MessageID)
	if err != nil {
		return rest.Reply{}, err
	}

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		m, err := tx.MessageByProviderID(r.Account.ID, read.MessageID)
		if err != nil {
			return rest.Reply{}, err
		}

		if err := checkReceiptAllowed(&tx.Rx, r.Account.ID); err != nil {
			return rest.Reply{}, err
		}
		if err := tx.MarkRead(&m, unread); err != nil {
			return rest.Reply{}, err
		}

		return rest.OK(s.viewMessage(m)), jobs.EnqueueReceipt(tx, r.Account.ID, read.MessageID, read.Typing)
	})
}

// unreadAfter counts the unread messages after an inbound message. It runs outside of
// the write transaction, because counting may take long.
func (s *Server) unreadAfter(r *rest.Request, providerID string) (storage.UnreadCount, error) {
	return rest.QueryMany(s.Server, r, func(rx *storage.Rx) (unread storage.UnreadCount, err error) {
		m, err := rx.MessageByProviderID(r.Account.ID, providerID)
		if err != nil {
			return unread, err
		}
		if m.Direction != storage.Inbound {
			return unread, rest.NotFound()
		}
		return rx.CountUnreadAfter(m)
	})
}

// acceptMessage checks whether a message may be sent and stores it, with the contact
// and the conversation that it needs.
//
// Budget, for somebody known: three statements with that of its job, which move the
// conversation in one index, add the message to its table and two indexes, and the job
// to its table; and one for the count of messages in each commit. Rows that are only read are
// in memory. TestAcceptingAMessageKeepsToItsBudget holds it.
func (s *Server) acceptMessage(tx *storage.Tx, r *rest.Request, out content.OutgoingMessage) (storage.Message, error) {
	sender, err := tx.Sender(r.Account.ID)
	if err != nil {
		return storage.Message{}, err
	}

	if err := resolveTemplate(&tx.Rx, &out, sender); err != nil {
		return storage.Message{}, err
	}
	if err := findMedia(&tx.Rx, r.Account.TeamID, r.Key.Accounts, &out); err != nil {
		return storage.Message{}, err
	}

	to, isNew, err := findRecipient(tx, r.Account.ID, out)
	if err != nil {
		return storage.Message{}, err
	}

	// All checks come before the first write, so a refused message creates no contact.
	if err := s.checkSendAllowed(tx, r, sender, to, out); err != nil {
		return storage.Message{}, err
	}

	if isNew {
		if err := tx.InsertContact(&to.Contact); err != nil {
			return storage.Message{}, err
		}
		if err := event.ContactCreated(messaging.SubjectOf(sender.Account), to.Contact).Emit(tx); err != nil {
			return storage.Message{}, err
		}
	}

	if err := ensureConversation(tx, &to, out, r.Author()); err != nil {
		return storage.Message{}, err
	}

	tx.CountMessage(r.Org.ID)
	m := newMessage(sender, to, out)
	m.RequestID = &r.ID
	if r.User != nil {
		m.Source, m.SentBy = storage.SourceConsole, &r.User.ID
	}
	if err := tx.InsertMessage(&m); err != nil {
		return m, err
	}
	return m, takeHold(tx, r, m)
}

// takeHold makes a bot hold the conversation in which it writes, and so a person who answers.
// What is sent later does that when its time comes.
func takeHold(tx *storage.Tx, r *rest.Request, m storage.Message) error {
	switch {
	case m.ScheduledAt != 0:
		return nil
	case r.User != nil && m.Type != "reaction":
		return messaging.TakeHold(tx, subject(r), byRequest(r), m.ConversationID, messaging.User(&r.User.ID))
	case r.User == nil && r.Key.Agent != nil:
		return messaging.TakeHold(tx, subject(r), byRequest(r), m.ConversationID, messaging.Agent(*r.Key.Agent))
	}
	return nil
}

// ensureConversation finds or creates the conversation of a recipient, and records
// that a message is sent in it; of one that is sent later, its job does that. By says who sends it.
func ensureConversation(tx *storage.Tx, to *storage.Recipient, out content.OutgoingMessage, by string) error {
	if to.ConversationID != nil {
		if out.ScheduledAt != 0 {
			return nil
		}
		return tx.MarkMessageWritten(*to.ConversationID, out.Type, by)
	}

	if out.ScheduledAt != 0 {
		thread := storage.Thread{Contact: to.Contact}
		err := tx.InsertThreadConversation(&thread)
		to.ConversationID = &thread.ConversationID
		return err
	}
	conversation, err := tx.EnsureConversation(to.AccountID, to.ID)
	to.ConversationID = &conversation.ID
	return err
}

func newMessage(sender storage.Sender, to storage.Recipient, out content.OutgoingMessage) storage.Message {
	m := storage.Message{
		AccountID:       sender.ID,
		Direction:       storage.Outbound,
		Type:            out.Type,
		Status:          storage.MessageQueued,
		Source:          cmp.Or(out.Source, storage.SourceAPI),
		Content:         storage.JSON(out.Content),
		Body:            out.Body,
		AccountPhone:    sender.PhoneNumber,
		AccountNumberID: sender.PhoneNumberID,
		ScheduledAt:     out.ScheduledAt,
	}
	m.SetThread(storage.Thread{Contact: to.Contact, ConversationID: *to.ConversationID})

	if out.Recipient != "" {
		m.Recipient = &out.Recipient
	} else {
		m.PhoneNumber = &out.To
	}

	if out.LibraryFile != nil {
		m.SetMedia(*out.LibraryFile)
	}
	if out.ReplyTo != nil {
		m.Context, _ = json.Marshal(map[string]string{"message_id": *out.ReplyTo})
	}

	return m
}

// getMessageMedia handles GET /v1/:phone_number_id/messages/:id/media.
func (s *Server) getMessageMedia(r *rest.Request) (rest.Reply, error) {
	m, err := s.messageIn(r)
	if err != nil {
		return rest.Reply{}, err
	}

	link := s.Publisher.MediaURL(m)
	switch status := storage.OrEmpty(m.MediaStatus); {
	case link != "":
	case status == storage.MediaFetching:
		return rest.Reply{}, rest.Fail(rest.ResourceNotFound, "The media of this message is still being downloaded.")
	case status == storage.MediaFailed:
		return rest.Reply{}, rest.Fail(rest.ResourceNotFound, "The media of this message could not be downloaded.")
	default:
		return rest.Reply{}, rest.Fail(rest.ResourceNotFound, "This message has no media.")
	}

	return rest.Reply{Status: http.StatusFound, Location: link, Body: []byte{}}, nil
}

// cancelMessage handles DELETE /v1/:phone_number_id/messages/:id.
func (s *Server) cancelMessage(r *rest.Request) (rest.Reply, error) {
	m, err := s.messageIn(r)
	if err != nil {
		return rest.Reply{}, err
	}
	if m.Direction != storage.Outbound || !s.Calls.Cancel(r.HTTP.Context(), m.ID) {
		return rest.Reply{}, errNotCancellable()
	}
	defer s.Calls.EndCancel(m.ID)

	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		m, err := tx.OutboundMessage(r.Account.ID, m.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		cancelled, err := jobs.CancelMessage(tx, &m)
		if err == nil && !cancelled {
			err = errNotCancellable()
		}
		return rest.OK(s.viewMessage(m)), err
	})
}

func errNotCancellable() *rest.Error {
	return rest.Fail(rest.MessageNotCancellable, "Only a queued outbound message that is not being sent right now can be cancelled.")
}
