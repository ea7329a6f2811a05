package api

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"confab/app/api/rest"
	"confab/jobs/rules"
	"confab/storage"
)

const (
	maxSpans       = 5
	maxHolidays    = 100
	maxHolidayName = 100
)

// HoursView is the public shape of a number's hours, on the command line too.
type HoursView struct {
	Object       string                    `json:"object"`
	Timezone     string                    `json:"timezone"`
	Weekly       map[string][]storage.Span `json:"weekly"` // null: always open
	Holidays     []storage.Holiday         `json:"holidays"`
	OpenNow      bool                      `json:"open_now"`
	NextChangeAt storage.Time              `json:"next_change_at"`
}

// ViewHours shows the hours of a number at a time.
func ViewHours(h *storage.Hours, now storage.Time) HoursView {
	v := HoursView{Object: "hours", Timezone: h.Zone().String(), Holidays: []storage.Holiday{}, OpenNow: rules.Open(h, now.Std())}
	if h != nil {
		v.Weekly, v.Holidays = h.Weekly, rest.OrEmpty(h.Holidays)
	}
	if next := rules.NextChange(h, now.Std()); !next.IsZero() {
		v.NextChangeAt = storage.Time(next.UnixMilli())
	}
	return v
}

// rulesIn finds what happens by itself at the number in the path.
func rulesIn(rx *storage.Rx, r *rest.Request) (storage.NumberRules, error) {
	return rx.NumberRules(r.Account.ID)
}

// viewHours is the reply to GET /v1/:phone_number_id/hours.
func (s *Server) viewHours(n storage.NumberRules) HoursView { return ViewHours(n.Hours, s.DB.Now()) }

// HoursBody is the body of PUT /v1/:phone_number_id/hours. The command line sets them by the
// same rules.
type HoursBody struct{ storage.Hours }

func (b *HoursBody) Validate() error {
	if b.Timezone == nil {
		return rest.Missing("timezone")
	}
	if _, err := time.LoadLocation(*b.Timezone); err != nil || *b.Timezone == "" || *b.Timezone == "Local" {
		return rest.Invalid("timezone", "must be an IANA time zone, such as Europe/Madrid")
	}

	// In an order, so that the same body is always refused for the same reason.
	for _, day := range slices.Sorted(maps.Keys(b.Weekly)) {
		if !slices.Contains(rules.Days(), day) {
			return rest.Invalid("weekly", "has days called mon, tue, wed, thu, fri, sat and sun")
		}
		if err := checkSpans(day, b.Weekly[day]); err != nil {
			return rest.Within("weekly", err)
		}
	}
	maps.DeleteFunc(b.Weekly, func(_ string, spans []storage.Span) bool { return spans == nil }) // null is as absent

	if err := rest.AtMost("holidays", b.Holidays, maxHolidays); err != nil {
		return err
	}

	seen := make(map[string]bool)
	for i, day := range b.Holidays {
		if err := checkHoliday(day, seen); err != nil {
			return rest.Within(rest.ItemPath("holidays", i), err)
		}
	}
	return nil
}

func checkHoliday(day storage.Holiday, seen map[string]bool) error {
	switch {
	case day.Date == nil:
		return rest.Missing("date")
	case !rules.IsDate(*day.Date):
		return rest.Invalid("date", "must be a date such as 2026-12-25")
	}
	return cmp.Or(
		rest.Unique("date", *day.Date, seen),
		rest.Optional("name", day.Name, maxHolidayName),
		checkSpans("spans", day.Spans),
	)
}

// checkSpans checks the spans of a day, which must not overlap.
func checkSpans(name string, spans []storage.Span) error {
	if err := rest.AtMost(name, spans, maxSpans); err != nil {
		return err
	}
	for i, s := range spans {
		from, to, ok := rules.Minutes(s)
		if !ok {
			return rest.Invalid(rest.ItemPath(name, i), `must be two times, the first before the second, such as ["09:00", "12:30"]`)
		}
		for _, other := range spans[:i] {
			if start, end, _ := rules.Minutes(other); from < end && start < to {
				return rest.Invalid(rest.ItemPath(name, i), "must not overlap with another span of that day")
			}
		}
	}
	return nil
}

// putHours handles PUT /v1/:phone_number_id/hours.
func (s *Server) putHours(r *rest.Request, in HoursBody) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		if err := tx.SetHours(r.Account.ID, in.Hours); err != nil {
			return rest.Reply{}, err
		}
		n, err := rulesIn(&tx.Rx, r)
		return rest.OK(ViewHours(n.Hours, tx.Now)), err
	})
}

type optOutView struct {
	Object string `json:"object"`
	storage.OptOut
}

// viewOptOut is the reply to GET /v1/:phone_number_id/opt_out.
func viewOptOut(n storage.NumberRules) optOutView {
	if n.OptOut == nil {
		return optOutView{"opt_out", rules.DefaultOptOut()}
	}
	return optOutView{"opt_out", *n.OptOut}
}

// optOutBody is the body of PUT /v1/:phone_number_id/opt_out. Lists that are absent are the
// defaults.
type optOutBody struct{ storage.OptOut }

func (b *optOutBody) Validate() error {
	if b.Enabled == nil {
		return rest.Missing("enabled")
	}
	usual := rules.DefaultOptOut()
	if b.Stop == nil {
		b.Stop = usual.Stop
	}
	if b.Start == nil {
		b.Start = usual.Start
	}
	err := cmp.Or(
		checkWords("stop", b.Stop), checkWords("start", b.Start),
		rest.Optional("stop_reply", b.StopReply, maxQuickReply), rest.Optional("start_reply", b.StartReply, maxQuickReply),
	)
	if err != nil {
		return err
	}

	on := b.OptOut
	on.Enabled = new(true)
	for i, word := range b.Start {
		if rules.Meaning(&on, word) == rules.Stop {
			return rest.Invalid(rest.ItemPath("start", i), "must not be a stop word too")
		}
	}
	return nil
}

// putOptOut handles PUT /v1/:phone_number_id/opt_out.
func (s *Server) putOptOut(r *rest.Request, in optOutBody) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.OK(optOutView{"opt_out", in.OptOut}), tx.SetOptOut(r.Account.ID, in.OptOut)
	})
}
