package api

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"confab/storage"
)

// labelColors are the allowed colors; the first is the default.
var labelColors = []string{"gray", "red", "orange", "amber", "yellow", "lime", "green", "emerald", "teal", "sky", "blue", "violet", "pink"}

const (
	maxLabelName = 50
	// maxLabels is how many labels a team may have. Every contact and conversation
	// shows all of its own.
	maxLabels = 500
)

// labelView is the public shape of a label.
type labelView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Name      string       `json:"name"`
	Color     string       `json:"color"`
	TeamID    string       `json:"team_id"`
	CreatedAt storage.Time `json:"created_at"`
	UpdatedAt storage.Time `json:"updated_at"`
}

func viewLabel(l storage.Label) labelView {
	return labelView{
		ID:        l.ID,
		Object:    "label",
		Name:      l.Name,
		Color:     l.Color,
		TeamID:    l.TeamPublicID,
		CreatedAt: l.CreatedAt,
		UpdatedAt: l.UpdatedAt,
	}
}

// listLabels handles GET /v1/labels.
func (s *Server) listLabels(r *request) (reply, error) {
	return listOf(s, r, lister[storage.Label, labelView]{
		scope: "labels",
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Label, storage.After, error) {
			rows, err := rx.Within(q.budget).Labels(r.org.ID, q.after, q.fetch())
			return rows, storage.Last, err
		},
		key:  func(l storage.Label) storage.After { return storage.After{Key: l.CreatedAt, ID: l.ID} },
		view: viewLabel,
	})
}

// newLabel is the body of POST /v1/labels.
type newLabel struct {
	Name   *string `json:"name"`
	Color  *string `json:"color"`
	TeamID *string `json:"team_id"`
}

func (l *newLabel) validate() error {
	switch {
	case l.Name == nil:
		return missing("name")
	case !between(*l.Name, 1, maxLabelName):
		return invalid("name", lengthRule(1, maxLabelName))
	case l.Color != nil && !slices.Contains(labelColors, *l.Color):
		return errColor()
	case l.TeamID != nil && *l.TeamID == "":
		return invalid("team_id", "must not be empty")
	}
	return nil
}

// createLabel handles POST /v1/labels.
func (s *Server) createLabel(r *request) (reply, error) {
	var in newLabel
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		team, err := chooseTeam(&tx.Rx, r.org.ID, in.TeamID)
		if err != nil {
			return reply{}, err
		}

		l := storage.Label{
			OrganizationID: r.org.ID,
			TeamID:         team.ID,
			TeamPublicID:   team.PublicID,
			Name:           *in.Name,
			Color:          labelColors[0],
		}
		if in.Color != nil {
			l.Color = *in.Color
		}

		if err := checkLabelCount(&tx.Rx, team); err != nil {
			return reply{}, err
		}
		if err := tx.InsertLabel(&l); err != nil {
			return reply{}, labelError(err)
		}

		return created(viewLabel(l)), nil
	})
}

// checkLabelCount refuses another label of a team that has as many as it may.
func checkLabelCount(rx *storage.Rx, team storage.Team) error {
	n, err := rx.CountLabels(team.ID)
	if err == nil && n >= maxLabels {
		return invalid("labels", "are "+strconv.Itoa(maxLabels)+" in this team, which is the most: delete one first")
	}
	return err
}

// labelIn finds the label in the path.
func labelIn(rx *storage.Rx, r *request) (storage.Label, error) {
	return inPath(r, "id", storage.PrefixLabel, r.org.ID, rx.Label)
}

// getLabel handles GET /v1/labels/:id.
func (s *Server) getLabel(r *request) (reply, error) {
	l, err := find(s, r, labelIn)
	return ok(viewLabel(l)), err
}

// labelChanges is the body of PATCH /v1/labels/:id.
type labelChanges struct {
	Name  patch[string] `json:"name"`
	Color patch[string] `json:"color"`
}

func (c *labelChanges) validate() error {
	switch {
	case !c.Name.Set && !c.Color.Set:
		return &Error{Code: MissingRequiredField, Param: "name", Message: "Give name, color or both."}
	case c.Name.Null:
		return invalid("name", "cannot be null")
	case c.Name.Set && !between(c.Name.Value, 1, maxLabelName):
		return invalid("name", lengthRule(1, maxLabelName))
	case c.Color.Set && !slices.Contains(labelColors, c.Color.Value):
		return errColor()
	}
	return nil
}

// apply makes the changes, and tells whether there were any.
func (c *labelChanges) apply(to *storage.Label) bool {
	before := *to
	if c.Name.Set {
		to.Name = c.Name.Value
	}
	if c.Color.Set {
		to.Color = c.Color.Value
	}
	return *to != before
}

// updateLabel handles PATCH /v1/labels/:id. Conversations show their labels, so those
// with the label are marked as updated too.
func (s *Server) updateLabel(r *request) (reply, error) {
	var in labelChanges
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return updateFound(s, r, labelIn, func(tx *storage.Tx, l storage.Label) (reply, error) {
		changed := in.apply(&l)
		if err := tx.UpdateLabel(&l); err != nil {
			return reply{}, labelError(err)
		}
		if changed {
			return ok(viewLabel(l)), tx.TouchLabeled(l.ID)
		}
		return ok(viewLabel(l)), nil
	})
}

// deleteLabel handles DELETE /v1/labels/:id.
func (s *Server) deleteLabel(r *request) (reply, error) {
	return updateFound(s, r, labelIn, func(tx *storage.Tx, l storage.Label) (reply, error) {
		return deleted("label", l.ID), tx.DeleteLabel(r.org.ID, l.ID)
	})
}

func errColor() *Error {
	return invalid("color", "must be one of "+strings.Join(labelColors, ", "))
}

// labelError makes the client's error of a name that is taken, which only the database
// can check.
func labelError(err error) error {
	if errors.Is(err, storage.ErrConflict) {
		return invalid("name", "is used by another label of this team")
	}
	return err
}
