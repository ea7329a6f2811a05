package api

import (
	"cmp"
	"encoding/json"
	"regexp"

	"confab/app/api/content"
	"confab/app/api/rest"
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
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.QuickReply
}

// ViewQuickReply shows a quick reply.
func ViewQuickReply(q storage.QuickReply) QuickReplyView {
	return QuickReplyView{q.ID, "quick_reply", q}
}

// listQuickReplies handles GET /v1/quick_replies.
func (s *Server) listQuickReplies(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.QuickReply, QuickReplyView]{
		Scope: "quick_replies",
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.QuickReply, storage.After, error) {
			teams, err := rx.TeamsOf(r.Key.Accounts)
			if err != nil {
				return nil, storage.Last, err
			}
			rows, err := rx.Within(q.Budget).QuickReplies(r.Org.ID, teams, q.After, q.Fetch())
			return rows, storage.Last, err
		},
		Key:  func(q storage.QuickReply) storage.After { return storage.After{Key: q.CreatedAt, ID: q.ID} },
		View: ViewQuickReply,
	})
}

// NewQuickReply is the body of POST /v1/quick_replies. The command line makes quick
// replies by the same rules.
type NewQuickReply struct {
	Shortcut    *string         `json:"shortcut"`
	Text        *string         `json:"text"`
	Interactive json.RawMessage `json:"interactive"`
	TeamID      *string         `json:"team_id"`
}

func (q *NewQuickReply) Validate() error {
	if q.Shortcut == nil {
		return rest.Missing("shortcut")
	}
	if err := cmp.Or(checkShortcut(q.Shortcut), rest.Required("text", q.Text, maxQuickReply), checkTeamID(q.TeamID)); err != nil {
		return err
	}

	if rest.Absent(q.Interactive) {
		q.Interactive = nil
		return nil
	}
	var err error
	q.Interactive, err = content.CheckQuickReply(q.Interactive, *q.Text)
	return err
}

// createQuickReply handles POST /v1/quick_replies.
func (s *Server) createQuickReply(r *rest.Request, in NewQuickReply) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		q, err := in.Insert(tx, r.Org.ID)
		return rest.Created(ViewQuickReply(q)), err
	})
}

// Insert stores the quick reply for an organization, if it keeps to the rules.
func (q *NewQuickReply) Insert(tx *storage.Tx, organization int64) (storage.QuickReply, error) {
	if err := q.Validate(); err != nil {
		return storage.QuickReply{}, err
	}
	team, err := ChooseTeam(&tx.Rx, organization, q.TeamID)
	if err != nil {
		return storage.QuickReply{}, err
	}

	if n, err := tx.CountQuickReplies(team.ID); err != nil || n >= maxQuickReplies {
		return storage.QuickReply{}, cmp.Or(err, errTeamFull("quick_replies", maxQuickReplies))
	}

	made := storage.QuickReply{
		OrganizationID: organization,
		TeamID:         team.ID,
		TeamPublicID:   team.PublicID,
		Shortcut:       *q.Shortcut,
		Text:           *q.Text,
		Interactive:    storage.JSON(q.Interactive),
	}
	return made, shortcutError(tx.InsertQuickReply(&made))
}

func quickReplyIn(rx *storage.Rx, r *rest.Request) (storage.QuickReply, error) {
	q, err := rest.InPath(r, "id", storage.PrefixQuickReply, r.Org.ID, rx.QuickReply)
	if err != nil {
		return q, err
	}
	return q, checkTeamOfKey(rx, r, q.TeamID)
}

// quickReplyChanges is the body of PATCH /v1/quick_replies/:id.
type quickReplyChanges struct {
	Shortcut    rest.Patch[string]          `json:"shortcut"`
	Text        rest.Patch[string]          `json:"text"`
	Interactive rest.Patch[json.RawMessage] `json:"interactive"`
}

func (c *quickReplyChanges) Validate() error {
	if !c.Shortcut.Set && !c.Text.Set && !c.Interactive.Set {
		return rest.NoneGiven("shortcut", "Provide at least one of shortcut, text and interactive.")
	}
	return cmp.Or(
		c.Shortcut.NotNull("shortcut"),
		checkShortcut(c.Shortcut.OrNil()),
		c.Text.NotNull("text"),
		rest.Optional("text", c.Text.OrNil(), maxQuickReply),
	)
}

// updateQuickReply handles PATCH /v1/quick_replies/:id.
func (s *Server) updateQuickReply(r *rest.Request, in quickReplyChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, quickReplyIn, func(tx *storage.Tx, q storage.QuickReply) (rest.Reply, error) {
		in.Shortcut.Apply(&q.Shortcut)
		in.Text.Apply(&q.Text)
		if in.Interactive.Set {
			q.Interactive = storage.JSON(in.Interactive.Value)
		}
		if q.Interactive != nil { // a longer text may not fit any more
			kept, err := content.CheckQuickReply(json.RawMessage(q.Interactive), q.Text)
			if err != nil {
				return rest.Reply{}, err
			}
			q.Interactive = storage.JSON(kept)
		}

		err := shortcutError(tx.UpdateQuickReply(&q))
		return rest.OK(ViewQuickReply(q)), err
	})
}

func checkShortcut(word *string) error {
	if word != nil && !shortcut.MatchString(*word) {
		return rest.Invalid("shortcut", "must have 1 to 30 characters of a-z, 0-9, _ and -")
	}
	return nil
}

// shortcutError makes the client's error of a shortcut that is taken, which only the
// database can check.
func shortcutError(err error) error {
	return rest.InvalidIf(err, storage.ErrConflict, "shortcut", "is already used by another quick reply in this team")
}
