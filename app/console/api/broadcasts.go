package api

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/limit"
	"confab/storage"
)

// A forecast looks at up to a hundred thousand recipients and remembers them: an organization
// makes one at a time.
const (
	maxForecasts     = 4
	forecastPatience = 10 * time.Second
)

// forecastBroadcast handles POST /console/api/:phone_number_id/broadcasts/forecast.
func (s *Server) forecastBroadcast(r *rest.Request) (rest.Reply, error) {
	permit, err := s.forecasts.Acquire(r.HTTP.Context(), r.Holder(), 1, nil)
	if errors.Is(err, limit.ErrExhausted) {
		err = rest.Fail(rest.ServiceUnavailable, "Other broadcasts are being forecast. Please retry.").RetryIn(time.Second)
	}
	if err != nil {
		return rest.Reply{}, err
	}
	defer permit.Release()

	return s.api.ForecastBroadcast(r)
}

// resultsView is what a broadcast led to, beside the counts that it has itself.
type resultsView struct {
	Object  string       `json:"object"`
	Replied int64        `json:"replied"` // people
	Taps    []tapView    `json:"taps"`
	Failed  []reasonView `json:"failed"`
	Skipped []reasonView `json:"skipped"`
	Cost    api.CostView `json:"cost"`
}

// reasonView is how many recipients got nothing for a reason.
type reasonView struct {
	Reason  string `json:"reason"` // of a skip, or the code of an error
	Code    int    `json:"code"`   // the provider's; 0 for none
	Meaning string `json:"meaning"`
	Count   int64  `json:"count"`
}

func viewReasons(r *rest.Request, all []storage.ReasonCount) []reasonView {
	views := make([]reasonView, len(all))
	for i, one := range all {
		views[i] = reasonView{Reason: one.Reason, Code: one.Code, Meaning: meaningOf(r, one.Reason), Count: one.Count}
	}
	return views
}

// tapView is how often a button was tapped.
type tapView struct {
	Button string `json:"button"`
	Count  int64  `json:"count"`
}

// getBroadcastResults handles GET /console/api/:phone_number_id/broadcasts/:id/results.
func (s *Server) getBroadcastResults(r *rest.Request) (rest.Reply, error) {
	var reasons storage.BroadcastReasons
	var replies storage.BroadcastReplies
	var cost api.CostView
	err := s.List(r, func(rx *storage.Rx) error {
		b, err := api.BroadcastIn(rx, r)
		if err != nil {
			return err
		}
		if reasons, err = rx.BroadcastReasons(b); err != nil {
			return err
		}
		if replies, err = rx.BroadcastReplies(b); err != nil {
			return err
		}
		cost, err = api.CostOfBroadcast(rx, b)
		return err
	})
	if err != nil {
		return rest.Reply{}, err
	}

	view := resultsView{
		Object:  "broadcast_results",
		Replied: replies.People,
		Taps:    []tapView{},
		Failed:  viewReasons(r, reasons.Failed),
		Skipped: viewReasons(r, reasons.Skipped),
		Cost:    cost,
	}
	for _, text := range slices.Sorted(maps.Keys(replies.Taps)) {
		view.Taps = append(view.Taps, tapView{text, replies.Taps[text]})
	}
	slices.SortStableFunc(view.Taps, func(a, b tapView) int { return cmp.Compare(b.Count, a.Count) })
	return rest.OK(view), nil
}
