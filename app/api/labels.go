package api

import (
	"cmp"

	"confab/app/api/rest"
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

type labelView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	storage.Label
}

func viewLabel(l storage.Label) labelView { return labelView{l.ID, "label", l} }

// listLabels handles GET /v1/labels.
func (s *Server) listLabels(r *rest.Request) (rest.Reply, error) {
	return rest.ListOf(s.Server, r, rest.Lister[storage.Label, labelView]{
		Scope: "labels",
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Label, storage.After, error) {
			teams, err := rx.TeamsOf(r.Key.Accounts)
			if err != nil {
				return nil, storage.Last, err
			}
			rows, err := rx.Within(q.Budget).Labels(r.Org.ID, teams, q.After, q.Fetch())
			return rows, storage.Last, err
		},
		Key:  func(l storage.Label) storage.After { return storage.After{Key: l.CreatedAt, ID: l.ID} },
		View: viewLabel,
	})
}

// newLabel is the body of POST /v1/labels.
type newLabel struct {
	Name   *string `json:"name"`
	Color  *string `json:"color"`
	TeamID *string `json:"team_id"`
}

func (l *newLabel) Validate() error {
	rest.Trim(l.Name)
	return cmp.Or(
		rest.Required("name", l.Name, maxLabelName),
		rest.OptionalOneOf("color", l.Color, labelColors...),
		checkTeamID(l.TeamID),
	)
}

// createLabel handles POST /v1/labels.
func (s *Server) createLabel(r *rest.Request, in newLabel) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		team, err := ChooseTeam(&tx.Rx, r.Org.ID, in.TeamID)
		if err != nil {
			return rest.Reply{}, err
		}

		l := storage.Label{
			OrganizationID: r.Org.ID,
			TeamID:         team.ID,
			TeamPublicID:   team.PublicID,
			Name:           *in.Name,
			Color:          *cmp.Or(in.Color, &labelColors[0]),
		}
		if n, err := tx.CountLabels(team.ID); err != nil || n >= maxLabels {
			return rest.Reply{}, cmp.Or(err, errTeamFull("labels", maxLabels))
		}
		err = labelError(tx.InsertLabel(&l))
		return rest.Created(viewLabel(l)), err
	})
}

func labelIn(rx *storage.Rx, r *rest.Request) (storage.Label, error) {
	l, err := rest.InPath(r, "id", storage.PrefixLabel, r.Org.ID, rx.Label)
	if err != nil {
		return l, err
	}
	return l, checkTeamOfKey(rx, r, l.TeamID)
}

// labelChanges is the body of PATCH /v1/labels/:id.
type labelChanges struct {
	Name  rest.Patch[string] `json:"name"`
	Color rest.Patch[string] `json:"color"`
}

func (c *labelChanges) Validate() error {
	if !c.Name.Set && !c.Color.Set {
		return rest.NoneGiven("name", "Provide name, color or both.")
	}
	rest.Trim(&c.Name.Value)
	return cmp.Or(
		c.Name.NotNull("name"),
		rest.Optional("name", c.Name.OrNil(), maxLabelName),
		rest.OptionalOneOf("color", c.Color.IfSet(), labelColors...),
	)
}

// apply makes the changes, and reports whether there were any.
func (c *labelChanges) apply(to *storage.Label) bool {
	before := *to
	c.Name.Apply(&to.Name)
	c.Color.Apply(&to.Color)
	return *to != before
}

// updateLabel handles PATCH /v1/labels/:id. Conversations show their labels, so those
// with the label are marked as updated too.
func (s *Server) updateLabel(r *rest.Request, in labelChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, labelIn, func(tx *storage.Tx, l storage.Label) (rest.Reply, error) {
		changed := in.apply(&l)
		if err := tx.UpdateLabel(&l); err != nil {
			return rest.Reply{}, labelError(err)
		}
		if changed {
			return rest.OK(viewLabel(l)), tx.TouchLabeled(l.ID)
		}
		return rest.OK(viewLabel(l)), nil
	})
}

// labelError makes the client's error of a name that is taken, which only the database
// can check.
func labelError(err error) error {
	return rest.InvalidIf(err, storage.ErrConflict, "name", "is already used by another label in this team")
}
