package api

import (
	"cmp"
	"encoding/json"
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
	Object       string                  `json:"object"`
	Timezone     string                  `json:"timezone"`
	Weekly       map[string][]rules.Span `json:"weekly"` // null: always open
	Holidays     []rules.Holiday         `json:"holidays"`
	OpenNow      bool                    `json:"open_now"`
	NextChangeAt storage.Time            `json:"next_change_at"`
}

// ViewHours shows the hours of a number at a time.
func ViewHours(h *rules.Hours, now storage.Time) HoursView {
	v := HoursView{Object: "hours", Timezone: h.Location().String(), Holidays: []rules.Holiday{}, OpenNow: h.Open(now.Std())}
	if h != nil {
		v.Weekly, v.Holidays = h.Weekly, rest.OrEmpty(h.Holidays)
	}
	if next := h.NextChange(now.Std()); !next.IsZero() {
		v.NextChangeAt = storage.Time(next.UnixMilli())
	}
	return v
}

// rulesIn finds what happens by itself at the number in the path.
func rulesIn(rx *storage.Rx, r *rest.Request) (storage.NumberRules, error) {
	return rx.NumberRules(r.Account.ID)
}

// getHours handles GET /v1/:phone_number_id/hours.
func (s *Server) getHours(r *rest.Request) (rest.Reply, error) {
	n, err := rest.Find(s.Server, r, rulesIn)
	if err != nil {
		return rest.Reply{}, err
	}
	h, err := rules.ParseHours(n.Hours)
	return rest.OK(ViewHours(h, s.DB.Now())), err
}

// HoursBody is the body of PUT /v1/:phone_number_id/hours. The command line sets them by the
// same rules.
type HoursBody struct{ rules.Hours }

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

func checkHoliday(day rules.Holiday, seen map[string]bool) error {
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
func checkSpans(name string, spans []rules.Span) error {
	if err := rest.AtMost(name, spans, maxSpans); err != nil {
		return err
	}
	for i, s := range spans {
		from, to, ok := s.Minutes()
		if !ok {
			return rest.Invalid(rest.ItemPath(name, i), `must be two times, the first before the second, such as ["09:00", "12:30"]`)
		}
		for _, other := range spans[:i] {
			if start, end, _ := other.Minutes(); from < end && start < to {
				return rest.Invalid(rest.ItemPath(name, i), "must not overlap with another span of that day")
			}
		}
	}
	return nil
}

// putHours handles PUT /v1/:phone_number_id/hours.
func (s *Server) putHours(r *rest.Request, in HoursBody) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.OK(ViewHours(&in.Hours, tx.Now)), in.Store(tx, r.Account.ID)
	})
}

// Store stores the hours of a number.
func (b *HoursBody) Store(tx *storage.Tx, account int64) error {
	text, err := json.Marshal(b.Hours)
	if err != nil {
		return err
	}
	return tx.SetHours(account, text)
}

// optOutView is the public shape of a number's opt-out words.
type optOutView struct {
	Object string `json:"object"`
	rules.OptOut
}

// getOptOut handles GET /v1/:phone_number_id/opt_out.
func (s *Server) getOptOut(r *rest.Request) (rest.Reply, error) {
	n, err := rest.Find(s.Server, r, rulesIn)
	if err != nil {
		return rest.Reply{}, err
	}
	words, err := rules.ParseOptOut(n.OptOut)
	return rest.OK(optOutView{"opt_out", words}), err
}

// optOutBody is the body of PUT /v1/:phone_number_id/opt_out. Lists that are absent are the
// defaults.
type optOutBody struct{ rules.OptOut }

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
		if on.Meaning(word) == rules.Stop {
			return rest.Invalid(rest.ItemPath("start", i), "must not be a stop word too")
		}
	}
	return nil
}

// putOptOut handles PUT /v1/:phone_number_id/opt_out.
func (s *Server) putOptOut(r *rest.Request, in optOutBody) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		text, err := json.Marshal(in.OptOut)
		if err != nil {
			return rest.Reply{}, err
		}
		return rest.OK(optOutView{"opt_out", in.OptOut}), tx.SetOptOut(r.Account.ID, text)
	})
}
