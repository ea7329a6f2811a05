package storage

import "confab/storage/sqlite"

// ConversationCounts are how many conversations of an account an inbox has. Pending ones
// count as open. Mine, unassigned and unread count open ones only; open, mine and unassigned
// none that sleep.
type ConversationCounts struct {
	Open       int `json:"open"`
	Mine       int `json:"mine"`
	Unassigned int `json:"unassigned"`
	Waiting    int `json:"waiting"`
	Mentions   int `json:"mentions"`
	Unread     int `json:"unread"`
	Snoozed    int `json:"snoozed"`
	Resolved   int `json:"resolved"`
	All        int `json:"all"`
}

// CountConversations counts an account's conversations for a user, by the indexes alone.
func (rx *Rx) CountConversations(account int64, user string) (n ConversationCounts, err error) {
	for _, status := range conversationStates() {
		some, err := rx.countByAssignee(account, status, user)
		if err != nil {
			return n, err
		}

		n.All += some.All
		if status == ConversationResolved {
			n.Resolved = some.All
			continue
		}
		n.Open, n.Mine, n.Unassigned = n.Open+some.All, n.Mine+some.Mine, n.Unassigned+some.Unassigned
	}

	asleep, err := rx.countSnoozed(account, user)
	if err != nil {
		return n, err
	}
	n.Snoozed = asleep.All
	n.Open, n.Mine, n.Unassigned = n.Open-asleep.All, n.Mine-asleep.Mine, n.Unassigned-asleep.Unassigned

	if n.Waiting, err = rx.countFiltered(account, ConversationFilter{ByWaiting: true}); err != nil {
		return n, err
	}
	n.Mentions, err = value[int](rx, `
		SELECT count(DISTINCT conversation_id) FROM unread_mentions
		WHERE user_id = ? AND account_id = ?`, user, account)
	if err != nil {
		return n, err
	}
	n.Unread, err = rx.CountUnread(account)
	return n, err
}

// NumberWaiting is how many people wait at a number.
type NumberWaiting struct {
	AccountID     int64  `db:"id" json:"-"`
	PhoneNumberID string `db:"phone_number_id" json:"phone_number_id"`
	Waiting       int    `db:"-" json:"waiting"`
}

// maxNumbersWaiting is at how many numbers people who wait are counted.
const maxNumbersWaiting = 20

// CountWaiting counts who waits at each of an organization's numbers that has somebody waiting.
func (rx *Rx) CountWaiting(organization int64) ([]NumberWaiting, error) {
	all, err := list[NumberWaiting](rx, `
		SELECT id, phone_number_id FROM accounts INDEXED BY accounts_of_organization
		WHERE organization_id = ? AND deleted_at = 0 AND phone_number_id IS NOT NULL AND status <> 'disconnected'
			AND EXISTS (SELECT 1 FROM conversations INDEXED BY conversations_waiting WHERE account_id = accounts.id AND waiting_since > 0)
		LIMIT ?`, organization, maxNumbersWaiting)
	for i := range all {
		if all[i].Waiting, err = rx.countFiltered(all[i].AccountID, ConversationFilter{ByWaiting: true}); err != nil {
			return nil, err
		}
	}
	return all, err
}

func (rx *Rx) countFiltered(account int64, f ConversationFilter) (int, error) {
	q := f.listQueries(account)[0]
	q.Joins = "" // they only bring what a list shows
	return sqlite.CountRows(&rx.Rx, q)
}

// countSnoozed counts the few conversations that sleep, a user's and nobody's among them.
func (rx *Rx) countSnoozed(account int64, user string) (n ConversationCounts, err error) {
	err = rx.Scan([]any{&n.All, &n.Mine, &n.Unassigned}, `
		SELECT count(*), count(CASE WHEN assignee_id = ? THEN 1 END), count(*) - count(assignee_id)
		FROM conversations INDEXED BY conversations_snoozed
		WHERE account_id = ? AND snoozed_until > 0`, user, account)
	return n, err
}

// countByAssignee counts those in a state, a user's and nobody's among them, range by range.
func (rx *Rx) countByAssignee(account int64, status, user string) (n ConversationCounts, err error) {
	q := ConversationFilter{Statuses: []string{status}}.listQueries(account)[0]
	err = q.EachRange(&rx.Rx, First, func(after, until After) (enough bool, err error) {
		var all, mine, unassigned int
		err = rx.Scan([]any{&all, &mine, &unassigned}, `
			SELECT count(*), count(CASE WHEN assignee_id = ? THEN 1 END), count(*) - count(assignee_id)
			FROM conversations INDEXED BY conversations_by_status
			WHERE account_id = ? AND status = ? AND (last_message_at, id) < (?, ?) AND (last_message_at, id) >= (?, ?)`,
			user, account, status, after.Key, after.ID, until.Key, until.ID)
		n.All, n.Mine, n.Unassigned = n.All+all, n.Mine+mine, n.Unassigned+unassigned
		return false, err
	})
	return n, err
}
