package api

import (
	"errors"
	"slices"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

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

// checkSeen refuses to resolve a conversation, or to let it sleep, while there is a message of the
// person that the caller does not know.
func (c *conversationChanges) checkSeen(tx *storage.Tx, v storage.Conversation) error {
	if c.Seen == nil {
		return nil
	}

	newer, err := tx.HasInboundAfter(v, *c.Seen)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return errUnseen()
	case err == nil && newer && (c.Status.Value == storage.ConversationResolved || c.until != 0):
		return rest.Fail(rest.ConversationChanged, "A newer message has come in: read it first.")
	}
	return err
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
	if err := in.checkSeen(tx, c); err != nil {
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

	// A PATCH that changes nothing leaves updated_at alone and emits no event.
	return messaging.UpdateConversation(tx, subject(r), byRequest(r), before, c)
}

func byRequest(r *rest.Request) event.By {
	if r.User != nil {
		return event.By{Type: event.ByUser, ID: &r.User.ID}
	}
	return event.By{Type: event.ByKey, ID: &r.Key.ID}
}
