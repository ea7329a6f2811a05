package api

import (
	"time"

	"confab/app/api/rest"
	"confab/storage"
)

// maxReportDays is how many days a report may be about.
const maxReportDays = 366

// reportDays are the days that a report is about, both included.
type reportDays struct {
	first, last time.Time // when they begin
	zone        *time.Location
}

// readReportDays reads the parameters from and to, which are dates in a time zone. Without
// them it is the last 30 days.
func readReportDays(q *rest.Filters, zone *time.Location, now storage.Time) reportDays {
	d := reportDays{zone: zone}
	d.last = readDate(q, "to", zone, now.Std().In(zone))
	d.first = readDate(q, "from", zone, d.last.AddDate(0, 0, -29))

	switch {
	case d.last.Before(d.first):
		q.Refuse("to", "must not be before from")
	case !d.last.Before(d.first.AddDate(0, 0, maxReportDays)):
		q.Refuse("from", "must be at most 366 days before to")
	}
	return d
}

// readDate reads a date, or else that of a time.
func readDate(q *rest.Filters, name string, zone *time.Location, otherwise time.Time) time.Time {
	year, month, day := otherwise.Date()
	date := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if !q.Values.Has(name) {
		return date
	}

	given, err := time.ParseInLocation(time.DateOnly, q.Values.Get(name), zone)
	if err != nil || given.Year() < 1970 {
		q.Refuse(name, "must be a date such as 2026-11-30")
		return date
	}
	return given
}

// begin is when the first day begins, end when the last one is over.
func (d reportDays) begin() storage.Time { return storage.At(d.first) }
func (d reportDays) end() storage.Time   { return storage.At(d.last.AddDate(0, 0, 1)) }

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
