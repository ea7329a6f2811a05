package api

import (
	"errors"
	"regexp"
	"strconv"

	"confab/storage"
)

const (
	maxQuickReply = 4096 // characters, as a message's text
	// maxQuickReplies is how many a team may have: people choose from all of them.
	maxQuickReplies = 500
)

// shortcut is the word that a quick reply is inserted by.
var shortcut = regexp.MustCompile(`^[a-z0-9_-]{1,30}$`)

// QuickReplyView is the public shape of a quick reply, on the command line too.
type QuickReplyView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	TeamID    string       `json:"team_id"`
	Shortcut  string       `json:"shortcut"`
	Text      string       `json:"text"`
	CreatedAt storage.Time `json:"created_at"`
	UpdatedAt storage.Time `json:"updated_at"`
}

// ViewQuickReply shows a quick reply.
func ViewQuickReply(q storage.QuickReply) QuickReplyView {
	return QuickReplyView{
		ID:        q.ID,
		Object:    "quick_reply",
		TeamID:    q.TeamPublicID,
		Shortcut:  q.Shortcut,
		Text:      q.Text,
		CreatedAt: q.CreatedAt,
		UpdatedAt: q.UpdatedAt,
	}
}

// listQuickReplies handles GET /v1/quick_replies.
func (s *Server) listQuickReplies(r *request) (reply, error) {
	return listOf(s, r, lister[storage.QuickReply, QuickReplyView]{
		scope: "quick_replies",
		read: func(rx *storage.Rx, q *listQuery) ([]storage.QuickReply, storage.After, error) {
			rows, err := rx.Within(q.budget).QuickReplies(r.org.ID, q.after, q.fetch())
			return rows, storage.Last, err
		},
		key:  func(q storage.QuickReply) storage.After { return storage.After{Key: q.CreatedAt, ID: q.ID} },
		view: ViewQuickReply,
	})
}

// NewQuickReply is the body of POST /v1/quick_replies. The command line makes quick
// replies by the same rules.
type NewQuickReply struct {
	Shortcut *string `json:"shortcut"`
	Text     *string `json:"text"`
	TeamID   *string `json:"team_id"`
}

func (q *NewQuickReply) validate() error {
	switch {
	case q.Shortcut == nil:
		return missing("shortcut")
	case !shortcut.MatchString(*q.Shortcut):
		return errShortcut()
	case q.Text == nil:
		return missing("text")
	case !between(*q.Text, 1, maxQuickReply):
		return invalid("text", lengthRule(1, maxQuickReply))
	case q.TeamID != nil && *q.TeamID == "":
		return invalid("team_id", "must not be empty")
	}
	return nil
}

// createQuickReply handles POST /v1/quick_replies.
func (s *Server) createQuickReply(r *request) (reply, error) {
	var in NewQuickReply
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		q, err := in.Insert(tx, r.org.ID)
		return created(ViewQuickReply(q)), err
	})
}

// Insert stores the quick reply for an organization, if it keeps to the rules.
func (q *NewQuickReply) Insert(tx *storage.Tx, organization int64) (storage.QuickReply, error) {
	if err := q.validate(); err != nil {
		return storage.QuickReply{}, err
	}
	team, err := chooseTeam(&tx.Rx, organization, q.TeamID)
	if err != nil {
		return storage.QuickReply{}, err
	}

	n, err := tx.CountQuickReplies(team.ID)
	if err == nil && n >= maxQuickReplies {
		err = invalid("quick_replies", "are "+strconv.Itoa(maxQuickReplies)+" in this team, which is the most: delete one first")
	}
	if err != nil {
		return storage.QuickReply{}, err
	}

	made := storage.QuickReply{
		OrganizationID: organization,
		TeamID:         team.ID,
		TeamPublicID:   team.PublicID,
		Shortcut:       *q.Shortcut,
		Text:           *q.Text,
	}
	return made, shortcutError(tx.InsertQuickReply(&made))
}

// quickReplyIn finds the quick reply in the path.
func quickReplyIn(rx *storage.Rx, r *request) (storage.QuickReply, error) {
	return inPath(r, "id", storage.PrefixQuickReply, r.org.ID, rx.QuickReply)
}

// getQuickReply handles GET /v1/quick_replies/:id.
func (s *Server) getQuickReply(r *request) (reply, error) {
	q, err := find(s, r, quickReplyIn)
	return ok(ViewQuickReply(q)), err
}

// quickReplyChanges is the body of PATCH /v1/quick_replies/:id.
type quickReplyChanges struct {
	Shortcut patch[string] `json:"shortcut"`
	Text     patch[string] `json:"text"`
}

func (c *quickReplyChanges) validate() error {
	switch {
	case !c.Shortcut.Set && !c.Text.Set:
		return &Error{Code: MissingRequiredField, Param: "shortcut", Message: "Give shortcut, text or both."}
	case c.Shortcut.Null:
		return invalid("shortcut", "cannot be null")
	case c.Shortcut.Set && !shortcut.MatchString(c.Shortcut.Value):
		return errShortcut()
	case c.Text.Null:
		return invalid("text", "cannot be null")
	case c.Text.Set && !between(c.Text.Value, 1, maxQuickReply):
		return invalid("text", lengthRule(1, maxQuickReply))
	}
	return nil
}

// updateQuickReply handles PATCH /v1/quick_replies/:id.
func (s *Server) updateQuickReply(r *request) (reply, error) {
	var in quickReplyChanges
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return updateFound(s, r, quickReplyIn, func(tx *storage.Tx, q storage.QuickReply) (reply, error) {
		if in.Shortcut.Set {
			q.Shortcut = in.Shortcut.Value
		}
		if in.Text.Set {
			q.Text = in.Text.Value
		}
		err := shortcutError(tx.UpdateQuickReply(&q))
		return ok(ViewQuickReply(q)), err
	})
}

// deleteQuickReply handles DELETE /v1/quick_replies/:id.
func (s *Server) deleteQuickReply(r *request) (reply, error) {
	return updateFound(s, r, quickReplyIn, func(tx *storage.Tx, q storage.QuickReply) (reply, error) {
		return deleted("quick_reply", q.ID), tx.DeleteQuickReply(r.org.ID, q.ID)
	})
}

func errShortcut() *Error {
	return invalid("shortcut", "must have 1 to 30 characters of a-z, 0-9, _ and -")
}

// shortcutError makes the client's error of a shortcut that is taken, which only the
// database can check.
func shortcutError(err error) error {
	if errors.Is(err, storage.ErrConflict) {
		return invalid("shortcut", "is used by another quick reply of this team")
	}
	return err
}
