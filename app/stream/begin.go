package stream

import (
	"context"
	"errors"

	"confab/storage"
)

// ErrPosition means that a client wants to begin after something that is no position
// and no event that is kept.
var ErrPosition = errors.New("not a position, and not an event that is kept")

// Oldest is what a client says to get all that is kept.
const Oldest = "oldest"

// Begin is where a stream begins, in the words of the client.
type Begin struct {
	LastEventID string  // the header; it wins if there is one
	After       *string // nil for now
}

// Why there is a gap.
const (
	gapAge      = "age"
	gapRestored = "restored"
)

// start is where a stream begins.
type start struct {
	position
	gap     string // why earlier events are not sent; "" if none is missing
	removed int64  // up to where the client knows that events were removed
	last    int64  // the newest event there is
}

func (h *Hub) start(ctx context.Context, o Options) (from start, err error) {
	err = h.db.View(ctx, func(rx *storage.Rx) error {
		ends, err := rx.EventEnds(o.Organization)
		if err != nil {
			return err
		}
		from, err = h.find(rx, o, ends)
		if err != nil {
			return err
		}

		from.last = ends.Last
		if from.gap != "" {
			from.removed = ends.Removed // this gap covers them
		}
		if !o.Replays {
			from.replay = noReplays
		} else if from.replay == noReplays {
			from.replay, err = rx.LastReplay()
		}
		return err
	})
	return from, err
}

// find finds the event after which a stream begins, and leaves the rest to start.
func (h *Hub) find(rx *storage.Rx, o Options, ends storage.EventEnds) (start, error) {
	switch id, after := o.Begin.LastEventID, o.Begin.After; {
	case id != "":
		from, err := h.findNamed(rx, o, id, ends)
		if errors.Is(err, ErrPosition) {
			// A browser that is refused does not reconnect. It gets all there is.
			return start{gap: gapRestored}, nil
		}
		return from, err
	case after == nil:
		return start{position: position{seq: ends.Last, replay: noReplays}}, nil
	case *after == Oldest:
		return start{removed: ends.Removed}, nil
	default:
		return h.findNamed(rx, o, *after, ends)
	}
}

// findNamed finds what a position or the id of an event names. An event of a number that is
// not the caller's is none.
func (h *Hub) findNamed(rx *storage.Rx, o Options, name string, ends storage.EventEnds) (start, error) {
	if storage.ValidID(storage.PrefixEvent, name) {
		seq, err := rx.EventSeq(o.Organization, o.Filter.Of, name)
		if errors.Is(err, storage.ErrNotFound) {
			return start{}, ErrPosition
		}
		return start{position: position{seq: seq, replay: noReplays}}, err
	}

	at, ours, ok := h.positions.parse(name)
	switch {
	case !ok:
		return start{}, ErrPosition
	case !ours || at.seq > ends.Last: // a number that was never given out is of another file
		return start{gap: gapRestored}, nil
	}
	return start{position: at}, nil
}
