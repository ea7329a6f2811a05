package stream

import (
	"context"
	"errors"

	"confab/storage"
)

const (
	// windowRows is how many events a stream looks at in one read, and windowBytes how
	// much of them it reads.
	windowRows  = 512
	windowBytes = 256 << 10
)

// window is what a stream reads at once.
type window struct {
	gap     *Gap
	gapAt   int64 // nothing that is kept lies between the position and this number
	events  []storage.EventItem
	replays []storage.EventItem
	end     position
	hasMore bool
	last    int64 // the newest event there was
	removed int64 // up to where events were removed because of their age

	text []byte   // what is sent of it, by several streams perhaps
	sent position // the last in the text
}

// readWindow reads what follows the position of the stream, in one snapshot, and renders it. It
// alternates with the lists of other organizations. It looks no further than the limit, and
// changes nothing of the stream.
func (s *Stream) readWindow(ctx context.Context, limit int64) (w window, err error) {
	err = s.hub.db.List(ctx, s.Organization, func(rx *storage.Rx) error {
		ends, err := rx.EventEnds(s.Organization)
		if err != nil {
			return err
		}
		if w, err = s.readGap(rx, ends); err != nil {
			return err
		}

		last := min(ends.Last, limit)
		if s.Once {
			last = s.start.last
		}

		w.last = ends.Last
		rx = rx.Within(storage.NewBudget(windowBytes))
		w.end = s.at
		w.events, w.end.seq, err = rx.EventWindow(s.Organization, s.Filter, s.at.seq, last, windowRows)
		w.hasMore = w.end.seq < last
		if err != nil || !s.Replays {
			return err
		}

		rx = rx.Within(storage.NewBudget(windowBytes))
		w.replays, w.end.replay, err = rx.ReplayWindow(s.Organization, s.Filter, s.at.replay, windowRows)
		w.hasMore = w.hasMore || w.end.replay > s.at.replay
		return err
	})
	if err == nil {
		s.render(&w)
	}
	return w, err
}

func (s *Stream) render(w *window) {
	w.sent = s.at
	if w.gap != nil {
		w.sent.seq = w.gapAt
		w.text = s.Format.AppendGap(w.text, *w.gap, s.mark(w.sent))
	}
	for _, e := range w.events {
		w.sent.seq = e.Seq
		w.text = s.Format.AppendEvent(w.text, e, s.mark(w.sent))
	}
	for _, e := range w.replays {
		w.sent = position{seq: w.end.seq, replay: e.Seq}
		w.text = s.Format.AppendEvent(w.text, e, s.mark(w.sent))
	}
}

// readGap finds out whether something after the position is missing that the client
// does not know of yet.
func (s *Stream) readGap(rx *storage.Rx, ends storage.EventEnds) (w window, err error) {
	w.gapAt, w.removed = s.at.seq, s.removed
	reason := s.start.gap
	if reason == "" && ends.Removed > max(s.at.seq, s.removed) {
		reason = gapAge
	}
	if reason == "" {
		return w, nil
	}

	oldest, at, err := s.oldestEvent(rx)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		w.gapAt = ends.Last
	case err != nil:
		return w, err
	default:
		w.gapAt = oldest - 1
	}
	w.gap, w.removed = &Gap{Reason: reason, Oldest: at}, max(s.removed, ends.Removed)
	return w, nil
}

// oldestEvent is the oldest event after the position of the stream, of the caller's numbers.
func (s *Stream) oldestEvent(rx *storage.Rx) (seq int64, at storage.Time, err error) {
	if s.Filter.Of.Bound() {
		return rx.OldestEventOf(s.Filter.Of, s.at.seq)
	}
	return rx.OldestEvent(s.Organization, s.at.seq)
}
