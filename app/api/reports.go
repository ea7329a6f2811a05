package api

import (
	"time"
	_ "time/tzdata" // for servers that have no time zones of their own

	"confab/app/api/rest"
	"confab/storage"
)

// maxReportDays is how many days a report may be about.
const maxReportDays = 366

// reportDays are the days that a report is about, both included.
type reportDays struct {
	first, last time.Time // dates: midnight in UTC
	zone        *time.Location
}

// readReportDays reads the parameters from and to, which are dates in a time zone. Without
// them it is the last 30 days.
func readReportDays(q *rest.Filters, zone *time.Location, now storage.Time) reportDays {
	d := reportDays{zone: zone}
	d.last = readDate(q, "to", now.Std().In(zone))
	d.first = readDate(q, "from", d.last.AddDate(0, 0, -29))

	switch {
	case d.last.Before(d.first):
		q.Refuse("to", "must not be before from")
	case !d.last.Before(d.first.AddDate(0, 0, maxReportDays)):
		q.Refuse("from", "must be at most 366 days before to")
	}
	return d
}

// readDate reads a date, or else that of a time.
func readDate(q *rest.Filters, name string, otherwise time.Time) time.Time {
	year, month, day := otherwise.Date()
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if !q.Values.Has(name) {
		return date
	}

	given, err := time.Parse(time.DateOnly, q.Values.Get(name))
	if err != nil || given.Year() < 1970 {
		q.Refuse(name, "must be a date such as 2026-11-30")
		return date
	}
	return given
}

// begin is when the first day begins, end when the last one is over.
func (d reportDays) begin() storage.Time { return storage.At(startOfDay(d.first, d.zone)) }
func (d reportDays) end() storage.Time {
	return storage.At(startOfDay(d.last.AddDate(0, 0, 1), d.zone))
}

// startOfDay is when the day of a date begins in a time zone. Where clocks are changed at midnight, 0:00
// may come twice on that day, or not at all.
func startOfDay(date time.Time, zone *time.Location) time.Time {
	year, month, day := date.Date()
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if earlier := t.Add(-time.Hour); earlier.Day() == day {
		return earlier
	}
	if t.Day() != day {
		return t.Add(time.Hour)
	}
	return t
}

// reportView is what all reports have in common.
type reportView struct {
	Object   string `json:"object"`
	From     string `json:"from"`
	To       string `json:"to"`
	Timezone string `json:"timezone"`
	GroupBy  string `json:"group_by"`
}

func (d reportDays) view(groupBy string) reportView {
	return reportView{
		Object:   "report",
		From:     d.first.Format(time.DateOnly),
		To:       d.last.Format(time.DateOnly),
		Timezone: d.zone.String(),
		GroupBy:  groupBy,
	}
}
