package messaging

import (
	"confab/jobs/errorcode"
	"confab/jobs/event"
	"confab/storage"
)

// UpdateConversation stores what has changed of a conversation since before, if anything has: its
// state, its assignee and its snooze. It records that for the thread, and emits the events.
// Whoever holds a conversation that is resolved holds it no longer.
func UpdateConversation(tx *storage.Tx, s event.Subject, by event.By, before, c storage.Conversation) error {
	assigned, moved := !storage.SameText(before.AssigneeID, c.AssigneeID), before.Status != c.Status
	if !assigned && !moved && before.SnoozedUntil == c.SnoozedUntil {
		return nil
	}

	if err := tx.UpdateConversation(&c, authorOf(by)); err != nil {
		return err
	}
	if err := recordMoves(tx, by, before, c); err != nil {
		return err
	}

	if assigned {
		given := event.Assignment{UserID: c.AssigneeID, PreviousUserID: before.AssigneeID}
		if c.AssigneeID != nil {
			u, err := tx.User(s.Organization, *c.AssigneeID)
			if err != nil {
				return err
			}
			given.TeamID = &u.TeamPublicID
		}
		if err := event.ConversationAssigned(s, c, given).Emit(tx); err != nil {
			return err
		}
	}

	if !moved || c.Status != storage.ConversationResolved {
		return nil
	}
	if err := event.ConversationClosed(s, c, userOf(by)).Emit(tx); err != nil {
		return err
	}
	return HandOver(tx, s, by, c, storage.Holder{Type: storage.HolderNone}, nil)
}

// userOf is the user who did something; nil if it was nobody.
func userOf(by event.By) *string {
	if by.Type != event.ByUser {
		return nil
	}
	return by.ID
}

// authorOf is who did something, as the spells of conversations name them.
func authorOf(by event.By) string {
	switch by.Type {
	case event.ByUser:
		return *by.ID
	case event.ByKey:
		return storage.SourceAPI
	}
	return by.Type
}

// recordMoves records for the thread of a conversation what has become another: its assignee, its
// state, or else its snooze.
func recordMoves(tx *storage.Tx, by event.By, before, c storage.Conversation) error {
	if !storage.SameText(before.AssigneeID, c.AssigneeID) {
		if err := RecordChange(tx, by, c, storage.ConversationChange{Kind: storage.ChangeAssigned, AssigneeID: c.AssigneeID}); err != nil {
			return err
		}
	}

	if before.Status != c.Status {
		kind := map[string]string{
			storage.ConversationOpen:     storage.ChangeReopened,
			storage.ConversationResolved: storage.ChangeResolved,
			storage.ConversationPending:  storage.ChangePending,
		}[c.Status]
		if err := RecordChange(tx, by, c, storage.ConversationChange{Kind: kind}); err != nil {
			return err
		}
	}

	switch {
	case before.SnoozedUntil == c.SnoozedUntil || c.Status == storage.ConversationResolved:
		return nil
	case c.SnoozedUntil == 0:
		return RecordChange(tx, by, c, storage.ConversationChange{Kind: storage.ChangeWoken})
	}
	return RecordChange(tx, by, c, storage.ConversationChange{Kind: storage.ChangeSnoozed, Until: c.SnoozedUntil})
}

// RecordChange records for the thread of a conversation what somebody did to it.
func RecordChange(tx *storage.Tx, by event.By, c storage.Conversation, change storage.ConversationChange) error {
	change.ConversationID, change.AccountID = c.ID, c.AccountID
	change.UserID = userOf(by)
	change.Actor = map[string]string{
		event.ByUser:   storage.ChangedByUser,
		event.ByKey:    storage.ChangedByAPI,
		event.ByRule:   storage.ChangedByRule,
		event.BySystem: storage.ChangedByTime,
	}[by.Type]
	return tx.RecordChange(change)
}

// SetConversationLabel attaches a label to a conversation, or detaches it, and records that
// if it changed anything.
func SetConversationLabel(tx *storage.Tx, by event.By, c storage.Conversation, l storage.Label, attached bool) error {
	kind := storage.ChangeUnlabeled
	if attached {
		kind = storage.ChangeLabeled
	}

	changed, err := tx.SetConversationLabel(c.ID, l.ID, attached)
	if err != nil || !changed {
		return err
	}
	return RecordChange(tx, by, c, storage.ConversationChange{Kind: kind, Label: &l.Name})
}

// InsertNote stores a note and emits the event.
func InsertNote(tx *storage.Tx, s event.Subject, n *storage.Note) error {
	if err := tx.InsertNote(n); err != nil {
		return err
	}
	return event.Note(event.TypeNoteCreated, s, *n).Emit(tx)
}

