package api

import (
	"cmp"

	"confab/app/api/rest"
	"confab/jobs/messaging"
	"confab/storage"
)

// handOverBody is the body of POST /v1/:phone_number_id/conversations/:id/hand_over.
type handOverBody struct {
	To   *storage.HolderRef `json:"to"`
	Note *string            `json:"note"`
}

func (b *handOverBody) Validate() error {
	return cmp.Or(rest.Object("to", b.To, checkHolder), rest.Optional("note", b.Note, maxNote))
}

// maxAgentName is the longest name of a bot: as long as a key can be made for one.
const maxAgentName = 200

// checkHolder checks who is to hold a conversation.
func checkHolder(to *storage.HolderRef) error {
	switch err := rest.OneOf("type", to.Type, storage.HolderUser, storage.HolderAgent, storage.HolderNone); {
	case err != nil:
		return err
	case *to.Type == storage.HolderNone:
		to.ID = nil
		return nil
	}
	return rest.Required("id", to.ID, maxAgentName)
}

// checkHolderExists refuses to hand a conversation to who cannot hold it.
func checkHolderExists(rx *storage.Rx, organization int64, param string, to storage.HolderRef) error {
	switch *to.Type {
	case storage.HolderUser:
		return checkUser(rx, organization, param, *to.ID)
	case storage.HolderAgent:
		known, err := rx.HasAgent(organization, *to.ID)
		if err == nil && !known {
			err = rest.Invalid(param, "must be an agent of which this organization has a key")
		}
		return err
	}
	return nil
}

// checkUser checks that somebody is a user of an organization who is not disabled.
func checkUser(rx *storage.Rx, organization int64, param, id string) error {
	u, err := rx.User(organization, id)
	if err == nil && u.DisabledAt != 0 {
		err = storage.ErrNotFound
	}
	return rest.InvalidIf(err, storage.ErrNotFound, param, "must be a user of this organization who is not disabled")
}

// checkAnyUser checks that somebody is a user of an organization, be it a disabled one.
func checkAnyUser(rx *storage.Rx, organization int64, param, id string) error {
	_, err := rx.User(organization, id)
	return rest.InvalidIf(err, storage.ErrNotFound, param, "must be a user of this organization")
}

// handOver handles POST /v1/:phone_number_id/conversations/:id/hand_over.
func (s *Server) handOver(r *rest.Request, in handOverBody) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, ConversationIn, func(tx *storage.Tx, c storage.FullConversation) (rest.Reply, error) {
		if err := cmp.Or(checkHolderExists(&tx.Rx, r.Org.ID, "to.id", *in.To), checkBotMayAct(tx, r, c.ID)); err != nil {
			return rest.Reply{}, err
		}
		if err := handOverTo(tx, r, c, *in.To, in.Note); err != nil {
			return rest.Reply{}, err
		}
		return ShowConversation(&tx.Rx, r)
	})
}

// checkBotMayAct refuses to let a bot act in a conversation that somebody else holds.
func checkBotMayAct(tx *storage.Tx, r *rest.Request, conversation string) error {
	if r.Key.Agent == nil {
		return nil
	}
	refused, err := messaging.RefusalOfHolder(&tx.Rx, *r.Key.Agent, conversation)
	return cmp.Or(err, refusalError(refused))
}

// handOverTo assigns a conversation to the user who is to hold it, makes a note of what the caller
// says, and hands it over.
func handOverTo(tx *storage.Tx, r *rest.Request, c storage.FullConversation, ref storage.HolderRef, note *string) error {
	by, s := byRequest(r), subject(r)
	if *ref.Type == storage.HolderUser {
		after := c.Conversation
		after.AssigneeID = ref.ID
		if err := messaging.UpdateConversation(tx, s, by, c.Conversation, after); err != nil {
			return err
		}
	}

	if note != nil {
		n := storage.Note{AccountID: c.AccountID, ConversationID: c.ID, Text: *note, Mentions: storage.Strings{}, NoteAuthor: noteAuthor(r)}
		if err := messaging.InsertNote(tx, s, &n); err != nil {
			return err
		}
	}
	return messaging.HandOver(tx, s, by, c.Conversation, storage.Holder{Type: *ref.Type, ID: ref.ID}, note)
}
