package simulator

import (
	"cmp"
	"slices"
	"time"
)

// event is something that is due later: a status of a message, the verdict on
// a template or the end of one of its pauses, or another attempt to post callbacks.
type event struct {
	Due int64 `json:"due"`

	Message string `json:"message,omitempty"`
	Status  string `json:"status,omitempty"`
	Code    int    `json:"code,omitempty"`

	Template string `json:"template,omitempty"`
	Pause    int    `json:"pause,omitempty"` // the one that ends, counted from 1

	retry []*change
}

// timeline holds all events to come, ordered by due time. One goroutine,
// runTimeline, runs them with one timer, however many messages are
// under way. scheduleEvent adds an event under Server.mu and wakes the
// goroutine if it became the next one; an event runs once, under the lock, and
// finds its message or template by id, so that one deleted meanwhile is
// skipped.
//
// Events of messages and templates are saved as such. Those with retry are not:
// their changes are saved with the time of the next attempt, and restoreChange
// makes the events again. Events that fell due while the simulator was down run at
// the start.
type timeline struct {
	events []*event
	// held is until when events run while the clock is being moved; 0 is now. So they
	// run in order with the jobs of the app that became due with them.
	held int64
}

func (t *timeline) take() *event {
	e := t.events[0]
	t.events[0] = nil
	t.events = t.events[1:]
	return e
}

// scheduleEvent adds an event after those of the same time, and wakes runTimeline when it is
// the next one.
func (s *Server) scheduleEvent(e *event) {
	at, _ := slices.BinarySearchFunc(s.timeline.events, e.Due+1, func(other *event, due int64) int {
		return cmp.Compare(other.Due, due)
	})
	s.timeline.events = slices.Insert(s.timeline.events, at, e)
	if at == 0 {
		signal(s.wake)
	}
}

func (s *Server) runTimeline() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	for {
		timer.Reset(s.runDueEvents())
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// eventsAtOnce limits how long the lock is held while events run.
const eventsAtOnce = 64

// runDueEvents runs events that are due and returns the time to the next.
func (s *Server) runDueEvents() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()

	for range eventsAtOnce {
		t := &s.timeline
		switch {
		case len(t.events) == 0, t.held != 0 && t.events[0].Due > t.held:
			return time.Hour // or until it is woken
		case t.held == 0 && t.events[0].Due > s.nowMS():
			return time.UnixMilli(t.events[0].Due).Sub(s.now())
		}
		s.runEvent(t.take())
	}
	return 0 // there may be more
}

func (s *Server) runEvent(e *event) {
	s.markDirty()

	// A record deleted after the event was scheduled is skipped.
	switch {
	case e.retry != nil:
		for _, c := range e.retry {
			s.enqueue(c)
		}
	case e.Pause != 0:
		if t := s.world.Templates[e.Template]; t != nil && t.Status == statusPaused && t.Pauses == e.Pause {
			s.review(t, statusApproved, "")
		}
	case e.Template != "":
		if t := s.world.Templates[e.Template]; t != nil && t.Status == statusPending {
			s.review(t, s.world.Settings.TemplateVerdict, "")
		}
	default:
		if m := s.messages.byID[e.Message]; m != nil && s.personReports(m, e.Status) {
			s.reportStatus(m, e.Status, e.Code)
		}
	}
}

// personReports reports whether a status comes about with this person: a message of a
// business that the person has blocked is not delivered, and some send no receipts.
func (s *Server) personReports(m *message, status string) bool {
	user := s.world.People.find(m.party())
	switch {
	case user == nil, status == "sent", status == "failed":
		return true
	case status == "delivered":
		return !user.Blocked
	}
	return !user.Blocked && !user.NoReceipts
}

// scheduleStatuses plans the statuses of an accepted message.
func (s *Server) scheduleStatuses(m *message, failure *int) {
	set := &s.world.Settings
	step := func(status string, code int, after *int64) {
		if after != nil {
			s.scheduleEvent(&event{Due: m.At + *after, Message: m.ID, Status: status, Code: code})
		}
	}

	if failure != nil {
		step("failed", *failure, cmp.Or(set.SentMS, new(int64(defaultSentMS))))
		return
	}

	step("sent", 0, set.SentMS)
	if m.Type == "reaction" {
		return // the provider reports no delivery of a reaction
	}
	step("delivered", 0, set.DeliveredMS)

	// Only a delivered message can be read by itself.
	read := set.ReadMS
	if read == nil && set.AutoRead && set.DeliveredMS != nil {
		read = new(*set.DeliveredMS + autoReadMS)
	}
	step("read", 0, read)

	if m.Voice && read != nil {
		step("played", 0, new(*read+playedMS))
	}
}

// keepEvents removes the events for which a function returns false.
func (s *Server) keepEvents(keep func(*event) bool) {
	s.timeline.events = slices.DeleteFunc(s.timeline.events, func(e *event) bool { return !keep(e) })
}
