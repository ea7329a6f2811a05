package messaging

import (
	"confab/jobs/event"
	"confab/storage"
)

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
