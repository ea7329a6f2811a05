package api

import (
	"cmp"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/storage"
)

// invitationView is a person with the link by which it chooses a password. It is shown
// once.
type invitationView struct {
	api.PersonView
	Link      string       `json:"link"`
	ExpiresAt storage.Time `json:"expires_at"`
}

// viewInvitation makes the reply of an invitation, read again with its team.
func (s *Server) viewInvitation(rx *storage.Rx, u storage.User, token string) (invitationView, error) {
	u, err := rx.User(u.OrganizationID, u.ID)
	return invitationView{api.ViewPerson(u, rx.ClockTime()), s.api.Publisher.PublicURL + "/console/welcome/" + token, u.InvitedUntil}, err
}

// newPerson is the body of POST /console/api/people.
type newPerson struct {
	Name   *string `json:"name"`
	Email  *string `json:"email"`
	Role   *string `json:"role"`
	TeamID *string `json:"team_id"`
}

func (p *newPerson) Validate() error {
	switch {
	case p.Name == nil:
		return rest.Missing("name")
	case !validPersonName(*p.Name):
		return errPersonName()
	case p.Email == nil:
		return rest.Missing("email")
	}
	return cmp.Or(rest.CheckEmail(p.Email), checkRole(p.Role))
}

// invitePerson handles POST /console/api/people.
func (s *Server) invitePerson(r *rest.Request, in newPerson) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		who, err := in.invitee(&tx.Rx, r.Org.ID)
		if err != nil {
			return rest.Reply{}, err
		}

		u, token, err := tx.InviteUser(who)
		if err != nil {
			return rest.Reply{}, invitationError(err)
		}
		v, err := s.viewInvitation(&tx.Rx, u, token)
		return rest.Created(v).WithSecret(), err
	})
}

func (p *newPerson) invitee(rx *storage.Rx, organization int64) (storage.Invitee, error) {
	in := storage.Invitee{OrganizationID: organization, Name: *p.Name, Email: *p.Email, Role: storage.OrEmpty(p.Role)}
	if err := CheckPeopleCount(rx, organization); err != nil {
		return in, err
	}

	if p.TeamID != nil {
		t, err := api.ChooseTeam(rx, organization, p.TeamID)
		in.TeamID = t.ID
		return in, err
	}
	teams, err := rx.Teams(organization)
	if err != nil {
		return in, err
	}
	in.DefaultTeamID = teams[0].ID // every organization has one from the start
	return in, nil
}

// resetPerson handles POST /console/api/people/:id/reset.
func (s *Server) resetPerson(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, personIn, func(tx *storage.Tx, u storage.User) (rest.Reply, error) {
		token, err := tx.ResetUser(&u)
		if err != nil {
			return rest.Reply{}, invitationError(err)
		}
		v, err := s.viewInvitation(&tx.Rx, u, token)
		return rest.OK(v).WithSecret(), err
	})
}
