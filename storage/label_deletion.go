package storage

// The kinds of jobs that do for all that has a label what one transaction cannot do
// without holding the writer for too long; their arguments are LabelArgs.
const (
	KindDetachLabel = "label.detach" // takes a deleted label off what still has it
	KindTouchLabel  = "label.touch"  // counts the conversations that show a changed one as updated
)

// LabelArgs name the label that a job is about.
type LabelArgs struct {
	AboutNoAccount
	Label string `json:"label"`
}

// labelsPerStep is how many contacts and conversations the transaction itself takes on.
const labelsPerStep = 400

// DeleteLabel deletes a label of an organization: it is not visible from here on, and its name is free. It
// is taken off the newest at once, and by a job off the rest.
func (tx *Tx) DeleteLabel(organization int64, id string) error {
	err := tx.ExecOne(`
		UPDATE labels
		SET deleted_at = ?
		WHERE id = ? AND organization_id = ? AND deleted_at = 0`, tx.Now, id, organization)
	if err := tx.hint(err, HintLabel, Scope{Organization: organization}, id); err != nil {
		return err
	}

	// A full step may have left some: they are the job's.
	n, err := tx.DetachLabel(id, labelsPerStep)
	if err != nil || n < labelsPerStep {
		return err
	}
	_, err = tx.Enqueue(NewJob{Kind: KindDetachLabel, Args: LabelArgs{Label: id}})
	return err
}

// What DetachLabel takes next: the newest, which lists show first.
const (
	someConversations = `SELECT conversation_id FROM conversation_labels WHERE label_id = ?2 ORDER BY conversation_id DESC LIMIT ?3`
	someContacts      = `
		SELECT contact_id FROM contact_labels
		WHERE label_id = ?2
		ORDER BY account_id DESC, contact_created_at DESC, contact_id DESC
		LIMIT ?3`
)

// DetachLabel takes a deleted label off up to limit contacts and as many
// conversations, which count as updated, and returns off how many of those that were
// more. When nothing has it any more, its row is deleted too.
func (tx *Tx) DetachLabel(id string, limit int) (int64, error) {
	if err := tx.recordLabelChange(id, true, someContacts, limit); err != nil {
		return 0, err
	}

	var most int64
	for _, step := range []struct{ touch, detach string }{
		{
			`UPDATE conversations SET updated_at = ?1 WHERE id IN (` + someConversations + `)`,
			`DELETE FROM conversation_labels WHERE label_id = ?2 AND conversation_id IN (` + someConversations + `)`,
		},
		{
			`UPDATE contacts SET updated_at = ?1 WHERE id IN (` + someContacts + `)`,
			`DELETE FROM contact_labels WHERE label_id = ?2 AND contact_id IN (` + someContacts + `)`,
		},
	} {
		if err := tx.Run(step.touch, tx.Order, id, limit); err != nil {
			return 0, err
		}
		n, err := tx.Exec(step.detach, tx.Order, id, limit)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}

	if most < int64(limit) {
		_, err := tx.Exec(`DELETE FROM labels WHERE id = ? AND deleted_at <> 0`, id)
		return most, err
	}
	return most, nil
}

// TouchLabeled counts the conversations that have a label as updated, because they
// show what was changed of it: the newest at once, and by a job the rest. One such job
// that waits does for all changes before it runs.
func (tx *Tx) TouchLabeled(id string) error {
	n, err := tx.Exec(`UPDATE conversations SET updated_at = ?1 WHERE id IN (`+someConversations+`)`, tx.Order, id, labelsPerStep)
	if err != nil || n < labelsPerStep {
		return err
	}

	waiting, err := tx.exists(`SELECT 1 FROM jobs WHERE state = 'due' AND kind = ? AND args ->> '$.label' = ?`, KindTouchLabel, id)
	if err != nil || waiting {
		return err
	}
	_, err = tx.Enqueue(NewJob{Kind: KindTouchLabel, Args: LabelArgs{Label: id}})
	return err
}

// LabeledConversations finds up to limit conversations with a label, by their ids alone.
func (rx *Rx) LabeledConversations(label string, after Row, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT 0 AS created_at, conversation_id AS id
		FROM conversation_labels
		WHERE label_id = ? AND conversation_id > ?
		ORDER BY conversation_id
		LIMIT ?`, label, after.ID, limit)
}

// TouchConversations counts conversations as updated now.
func (tx *Tx) TouchConversations(rows []Row) error {
	return tx.Run(`UPDATE conversations SET updated_at = ? WHERE id IN (SELECT value FROM json_each(?))`, tx.Order, idList(rows))
}
