package api

import (
	"time"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/storage"
)

// What the console shows of the last day and the last month, which is counted by the hour:
// see storage/hour_counts.go.

// hoursShown is how many hours are counted one by one: the current one and those of a day
// before it.
const hoursShown = 24

// hoursSince is the start of the first of these hours.
func hoursSince(now storage.Time) storage.Time {
	return storage.At(now.Std().Truncate(time.Hour).Add(-(hoursShown - 1) * time.Hour))
}

// deliveryHourView are the deliveries of an hour.
type deliveryHourView struct {
	From      storage.Time `json:"from"`
	Total     int          `json:"total"`
	Succeeded int          `json:"succeeded"`
	Failed    int          `json:"failed"`
	Dead      int          `json:"dead"`
}

// subscriptionDayView is a subscription's last day.
type subscriptionDayView struct {
	api.StatsView
	Hours []deliveryHourView `json:"hours"`
}

// getSubscriptionDay handles GET /console/api/webhook_subscriptions/:id/day.
func (s *Server) getSubscriptionDay(r *rest.Request) (rest.Reply, error) {
	id, since, from := r.Param("id"), api.StatsSince(r.Now), hoursSince(r.Now)
	var stats storage.DeliveryStats
	var hours []storage.DeliveryStats
	err := s.List(r, func(rx *storage.Rx) (err error) {
		if stats, err = rx.DeliveryStats(id, since); err != nil {
			return err
		}
		hours, err = rx.DeliveryHours(id, from, hoursShown)
		return err
	})

	view := subscriptionDayView{StatsView: api.ViewStats(since, stats)}
	view.Object = "webhook_subscription_day"
	for i, h := range hours {
		view.Hours = append(view.Hours, deliveryHourView{
			From:      from.Add(time.Duration(i) * time.Hour),
			Total:     h.Total(),
			Succeeded: h.Succeeded,
			Failed:    h.Failed,
			Dead:      h.Dead,
		})
	}
	return rest.OK(view), err
}

// messageCountsView are the messages of a span of time.
type messageCountsView struct {
	From storage.Time `json:"from"`
	storage.MessageCounts
}

// viewMessageCounts shows counts of spans that follow each other.
func viewMessageCounts(from storage.Time, each time.Duration, all []storage.MessageCounts) []messageCountsView {
	views := make([]messageCountsView, len(all))
	for i, c := range all {
		views[i] = messageCountsView{from.Add(time.Duration(i) * each), c}
	}
	return views
}

// failureView is how many messages failed for a reason, and what that means.
type failureView struct {
	storage.FailureCount
	Meaning string `json:"meaning"`
}

func viewFailures(r *rest.Request, all []storage.FailureCount) []failureView {
	views := make([]failureView, len(all))
	for i, f := range all {
		views[i] = failureView{f, meaningOf(r, f.Code)}
	}
	return views
}

type qualityView struct {
	Object   string              `json:"object"`
	Hours    []messageCountsView `json:"hours"`
	Failures []failureView       `json:"failures"`
}

// getNumberQuality handles GET /console/api/:phone_number_id/quality.
func (s *Server) getNumberQuality(r *rest.Request) (rest.Reply, error) {
	from := hoursSince(r.Now)
	var hours []storage.MessageCounts
	var failures []storage.FailureCount
	err := s.List(r, func(rx *storage.Rx) (err error) {
		if hours, err = rx.MessageHours(r.Account.ID, from, hoursShown); err != nil {
			return err
		}
		failures, err = rx.Failures(r.Account.ID, from)
		return err
	})
	return rest.OK(qualityView{"number_quality", viewMessageCounts(from, time.Hour, hours), viewFailures(r, failures)}), err
}

type usageView struct {
	Messages int64 `json:"messages"`
	Limit    *int  `json:"limit"` // null for none
}

// organizationHealthView is how the messages of an organization went.
type organizationHealthView struct {
	Object   string              `json:"object"`
	Plan     string              `json:"plan"`
	Usage    usageView           `json:"usage"`
	LastDay  messageCountsView   `json:"last_day"` // the current hour, and those of a day before it
	Days     []messageCountsView `json:"days"`
	Failures []failureView       `json:"failures"` // of the last day
	Replica  any                 `json:"replica"`  // null without one
}

// daysShown is how many days are counted, the current one among them.
const daysShown = 30

// getOrganizationHealth handles GET /console/api/health.
func (s *Server) getOrganizationHealth(r *rest.Request) (rest.Reply, error) {
	const day = 24 * time.Hour
	from := storage.At(r.Now.Std().Truncate(day).Add(-(daysShown - 1) * day))
	view := organizationHealthView{Object: "organization_health", Plan: r.Org.Plan}
	if s.Replica != nil {
		view.Replica = s.Replica()
	}
	if most := r.Plan.MonthlyMessages; most != 0 {
		view.Usage.Limit = &most
	}
	err := s.List(r, func(rx *storage.Rx) error {
		days, err := rx.MessageDays(r.Org.ID, from, daysShown)
		if err != nil {
			return err
		}
		view.Days = viewMessageCounts(from, day, days)

		last, err := rx.MessageDays(r.Org.ID, hoursSince(r.Now), 1)
		if err != nil {
			return err
		}
		view.LastDay = viewMessageCounts(hoursSince(r.Now), day, last)[0]

		if view.Usage.Messages, err = rx.StoredUsage(r.Org.ID, s.DB.Now()); err != nil {
			return err
		}
		failures, err := rx.OrganizationFailures(r.Org.ID, hoursSince(r.Now))
		view.Failures = viewFailures(r, failures)
		return err
	})
	return rest.OK(view), err
}
