package storage

// KindWake is the kind of job that ends the snooze of a conversation at its time. An inbound
// message or a resolve ends it before: then the job finds nothing to do.
const KindWake = "conversation.wake"

// WakeArgs are the arguments of a job that ends a snooze.
type WakeArgs struct {
	AboutAccount
	Conversation string `json:"conversation"`
}

// Snooze sets until when a conversation sleeps, 0 to end it. UpdateConversation stores it.
func (tx *Tx) Snooze(c *Conversation, until Time) error {
	if c.SnoozedUntil != 0 {
		_, err := tx.Exec(`
			DELETE FROM jobs
			WHERE state = 'due' AND kind = ? AND due_at = ? AND args ->> '$.conversation' = ?`, KindWake, c.SnoozedUntil, c.ID)
		if err != nil {
			return err
		}
	}

	c.SnoozedUntil = until
	return tx.enqueueWake(c.AccountID, c.ID, until)
}

func (tx *Tx) enqueueWake(account int64, conversation string, until Time) error {
	if until == 0 {
		return nil
	}
	_, err := tx.Enqueue(NewJob{Kind: KindWake, Args: WakeArgs{AboutAccount{account}, conversation}, DueAt: until})
	return err
}

// WakeConversation ends a snooze whose time has come: the conversation counts as unread and stays
// where it is in the lists. It returns false for one that does not sleep any more, or longer.
func (tx *Tx) WakeConversation(account int64, id string) (bool, error) {
	n, err := tx.Exec(`
		UPDATE conversations
		SET snoozed_until = 0, unread_count = max(unread_count, 1), updated_at = ?
		WHERE id = ? AND account_id = ? AND snoozed_until > 0 AND snoozed_until <= ?`, tx.Order, id, account, tx.Now)
	if err != nil || n == 0 {
		return false, err
	}

	err = tx.RecordChange(ConversationChange{ConversationID: id, AccountID: account, Kind: ChangeWoken, Actor: ChangedByTime})
	return true, tx.hint(err, HintConversation, Scope{Account: account}, id)
}

// mergedSnooze is snoozed_until of a conversation c that another is merged into, which then has
// the state ?1: of two that are not resolved both must sleep, and the first to wake decides.
const mergedSnooze = `CASE
	WHEN ?1 = 'resolved' THEN 0
	WHEN c.status = 'resolved' THEN other.snoozed_until
	WHEN other.status = 'resolved' THEN c.snoozed_until
	ELSE min(c.snoozed_until, other.snoozed_until) END`
