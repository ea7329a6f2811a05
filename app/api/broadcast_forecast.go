package api

import (
	"cmp"
	"slices"
	"strings"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/rates"
	"confab/storage"
)

// forecastView is what a broadcast would do if it began now.
type forecastView struct {
	Object   string                 `json:"object"`
	Total    int64                  `json:"total"`
	WillSend int64                  `json:"will_send"`
	Skipped  []reasonView           `json:"skipped"`
	Repeated int64                  `json:"repeated"` // numbers that were given before
	Capped   bool                   `json:"capped"`   // there are more, which were not looked at
	First    []jobs.ForecastMessage `json:"first"`
	// PausedReason says why it would be paused at once; null if it would not.
	PausedReason *string `json:"paused_reason"`
	// MessagesLeft is how many messages the plan still allows this month; null for no limit.
	MessagesLeft *int64 `json:"messages_left"`
	// Estimate is what the messages may cost, if the provider bills each; null without rates.
	Estimate *rates.Estimate `json:"estimate"`
}

// reasonView is how many recipients get nothing for a reason.
type reasonView struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// ForecastBroadcast takes what makes a broadcast, and makes none. Only the console has it.
func (s *Server) ForecastBroadcast(r *rest.Request) (rest.Reply, error) {
	in := broadcastBody{allowHTTP: s.plainHTTP(), hasFile: r.Form != nil}
	if err := cmp.Or(r.CheckTable(), r.Decode(&in)); err != nil {
		return rest.Reply{}, err
	}

	return s.withTemplateSync(r, func() (rest.Reply, error) {
		b, recipients, err := s.draftBroadcast(r, &in)
		if err = cmp.Or(err, in.missingMedia); err != nil {
			return rest.Reply{}, err
		}
		f, err := jobs.ForecastBroadcast(r.HTTP.Context(), s.DB, b, recipients)
		if err != nil {
			return rest.Reply{}, err
		}
		left, err := s.messagesLeft(r)
		if err != nil {
			return rest.Reply{}, err
		}

		v := viewForecast(f, left)
		v.Estimate, err = s.estimateBroadcast(r, b, f)
		return rest.OK(v), err
	})
}

// estimateBroadcast is what the messages of a broadcast may cost today.
func (s *Server) estimateBroadcast(r *rest.Request, b storage.Broadcast, f jobs.Forecast) (*rates.Estimate, error) {
	var prices []storage.Rate
	var t storage.Template
	err := s.View(r, func(rx *storage.Rx) (err error) {
		if t, err = rx.Template(b.AccountID, b.TemplateName, b.TemplateLanguage); err != nil {
			return err
		}
		prices, err = rx.Rates()
		return err
	})
	if err != nil {
		return nil, err
	}

	sum := rates.NewTable(prices).NewSum()
	for prefix, people := range f.Prefixes {
		sum.Add(prefix, strings.ToLower(t.Category), r.Now, people)
	}
	return sum.Estimate(), nil
}

// messagesLeft is how many messages the plan still allows this month, nil for any number.
func (s *Server) messagesLeft(r *rest.Request) (*int64, error) {
	quota := int64(r.Plan.MonthlyMessages)
	if quota <= 0 {
		return nil, nil
	}
	used, err := rest.Query(s.Server, r, func(rx *storage.Rx) (int64, error) { return rx.StoredUsage(r.Org.ID, s.DB.Now()) })
	return new(max(0, quota-used)), err
}

func viewForecast(f jobs.Forecast, left *int64) forecastView {
	v := forecastView{
		Object:       "broadcast_forecast",
		Total:        f.Total,
		WillSend:     f.WillSend(),
		Skipped:      []reasonView{},
		Repeated:     f.Repeated,
		Capped:       f.IsPartial,
		First:        f.First,
		PausedReason: storage.OrNil(f.PausedReason),
		MessagesLeft: left,
	}

	for reason, count := range f.Skipped {
		v.Skipped = append(v.Skipped, reasonView{reason, count})
	}
	slices.SortFunc(v.Skipped, func(a, b reasonView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return v
}
