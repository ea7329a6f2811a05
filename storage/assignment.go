package storage

import (
	"cmp"
	"time"
)

// Ways in which a team's conversations are assigned by themselves.
const (
	AssignmentOff        = "off"
	AssignmentRoundRobin = "round_robin"
)

// MaxAssignmentLimit bounds how many conversations a team may let a person hold.
const MaxAssignmentLimit = 100_000

// availableFor is how long somebody is available after a console of theirs was last seen.
const availableFor = 10 * time.Minute

// UpdateTeam stores name and assignment of a team.
func (tx *Tx) UpdateTeam(t Team) error {
	return tx.UpdateRow("teams", "name, assignment, assignment_limit", "id, organization_id", t)
}

// AssignByTurn assigns the conversation of a thread to the next person of its account's team, if
// the team wants that and nobody has it, or somebody who is disabled, and no bot holds it. It
// returns whom it was assigned to; ErrNotFound if it stays as it is.
//
// The writer runs one transaction after the other, and each sees the turns and conversations of
// those before it: so whatever comes at once, each conversation gets one person, and each person
// a fair share.
func (tx *Tx) AssignByTurn(a Account, t *Thread) (next User, err error) {
	team, err := tx.db.caches.teams.find(&tx.Rx, a.TeamID)
	if err != nil {
		return next, err
	}
	if team.Assignment != AssignmentRoundRobin {
		return next, ErrNotFound
	}
	if t.AssigneeID != nil {
		if u, err := tx.UserByID(*t.AssigneeID); err != nil || u.DisabledAt == 0 {
			return next, cmp.Or(err, ErrNotFound)
		}
	}

	held, err := tx.HolderOf(t.ConversationID)
	if err != nil {
		return next, err
	}
	if held.Type == HolderAgent {
		return next, ErrNotFound
	}

	if next, err = tx.nextInTurn(team); err != nil {
		return next, err
	}
	_, err = tx.Exec(`
		INSERT OR REPLACE INTO assignment_turns (user_id, turn)
		SELECT ?, 1 + coalesce(max(turn), 0) FROM assignment_turns`, next.ID)
	if err != nil {
		return next, err
	}

	t.AssigneeID = &next.ID
	err = tx.ExecOne(`UPDATE conversations SET assignee_id = ?, updated_at = ? WHERE id = ?`, next.ID, tx.Order, t.ConversationID)
	if err := tx.hint(err, HintConversation, Scope{Account: t.AccountID}, t.ConversationID); err != nil {
		return next, err
	}
	return next, tx.RecordChange(ConversationChange{
		ConversationID: t.ConversationID,
		AccountID:      t.AccountID,
		Kind:           ChangeAssigned,
		Actor:          ChangedByAssignment,
		AssigneeID:     &next.ID,
	})
}

// nextInTurn finds who of a team gets the next conversation: of those who are available and hold
// fewer than the limit, if there is one, the person whose last turn is the longest ago.
func (rx *Rx) nextInTurn(team Team) (User, error) {
	now := rx.db.Now()
	return get[User](rx, `
		SELECT `+userColumns+`
		FROM `+userTables+` LEFT JOIN assignment_turns r ON r.user_id = u.id
		WHERE u.team_id = ?1 AND u.organization_id = t.organization_id AND u.disabled_at = 0 AND u.available = 1
			AND EXISTS (SELECT 1 FROM user_sessions s WHERE s.user_id = u.id AND s.last_seen_at > ?2 AND s.created_at > ?3)
			AND (?4 IS NULL OR ?4 > (
				SELECT count(*) FROM (
					SELECT 1 FROM conversations
					WHERE assignee_id = u.id AND assignee_id IS NOT NULL AND status <> 'resolved'
					LIMIT ?4)))
		ORDER BY coalesce(r.turn, 0), u.id
		LIMIT 1`, team.ID, now.Add(-availableFor), now.Add(-SessionLife), team.AssignmentLimit)
}

// SetAvailable records whether a user wants to get conversations.
func (tx *Tx) SetAvailable(user string, available bool) error {
	return tx.updateUser(user, `UPDATE users SET available = ? WHERE id = ?`, available, user)
}
