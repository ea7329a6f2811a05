package rules

import (
	"slices"
	"time"
	_ "time/tzdata" // so that zones are known on machines that have none

	"confab/storage"
)

// Days are the names of the days, as time.Weekday counts them.
func Days() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

// dateForm is how holidays are written.
const dateForm = "2006-01-02"

// Minutes are the minutes of a day at which a span begins and ends; ok is false for no span.
func Minutes(s storage.Span) (from, to int, ok bool) {
	if len(s) != 2 {
		return 0, 0, false
	}
	from, known := minuteOf(s[0])
	to, ok = minuteOf(s[1])
	return from, to, known && ok && from < to
}

// minuteOf reads a time of the clock.
func minuteOf(text string) (int, bool) {
	if text == "24:00" {
		return 24 * 60, true
	}
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil && len(text) == len("15:04")
}

// IsDate reports whether a text is a day of the calendar.
func IsDate(text string) bool {
	_, err := time.Parse(dateForm, text)
	return err == nil
}

// spansOn are those of the day of a time, and false where the number is open all day.
func spansOn(h *storage.Hours, local time.Time) ([]storage.Span, bool) {
	date := local.Format(dateForm)
	for _, day := range h.Holidays {
		if *day.Date == date {
			return day.Spans, true
		}
	}
	return h.Weekly[Days()[local.Weekday()]], h.Weekly != nil
}

// Open reports whether a number is open at a time. The clock on the wall decides: what it shows
// twice in a night is open both times, and what it leaves out never.
func Open(h *storage.Hours, at time.Time) bool {
	if h == nil {
		return true
	}

	local := at.In(h.Zone())
	spans, limited := spansOn(h, local)
	minute := local.Hour()*60 + local.Minute()
	return !limited || slices.ContainsFunc(spans, func(s storage.Span) bool {
		from, to, _ := Minutes(s)
		return from <= minute && minute < to
	})
}

// changeDays is how many days ahead a change is looked for.
const changeDays = 400

// NextChange is when a number opens or closes after a time, the zero time if that is never, or far
// away. Between the ends of spans, midnights and the changes of the zone nothing changes.
func NextChange(h *storage.Hours, at time.Time) time.Time {
	if h == nil {
		return time.Time{}
	}

	zone, open := h.Zone(), Open(h, at)
	local := at.In(zone)
	for day := range changeDays {
		for _, next := range turns(h, time.Date(local.Year(), local.Month(), local.Day()+day, 12, 0, 0, 0, zone)) {
			if next.After(at) && Open(h, next) != open {
				return next
			}
		}
	}
	return time.Time{}
}

// turns are the times of a day at which the number may open or close, in order: each time of the
// clock by the offsets that hold before and after a change of the zone, and that change itself.
func turns(h *storage.Hours, noon time.Time) (all []time.Time) {
	minutes := []int{0}
	spans, _ := spansOn(h, noon)
	for _, s := range spans {
		from, to, _ := Minutes(s)
		minutes = append(minutes, from, to)
	}

	midnight := time.Date(noon.Year(), noon.Month(), noon.Day(), 0, 0, 0, 0, time.UTC)
	for _, near := range []time.Time{noon.Add(-24 * time.Hour), noon, noon.Add(24 * time.Hour)} {
		_, offset := near.Zone()
		for _, minute := range minutes {
			all = append(all, midnight.Add(time.Duration(minute)*time.Minute-time.Duration(offset)*time.Second))
		}
		start, end := near.ZoneBounds()
		all = append(all, start, end)
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.DeleteFunc(all, func(t time.Time) bool { return t.In(noon.Location()).YearDay() != noon.YearDay() })
}
