package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

type meView struct {
	Organization organizationView `json:"organization"`
	APIKey       *keyView         `json:"api_key"`        // null in the console
	User         *personView      `json:"user,omitempty"` // who asks, in the console
	Teams        []teamView       `json:"teams"`
	Users        []userView       `json:"users"`
	RateLimits   *rest.RateLimit  `json:"rate_limits"`
}

type organizationView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Name   string `json:"name"`
	Plan   string `json:"plan"`
	Status string `json:"status"`
}

type keyView struct {
	ID        string       `json:"id"`
	Object    string       `json:"object"`
	Label     *string      `json:"label"`
	Last4     string       `json:"last4"`
	CreatedAt storage.Time `json:"created_at"`
	ExpiresAt storage.Time `json:"expires_at"`
}

type teamView struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Name   string `json:"name"`
}

type userView struct {
	ID     string  `json:"id"`
	Object string  `json:"object"`
	Name   string  `json:"name"`
	Email  *string `json:"email"`
	TeamID string  `json:"team_id"`
}

// getMe handles GET /v1/me.
func (s *Server) getMe(r *rest.Request) (rest.Reply, error) {
	view := meView{
		Organization: organizationView{
			ID:     r.Org.PublicID,
			Object: "organization",
			Name:   r.Org.Name,
			Plan:   r.Org.Plan,
			Status: r.Org.Status(),
		},
		Teams: []teamView{},
		Users: []userView{},
	}

	switch {
	case r.User != nil:
		view.User = new(viewPerson(*r.User))
	case r.Operator == nil:
		view.APIKey = new(viewKey(r.Key).keyView)
	}

	if limit := r.Limit(); limit.PerSecond > 0 {
		view.RateLimits = &limit
	}

	err := s.View(r, func(rx *storage.Rx) error {
		teams, err := rx.Teams(r.Org.ID)
		if err != nil {
			return err
		}
		for _, t := range teams {
			view.Teams = append(view.Teams, teamView{ID: t.PublicID, Object: "team", Name: t.Name})
		}

		users, err := rx.Users(r.Org.ID)
		for _, u := range users {
			view.Users = append(view.Users, userView{
				ID:     u.ID,
				Object: "user",
				Name:   u.Name,
				Email:  u.Email,
				TeamID: u.TeamPublicID,
			})
		}
		return err
	})

	return rest.OK(view), err
}
