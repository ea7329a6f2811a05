package api

import (
	"confab/app/api/rest"
	"confab/storage"
)

// audienceView is whom a broadcast would reach, before it is made.
type audienceView struct {
	Object      string `json:"object"`
	Total       int64  `json:"total"`
	Capped      bool   `json:"capped"` // there are more, which were not looked at
	OptedOut    int64  `json:"opted_out"`
	NoConsent   int64  `json:"no_consent"`
	Unreachable int64  `json:"unreachable"`
}

// getAudience handles GET /console/api/:phone_number_id/audience: how many contacts have
// the label of the query, and how many of them would be skipped.
func (s *Server) getAudience(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	label := q.ID("label_id", storage.PrefixLabel)
	switch {
	case q.Err != nil:
		return rest.Reply{}, q.Err
	case label == "":
		return rest.Reply{}, rest.Missing("label_id")
	}

	var a storage.Audience
	err := s.List(r, func(rx *storage.Rx) (err error) {
		if _, err = rx.Label(r.Org.ID, label); err == nil {
			a, err = rx.Audience(r.Account.ID, label)
		}
		return err
	})
	if err != nil {
		return rest.Reply{}, err
	}

	view := audienceView{Object: "audience", Total: a.Total, OptedOut: a.OptedOut, Unreachable: a.Unreachable}
	if r.Org.RequireOptIn {
		view.NoConsent = a.NotOptedIn
	}
	if a.Total > storage.MaxAudience {
		view.Total, view.Capped = storage.MaxAudience, true
	}
	return rest.OK(view), nil
}
