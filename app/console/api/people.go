package api

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/jobs/messaging"
	"confab/storage"
)

const (
	maxPersonName = 200
	// maxPeople is how many people an organization may have: they are listed as a whole.
	maxPeople = 5000
)

// colleagueView is a person as agents see it: somebody to name and, unless disabled, to assign to.
type colleagueView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// viewPersonFor is a person as far as the caller may see it.
func viewPersonFor(r *rest.Request, u storage.User) any {
	if r.User.Role != storage.RoleAdmin && u.ID != r.User.ID {
		return colleagueView{ID: u.ID, Object: "user", Name: u.Name, Status: u.Status(r.Now)}
	}
	return api.ViewPerson(u, r.Now)
}

// listPeople handles GET /console/api/people.
func (s *Server) listPeople(r *rest.Request) (rest.Reply, error) {
	all, err := rest.QueryMany(s.Server, r, func(rx *storage.Rx) ([]storage.User, error) { return rx.Users(r.Org.ID) })
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.WholeList(all, func(u storage.User) any { return viewPersonFor(r, u) })
}

// getPerson handles GET /console/api/people/:id.
func (s *Server) getPerson(r *rest.Request) (rest.Reply, error) {
	u, err := rest.Find(s.Server, r, personIn)
	return rest.OK(viewPersonFor(r, u)), err
}

var personIn = rest.OfOrganization("", (*storage.Rx).User)

// changePerson lets change work on the person in the path, and replies with what it is
// then.
func (s *Server) changePerson(r *rest.Request, change func(*storage.Tx, *storage.User) error) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, personIn, func(tx *storage.Tx, u storage.User) (rest.Reply, error) {
		if err := change(tx, &u); err != nil {
			return rest.Reply{}, err
		}

		u, err := personIn(&tx.Rx, r)
		return rest.OK(api.ViewPerson(u, r.Now)), err
	})
}

// ValidPersonName reports whether a text can be a person's name.
func ValidPersonName(name string) bool {
	isText := utf8.ValidString(name) && strings.TrimSpace(name) != "" && !strings.ContainsFunc(name, unicode.IsControl)
	return isText && rest.Between(name, 1, maxPersonName)
}

func errPersonName() *rest.Error { return rest.Invalid("name", rest.LengthRule(1, maxPersonName)) }

func checkRole(role *string) error {
	if role != nil && *role != storage.RoleAdmin && *role != storage.RoleAgent {
		return rest.Invalid("role", "must be admin or agent")
	}
	return nil
}

// personChanges is the body of PATCH /console/api/people/:id.
type personChanges struct {
	Name   rest.Patch[string] `json:"name"`
	Email  rest.Patch[string] `json:"email"`
	Role   rest.Patch[string] `json:"role"`
	TeamID rest.Patch[string] `json:"team_id"`
}

func (c *personChanges) Validate() error {
	switch {
	case !c.Name.Set && !c.Email.Set && !c.Role.Set && !c.TeamID.Set:
		return rest.NoneGiven("name", "Provide at least one of name, email, role and team_id.")
	case c.Name.Set && !ValidPersonName(c.Name.Value):
		return errPersonName()
	}
	return cmp.Or(rest.CheckEmail(c.Email.IfSet()), checkRole(c.Role.IfSet()))
}

// updatePerson handles PATCH /console/api/people/:id.
func (s *Server) updatePerson(r *rest.Request, in personChanges) (rest.Reply, error) {
	return s.changePerson(r, func(tx *storage.Tx, u *storage.User) error {
		if in.Role.Set && in.Role.Value != u.Role {
			if err := checkNotLastAdmin(&tx.Rx, r, *u, "role"); err != nil {
				return err
			}
			u.Role, r.Action = in.Role.Value, "user.role_changed"
		}

		in.Name.Apply(&u.Name)
		if in.Email.Set {
			u.Email = &in.Email.Value
		}

		if in.TeamID.Set {
			t, err := api.ChooseTeam(&tx.Rx, r.Org.ID, in.TeamID.OrNil())
			if err != nil {
				return err
			}
			u.TeamID = t.ID
		}

		return rest.InvalidIf(tx.UpdateUser(u), storage.ErrConflict, "email", "is already used by someone else, or by an invitation")
	})
}

// checkNotLastAdmin refuses to take the console away from the last admin who can sign
// in, or from an admin who does it to itself while no other can. Only the command
// line may do that.
func checkNotLastAdmin(rx *storage.Rx, r *rest.Request, u storage.User, param string) error {
	if u.Role != storage.RoleAdmin || u.DisabledAt != 0 || !u.CanSignIn() && u.ID != r.User.ID {
		return nil
	}

	other, err := rx.OtherAdminCanSignIn(u)
	if err == nil && !other {
		const last = "This is the last admin who can sign in. Make someone else an admin first."
		return rest.FailAt(rest.PermissionDenied, param, last)
	}
	return err
}

// disablePerson handles POST /console/api/people/:id/disable.
func (s *Server) disablePerson(r *rest.Request) (rest.Reply, error) {
	return s.changePerson(r, func(tx *storage.Tx, u *storage.User) error {
		if err := checkNotLastAdmin(&tx.Rx, r, *u, ""); err != nil {
			return err
		}
		if err := tx.DisableUser(u.ID); err != nil {
			return err
		}
		_, err := messaging.ReleaseHolders(tx)
		return err
	})
}

// enablePerson handles POST /console/api/people/:id/enable.
func (s *Server) enablePerson(r *rest.Request) (rest.Reply, error) {
	return s.changePerson(r, func(tx *storage.Tx, u *storage.User) error { return tx.EnableUser(u.ID) })
}

// signOutPerson handles POST /console/api/people/:id/signout.
func (s *Server) signOutPerson(r *rest.Request) (rest.Reply, error) {
	return s.changePerson(r, func(tx *storage.Tx, u *storage.User) error {
		_, err := tx.DeleteUserSessions(u.ID, "")
		return err
	})
}

// invitationError makes the client's error of a person who cannot be invited. It does
// not reveal what others have.
func invitationError(err error) error {
	if ambiguous, ok := errors.AsType[*storage.AmbiguousUserError](err); ok {
		return rest.Invalid("email", "belongs to several people: "+strings.Join(ambiguous.IDs, ", "))
	}

	switch {
	case errors.Is(err, storage.ErrCanSignIn), errors.Is(err, storage.ErrInvitedElsewhere), errors.Is(err, storage.ErrConflict):
		return rest.Invalid("email", "is already used by someone who can sign in: send them a reset link, not an invitation")
	case errors.Is(err, storage.ErrUserDisabled):
		return rest.Invalid("email", "belongs to someone who is disabled: enable them first")
	case errors.Is(err, storage.ErrNoAddress):
		return rest.Invalid("email", "is missing: this person needs an email address to sign in")
	}
	return err
}

// CheckPeopleCount refuses another person of an organization that has as many as it may.
func CheckPeopleCount(rx *storage.Rx, organization int64) error {
	all, err := rx.Users(organization)
	if err == nil && len(all) >= maxPeople {
		return rest.Invalid("people", "are limited to "+strconv.Itoa(maxPeople)+" in an organization")
	}
	return err
}

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
	case !ValidPersonName(*p.Name):
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