// HandOver makes somebody else hold a conversation, or nobody, and tells of it. To hand it to who
// holds it changes nothing.
func HandOver(tx *storage.Tx, s event.Subject, by event.By, c storage.Conversation, to storage.Holder, note *string) error {
	from := c.Holder()
	if from.Is(to) {
		// A person who was silent for too long, though nobody has noticed yet, holds it anew.
		if now, err := tx.HolderOf(c.ID); err != nil || now.Is(to) || to.Type != storage.HolderUser {
			return err
		}
		return tx.TouchHolder(c.ID)
	}
	if err := tx.SetHolder(c.ID, &to); err != nil {
		return err
	}

	if err := recordHandOver(tx, by, c, from, to); err != nil {
		return err
	}
	if err := event.ConversationHandedOver(s, c.ID, from, to, by, note).Emit(tx); err != nil {
		return err
	}

	// While the bot held it, nobody was assigned by turn.
	if from.Type != storage.HolderAgent || to.Type != storage.HolderNone || c.Status == storage.ConversationResolved {
		return nil
	}
	a, err := tx.AccountByNumber(s.PhoneNumberID)
	if err != nil {
		return err
	}
	t, err := tx.Thread(c.AccountID, c.ContactID)
	if err != nil {
		return err
	}
	return AssignByTurn(tx, a, &t)
}

// recordHandOver records for the thread of a conversation that it came from a bot or to one. That
// the person who answers holds it need not be said.
func recordHandOver(tx *storage.Tx, by event.By, c storage.Conversation, from, to storage.Holder) error {
	change := storage.ConversationChange{Kind: storage.ChangeHandedOver}
	switch {
	case to.Type == storage.HolderAgent:
		change.Label = to.ID
	case from.Type == storage.HolderAgent:
		change.AssigneeID = to.ID
	default:
		return nil
	}
	return RecordChange(tx, by, c, change)
}

// TakeHold makes the author of a message hold its conversation.
func TakeHold(tx *storage.Tx, s event.Subject, by event.By, conversation string, author storage.Holder) error {
	c, err := tx.Conversation(s.Account, conversation)
	if err != nil {
		return err
	}
	if !c.Holder().Is(author) {
		return HandOver(tx, s, by, c.Conversation, author, nil)
	}
	if author.Type == storage.HolderUser {
		return tx.TouchHolder(conversation)
	}
	return nil
}

// RefusalOfHolder says why a bot may not write in a conversation, or nil: somebody else holds it.
func RefusalOfHolder(rx *storage.Rx, agent, conversation string) (*Refusal, error) {
	h, err := rx.HolderOf(conversation)
	if err != nil || h.Type == storage.HolderNone || h.Is(Agent(agent)) {
		return nil, storage.IgnoreNotFound(err)
	}
	return &Refusal{errorcode.ConversationHeld, "Somebody else holds this conversation: it has to be handed over first."}, nil
}

// Agent is a bot as a holder.
func Agent(name string) storage.Holder { return storage.Holder{Type: storage.HolderAgent, ID: &name} }

// User is a person as a holder; nil is whoever has the phone of the number.
func User(id *string) storage.Holder { return storage.Holder{Type: storage.HolderUser, ID: id} }

// ReleaseHolders ends what people hold who were disabled, bots without a key, and people who
// have been silent for long. It returns false if there may be more.
func ReleaseHolders(tx *storage.Tx) (done bool, err error) {
	const some = 100
	held, err := tx.LapsedHolders(some)
	if err != nil {
		return false, err
	}

	for _, h := range held {
		c, err := tx.Conversation(h.AccountID, h.ID)
		if err != nil {
			return false, err
		}
		s := event.Subject{Organization: h.OrganizationID, Account: h.AccountID, PhoneNumberID: h.PhoneNumberID}
		nobody := storage.Holder{Type: storage.HolderNone}
		if err := HandOver(tx, s, event.By{Type: event.BySystem}, c.Conversation, nobody, nil); err != nil {
			return false, err
		}
	}
	return len(held) < some, nil
}

// EmitConsent tells that the consent of a contact has changed, if it has.
func EmitConsent(tx *storage.Tx, s event.Subject, before, after storage.Contact, by string, message *string) error {
	if before.MarketingOptedOut == after.MarketingOptedOut && before.OptedIn == after.OptedIn {
		return nil
	}
	return event.ContactConsentChanged(s, after, by, message).Emit(tx)
}

// optOut records that a contact takes no more marketing, as the code of a failed message says.
func optOut(tx *storage.Tx, m storage.Message) error {
	c, err := tx.Contact(m.AccountID, m.ContactID)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}
	if err := tx.MarkOptedOut(c.ID); err != nil {
		return err
	}

	sender, err := tx.Sender(m.AccountID)
	if err != nil {
		return storage.IgnoreNotFound(err) // the account is gone, and its events with it
	}
	after := c
	after.MarketingOptedOut = true
	return EmitConsent(tx, SubjectOf(sender.Account), c, after, event.ConsentByError, &m.ID)
}

// AssignByTurn assigns the conversation of a message that came in to the next person of the team, if
// the team wants that and nobody has it, and emits the event.
func AssignByTurn(tx *storage.Tx, a storage.Account, t *storage.Thread) error {
	before := t.AssigneeID
	u, err := tx.AssignByTurn(a, t)
	if err != nil {
		return storage.IgnoreNotFound(err)
	}

	c := storage.Conversation{ID: t.ConversationID, Status: t.Status}
	given := event.Assignment{UserID: &u.ID, TeamID: &u.TeamPublicID, PreviousUserID: before}
	return event.ConversationAssigned(SubjectOf(a), c, given).Emit(tx)
}
