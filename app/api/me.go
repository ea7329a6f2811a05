package api

import "confab/storage"

type meView struct {
	Organization organizationView `json:"organization"`
	APIKey       *keyView         `json:"api_key"`        // null in the console
	User         *personView      `json:"user,omitempty"` // who asks, in the console
	Teams        []teamView       `json:"teams"`
	Users        []userView       `json:"users"`
	RateLimits   *rateLimitView   `json:"rate_limits"`
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

type rateLimitView struct {
	PerSecond float64 `json:"per_second"`
	Burst     int     `json:"burst"`
}

// getMe handles GET /v1/me.
func (s *Server) getMe(r *request) (reply, error) {
	view := meView{
		Organization: organizationView{
			ID:     r.org.PublicID,
			Object: "organization",
			Name:   r.org.Name,
			Plan:   r.org.Plan,
			Status: r.org.Status(),
		},
		Teams: []teamView{},
		Users: []userView{},
	}

	switch {
	case r.user != nil:
		person := viewPerson(*r.user)
		view.User = &person
	case r.operator == nil:
		view.APIKey = &keyView{
			ID:        r.key.ID,
			Object:    "api_key",
			Label:     r.key.Label,
			Last4:     r.key.Last4,
			CreatedAt: r.key.CreatedAt,
			ExpiresAt: r.key.ExpiresAt,
		}
	}

	if limit := r.limit(); limit.PerSecond > 0 {
		view.RateLimits = &limit
	}

	err := s.view(r, func(rx *storage.Rx) error {
		teams, err := rx.Teams(r.org.ID)
		if err != nil {
			return err
		}
		for _, t := range teams {
			view.Teams = append(view.Teams, teamView{ID: t.PublicID, Object: "team", Name: t.Name})
		}

		users, err := rx.Users(r.org.ID)
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

	return ok(view), err
}
