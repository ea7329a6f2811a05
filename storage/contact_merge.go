package storage

import "cmp"

// MergeThreads makes one person of two: all that belongs to from becomes into's,
// and from is gone. Fields that only from had, into has afterwards; which of them was
// meant by number and BSUID is for the caller to say, by UpdateContact, and whether
// the number that is gone becomes an alias. It returns whether into has got labels.
//
// The messages of from move in one statement, which holds the writer for some 15 µs
// for each: 0.3 s for 20,000. That is dear, and rare: into is the older contact, and
// the younger one of two that are one person has seldom had time for so many. Moving
// them in steps would show each half of the thread for seconds, or make every list of
// messages read two conversations in one order, for the sake of these few.
func (tx *Tx) MergeThreads(into *Thread, from Thread) (labeled bool, err error) {
	fillMissing(into, from)
	if err := tx.mergeConversations(into, from); err != nil {
		return false, err
	}

	if err := tx.moveBroadcastRecipient(into.ID, from.ID); err != nil {
		return false, err
	}
	n, err := tx.Exec(`
		INSERT OR IGNORE INTO contact_labels (contact_id, label_id, account_id, contact_created_at)
		SELECT ?, label_id, account_id, ? FROM contact_labels WHERE contact_id = ?`, into.ID, into.CreatedAt, from.ID)
	if err != nil {
		return false, err
	}

	if err := tx.Run(`UPDATE contact_aliases SET contact_id = ? WHERE contact_id = ?`, into.ID, from.ID); err != nil {
		return false, err
	}
	err = tx.ExecOne(`DELETE FROM contacts WHERE id = ? AND account_id = ?`, from.ID, from.AccountID)
	for _, t := range []Thread{*into, from} {
		err = tx.hint(err, HintContact, Scope{Account: t.AccountID}, t.ID)
		if t.ConversationID != "" {
			err = tx.hint(err, HintConversation, Scope{Account: t.AccountID}, t.ConversationID)
		}
	}
	return n > 0, err
}

func fillMissing(into *Thread, from Thread) {
	// A name that was given through the API outlives one of a profile.
	if into.Name == nil || from.NameSetByClient && !into.NameSetByClient && from.Name != nil {
		into.Name, into.NameSetByClient = from.Name, from.NameSetByClient
	}

	into.PhoneNumber = cmp.Or(into.PhoneNumber, from.PhoneNumber)
	into.BSUID = cmp.Or(into.BSUID, from.BSUID)
	into.ParentBSUID = cmp.Or(into.ParentBSUID, from.ParentBSUID)
	into.Username = cmp.Or(into.Username, from.Username)
	into.Email = cmp.Or(into.Email, from.Email)
	if into.Metadata == nil {
		into.Metadata = from.Metadata
	}

	// A start word clears it only if no other than stop words set it.
	into.OptedOutByWord = (into.OptedOutByWord || !into.MarketingOptedOut) && (from.OptedOutByWord || !from.MarketingOptedOut) &&
		(into.MarketingOptedOut || from.MarketingOptedOut)
	into.MarketingOptedOut = into.MarketingOptedOut || from.MarketingOptedOut
	into.OptedIn = into.OptedIn || from.OptedIn
}

func (tx *Tx) mergeConversations(into *Thread, from Thread) error {
	switch {
	case from.ConversationID == "":
		return nil
	case into.ConversationID == "":
		return tx.takeConversation(into, from)
	}

	if into.Status == ConversationResolved || from.Status == ConversationOpen {
		into.Status = from.Status // an unresolved one stays unresolved
	}
	into.AssigneeID = cmp.Or(into.AssigneeID, from.AssigneeID)
	into.Labeled = into.Labeled || from.Labeled

	if err := tx.mergeWaiting(into.ConversationID, from.ConversationID); err != nil {
		return err
	}
	if err := tx.ExecOne(`
		UPDATE conversations AS c
		SET status = ?1, assignee_id = ?2, updated_at = ?3, created_at = min(c.created_at, other.created_at),
			unread_count = c.unread_count + other.unread_count, snoozed_until = `+mergedSnooze+`,
			holder_type = `+merged("holder_type", "'none'")+`, holder_id = `+merged("holder_id", "NULL")+`,
			holder_since = `+merged("holder_since", "0")+`, holder_wrote_at = `+merged("holder_wrote_at", "0")+`,
			last_message_at = max(c.last_message_at, other.last_message_at),
			last_inbound_at = max(c.last_inbound_at, other.last_inbound_at), `+mergedSpell()+`
		FROM (
			SELECT status, unread_count, snoozed_until, last_message_at, last_inbound_at, created_at,
				holder_type, holder_id, holder_since, holder_wrote_at,
				spell_opened_at, spell_inbound_at, spell_replied_at, spell_replied_by, spell_in, spell_out
			FROM conversations
			WHERE id = ?4) other
		WHERE c.id = ?5`, into.Status, into.AssigneeID, tx.Order, from.ConversationID, into.ConversationID); err != nil {
		return err
	}

	for _, move := range []string{
		`INSERT OR IGNORE INTO conversation_labels (conversation_id, label_id)
			SELECT ?1, label_id FROM conversation_labels WHERE conversation_id = ?2`,
		`UPDATE conversation_changes SET conversation_id = ?1 WHERE conversation_id = ?2`,
		`UPDATE unread_mentions SET conversation_id = ?1 WHERE note_id IN (SELECT id FROM notes WHERE conversation_id = ?2)`,
		`UPDATE notes SET conversation_id = ?1 WHERE conversation_id = ?2`,
		`UPDATE spells SET conversation_id = ?1 WHERE conversation_id = ?2`,
		moveFirings,
		`UPDATE messages SET conversation_id = ?1, contact_id = (SELECT contact_id FROM conversations WHERE id = ?1)
			WHERE conversation_id = ?2`,
	} {
		if err := tx.Run(move, into.ConversationID, from.ConversationID); err != nil {
			return err
		}
	}

	if err := tx.recountWaiting(into.ConversationID); err != nil {
		return err
	}
	until, err := value[Time](&tx.Rx, `SELECT snoozed_until FROM conversations WHERE id = ?`, into.ConversationID)
	if err != nil {
		return err
	}
	return tx.enqueueWake(into.AccountID, into.ConversationID, until)
}

// moveFirings moves what rules did in a conversation to another. Where a rule has fired in the same
// scope of both, both stay.
const moveFirings = `
	UPDATE rule_firings AS f
	SET conversation_id = ?1, scope = iif(EXISTS (
		SELECT 1 FROM rule_firings o
		WHERE o.conversation_id = ?1 AND o.rule_id = f.rule_id AND o.scope = f.scope), scope || ' ' || id, scope)
	WHERE conversation_id = ?2`

// takeConversation gives the conversation of a contact to one that has none.
func (tx *Tx) takeConversation(into *Thread, from Thread) error {
	err := tx.ExecOne(`UPDATE conversations SET contact_id = ?, updated_at = ? WHERE id = ?`, into.ID, tx.Order, from.ConversationID)
	if err != nil {
		return err
	}
	into.ConversationID, into.Status, into.AssigneeID, into.Labeled = from.ConversationID, from.Status, from.AssigneeID, from.Labeled

	return tx.Run(`UPDATE messages SET contact_id = ? WHERE conversation_id = ?`, into.ID, from.ConversationID)
}
