package storage

// A conversation's waiting_since is created_at of the oldest message of the person, reactions apart,
// after our newest answer that has not failed; 0 without one. Broadcasts, what rules send
// and reactions are no answers, and a later send is one from its time on. Resolving clears it:
// from then on only what comes later waits, which waits_from remembers.
//
// It always is what the rows say. A message that comes in or goes out is the newest, so that its own
// statement knows the outcome (markMessageReceived, markMessageWritten). Where another is
// changed or lost it is computed anew (recountWaiting): with a failure or a cancellation
// (MarkFailed), a merge (mergeWaiting) and a deletion (DeleteMessages, ForgetMessages).

const (
	// countsAsAnswer are our messages after which nobody waits.
	countsAsAnswer = `direction = 'outbound' AND type <> 'reaction' AND source <> 'broadcast' AND source <> 'rule' AND status <> 'failed'`

	// newestAnswer is the place of the newest of them in the conversation ?1; '' without one.
	newestAnswer = `max(
			coalesce((
				SELECT id FROM messages
				WHERE conversation_id = ?1 AND scheduled_at = 0 AND ` + countsAsAnswer + `
				ORDER BY id DESC
				LIMIT 1), ''),
			coalesce((
				SELECT place FROM messages
				WHERE conversation_id = ?1 AND place IS NOT NULL AND ` + countsAsAnswer + `
				ORDER BY place DESC
				LIMIT 1), ''))`

	// recountWaiting computes waiting_since of the conversation ?1 anew, at the time ?2.
	recountWaiting = `
		UPDATE conversations
		SET waiting_since = now.since, updated_at = ?2
		FROM (
			SELECT coalesce((
				SELECT created_at FROM messages
				WHERE conversation_id = ?1 AND id >= v.waits_from AND id > ` + newestAnswer + ` AND ` + countsAsUnread + `
				ORDER BY id
				LIMIT 1), 0) AS since
			FROM conversations v
			WHERE v.id = ?1) now
		WHERE id = ?1 AND waiting_since <> now.since`
)

// longestWaitingOrder is a time after every other. What is left of it after waiting_since is the
// column waiting_order, by which lists descend.
const longestWaitingOrder Time = 1<<53 - 1

func (tx *Tx) recountWaiting(conversation string) error {
	return tx.Run(recountWaiting, conversation, tx.Order)
}

// waitingAmong lists the conversations that wait and have some messages, to be deleted soon.
func (rx *Rx) waitingAmong(account int64, messages []Row) ([]string, error) {
	return list[string](rx, `
		SELECT id FROM conversations
		WHERE waiting_since > 0
			AND id IN (SELECT conversation_id FROM messages WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)))`,
		account, idList(messages))
}

func (tx *Tx) recountAll(conversations []string) error {
	for _, id := range conversations {
		if err := tx.recountWaiting(id); err != nil {
			return err
		}
	}
	return nil
}

// mergeWaiting says from which message on a conversation waits into which another is about to be merged: the
// oldest that waits in either and neither has answered, or what the later resolve says.
func (tx *Tx) mergeWaiting(into, from string) error {
	var latest, answer string
	for _, id := range []string{into, from} {
		var waitsFrom, newest string
		err := tx.Scan([]any{&waitsFrom, &newest}, `SELECT v.waits_from, `+newestAnswer+` FROM conversations v WHERE v.id = ?1`, id)
		if err != nil {
			return err
		}
		latest, answer = max(latest, waitsFrom), max(answer, newest)
	}

	first, err := value[string](&tx.Rx, `
		SELECT coalesce(min(m.id), '')
		FROM conversations v CROSS JOIN messages m ON m.number = (
			SELECT number FROM messages
			WHERE conversation_id = v.id AND id >= v.waits_from AND id > ? AND `+countsAsUnread+`
			ORDER BY id
			LIMIT 1)
		WHERE v.id IN (?, ?)`, answer, into, from)
	if err != nil {
		return err
	}

	if first != "" {
		latest = min(latest, first)
	}
	return tx.ExecOne(`UPDATE conversations SET waits_from = ? WHERE id = ?`, latest, into)
}
