package simulator

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// viewClock is what the clock says, and how far it was moved.
func (s *Server) viewClock() object {
	v := object{"now": rfc3339(s.nowMS()), "offset_ms": 0}
	if s.opt.Clock != nil {
		v["offset_ms"] = s.opt.Clock.Offset().Milliseconds()
	}
	return v
}

// controlMoveClock handles POST /_sim/clock: it moves the clock of the whole sandbox ahead, and
// answers when what became due has started.
func (s *Server) controlMoveClock(c *controlCall) (any, error) {
	clock := s.opt.Clock
	if clock == nil {
		return nil, refused(http.StatusConflict, "Only the clock of 'confab sandbox' can be moved.")
	}
	by, err := c.advance()
	if err != nil {
		return nil, err
	}

	s.moving.Lock()
	defer s.moving.Unlock()
	if by > clock.Max-clock.Offset() { // the sum may be too large for a number
		return nil, invalid("advance", "moves the clock by more than "+strconv.Itoa(int(clock.Max/day))+" days in all")
	}

	s.holdEvents(s.nowMS())
	started, err := clock.Move(c.r.Context(), by, s.runEventsUntil)
	s.holdEvents(0)
	if err != nil {
		return nil, refused(http.StatusConflict, "The clock was not moved: "+err.Error()+".")
	}

	view := s.viewClock()
	view["started"] = started
	return view, nil
}

const day = 24 * time.Hour

func (c *controlCall) advance() (time.Duration, error) {
	text, isText := c.in["advance"].(string)
	by, err := parseSpan(text)
	switch {
	case !c.in.has("advance"):
		return 0, missing("advance")
	case !isText || err != nil:
		return 0, invalid("advance", "must be a duration such as 25h, 90m or 30d")
	case by < 0:
		return 0, invalid("advance", "must not be negative: the clock never goes back")
	}
	return by.Truncate(time.Millisecond), nil
}

// parseSpan reads a duration as Go writes it, or days.
func parseSpan(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if !isDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.Atoi(days)
	if n > 1e5 || n < -1e5 {
		err = strconv.ErrRange
	}
	return time.Duration(n) * day, err
}

// holdEvents makes the events wait that are due later than a time; 0 lets them all run again.
func (s *Server) holdEvents(until int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timeline.held = until
	signal(s.wake)
}

// runEventsUntil runs the events that were due by a time, while later ones wait.
func (s *Server) runEventsUntil(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.timeline.events) > 0 && s.timeline.events[0].Due <= min(t.UnixMilli(), s.nowMS()) {
		s.runEvent(s.timeline.take())
	}
}
