package api

import (
	"slices"

	"confab/app/api/rest"
	"confab/storage"
)

type meView struct {
	Organization OrganizationView `json:"organization"`
	APIKey       *KeyView         `json:"api_key"`        // null in the console
	User         *PersonView      `json:"user,omitempty"` // who asks, in the console
	Teams        []TeamView       `json:"teams"`
	Users        []userView       `json:"users"`
	RateLimits   *rest.RateLimit  `json:"rate_limits"`
}

// OrganizationView is an organization, on the command line too.
type OrganizationView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Name   string `json:"name"`
	Plan   string `json:"plan"`
	Status string `json:"status"`
}

// ViewOrganization shows an organization.
func ViewOrganization(o storage.Organization) OrganizationView {
	return OrganizationView{o.PublicID, "organization", o.Name, o.Plan, o.Status()}
}

// KeyView is an API key without its secret.
type KeyView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Label     *string      `json:"label"`
	Last4     string       `json:"last4"`
	CreatedAt storage.Time `json:"created_at"`
	ExpiresAt storage.Time `json:"expires_at"`
	KeyLimitsView
}

// ViewKey shows an API key.
func ViewKey(k storage.Key) KeyView {
	return KeyView{
		ID:        k.ID,
		Object:    "api_key",
		Label:     k.Label,
		Last4:     k.Last4,
		CreatedAt: k.CreatedAt,
		ExpiresAt: k.ExpiresAt,

		KeyLimitsView: ViewKeyLimits(k),
	}
}

// TeamView is a team of the organization.
type TeamView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Name   string `json:"name"`
}

// PersonView is a person of the organization, as the console shows it.
type PersonView struct {
	userView
	Role         string       `json:"role"`
	Status       string       `json:"status"`
	LastSignInAt storage.Time `json:"last_sign_in_at"`
	CreatedAt    storage.Time `json:"created_at"`
}

// ViewPerson shows a person at a time.
func ViewPerson(u storage.User, now storage.Time) PersonView {
	return PersonView{
		userView:     viewUser(u, u.Email),
		Role:         u.Role,
		Status:       u.Status(now),
		LastSignInAt: u.LastSignInAt,
		CreatedAt:    u.CreatedAt,
	}
}

type userView struct {
	ID     string  `json:"id"`
	Object string  `json:"object"`
	Name   string  `json:"name"`
	Email  *string `json:"email"`
	TeamID string  `json:"team_id"`
}

func viewUser(u storage.User, email *string) userView {
	return userView{u.ID, "user", u.Name, email, u.TeamPublicID}
}

// getMe handles GET /v1/me.
func (s *Server) getMe(r *rest.Request) (rest.Reply, error) {
	view := meView{
		Organization: ViewOrganization(r.Org),
		Teams:        []TeamView{},
		Users:        []userView{},
	}

	switch {
	case r.User != nil:
		view.User = new(ViewPerson(*r.User, r.Now))
	case r.Operator == nil:
		view.APIKey = new(ViewKey(r.Key))
	}

	if limit := r.Limit(); limit.PerSecond > 0 {
		view.RateLimits = &limit
	}

	if !r.Key.HasScope(storage.ScopeRead) {
		return rest.OK(view), nil
	}
	err := s.View(r, func(rx *storage.Rx) error { return view.addTeams(rx, r) })
	return rest.OK(view), err
}

// addTeams adds the teams and their users: to a key that is bound to numbers, those of its
// numbers.
func (v *meView) addTeams(rx *storage.Rx, r *rest.Request) error {
	of, err := rx.TeamsOf(r.Key.Accounts)
	if err != nil {
		return err
	}
	teams, err := rx.Teams(r.Org.ID)
	if err != nil {
		return err
	}
	users, err := rx.Users(r.Org.ID)
	if err != nil {
		return err
	}

	for _, t := range teams {
		if of.Has(t.ID) {
			v.Teams = append(v.Teams, TeamView{ID: t.PublicID, Object: "team", Name: t.Name})
		}
	}

	for _, u := range users {
		if slices.ContainsFunc(v.Teams, func(t TeamView) bool { return t.ID == u.TeamPublicID }) {
			v.Users = append(v.Users, viewUser(u, addressFor(r, u.ID, u.Email)))
		}
	}
	return nil
}

// addressFor is the address of a person, as far as the caller may see it: agents see no
// colleague's.
func addressFor(r *rest.Request, person string, email *string) *string {
	if r.User != nil && r.User.Role != storage.RoleAdmin && r.User.ID != person {
		return nil
	}
	return email
}
