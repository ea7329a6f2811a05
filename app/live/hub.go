package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"confab/app/stream"
	"confab/storage"
)

// readInterval is the least time between two reads of events. What a console shows comes by
// hints: events may come together.
const readInterval = 100 * time.Millisecond

// maxPersonStreams is how many streams a person may have open: far more than browsers open,
// whose tabs share one, and so few that one person does not have all of them.
const maxPersonStreams = 200

// Options configure a Hub.
type Options struct {
	DB         *storage.DB
	Streams    *stream.Hub
	MaxStreams int // of consoles that are open at once
	Version    string
	Log        *slog.Logger
}

// Hub holds the open consoles, and who looks at what.
type Hub struct {
	Options
	class *stream.Class

	mu      sync.Mutex
	viewers map[int64]map[*viewer]struct{} // by organization
	looks   map[int64]looks                // likewise
}

// New makes a hub. Consoles can be opened at once, and are notified while Run runs.
func New(o Options) *Hub {
	return &Hub{
		Options: o,
		class:   o.Streams.NewClass(stream.ClassOptions{Name: "console", Max: o.MaxStreams, PerPerson: maxPersonStreams}),
		viewers: make(map[int64]map[*viewer]struct{}),
		looks:   make(map[int64]looks),
	}
}

// Run notifies consoles of changes, until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	hints, waiting := h.DB.Hints(), make(paces)
	for isHeld := false; ; {
		if !isHeld {
			select {
			case <-ctx.Done():
				return nil
			case <-hints.C:
			}
		}
		h.takeHints(ctx, hints, waiting)
		isHeld = h.notifyDue(waiting, time.Now())

		select {
		case <-ctx.Done():
			return nil
		case <-time.After(hintInterval):
		}
	}
}

// takeHints finds out in which organizations something was changed.
func (h *Hub) takeHints(ctx context.Context, from *storage.Hints, waiting paces) {
	hints, all := from.Take()
	if all {
		h.notifyAll(storage.HintKinds()...)
		return
	}
	if len(hints) == 0 {
		return
	}

	err := h.DB.View(ctx, func(rx *storage.Rx) error {
		for _, hint := range hints {
			organization, err := rx.OrganizationOf(hint.Of)
			if err == nil {
				waiting.add(organization, hint.Kind, hint.IDs)
			}
			if err := storage.IgnoreNotFound(err); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		// It is unknown who is concerned: everyone looks again.
		h.Log.Warn("could not read what changed: all consoles reload", "error", err)
		h.notifyAll(storage.HintKinds()...)
	}
}

// notifyAll notifies all viewers that anything of some kinds may have changed.
func (h *Hub) notifyAll(kinds ...string) {
	n := newBatch()
	for _, kind := range kinds {
		n.changed.add(kind, nil)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	for _, viewers := range h.viewers {
		for v := range viewers {
			v.hint(n)
		}
	}
}

func (h *Hub) notify(organization int64, n *batch) {
	h.mu.Lock()
	defer h.mu.Unlock()

	for v := range h.viewers[organization] {
		v.hint(n)
	}
}

// shownWith are the kinds that change when another does, without a hint of their own: a
// job is made, run and removed by the transactions of what it does, and a label is shown
// with what has it.
var shownWith = map[string][]string{
	storage.HintConversation: {storage.HintJob},
	storage.HintContact:      {storage.HintJob},
	storage.HintDelivery:     {storage.HintJob},
	storage.HintTemplate:     {storage.HintJob},
	storage.HintAccount:      {storage.HintJob},
	storage.HintBroadcast:    {storage.HintJob},
	storage.HintLabel:        {storage.HintConversation, storage.HintContact},
}

// Visit says who opens a console, and how.
type Visit struct {
	Organization int64
	User         string
	Role         string
	LastEventID  string
	EventTypes   []string // that the person may read; nil for all
	// Ended returns why the stream may not go on; "" if it may. It is asked once a second.
	Ended func(context.Context) string
}

// Open opens the stream of a console. The errors are those of stream.Hub.Open.
func (h *Hub) Open(ctx context.Context, visit Visit) (*stream.Stream, error) {
	v := &viewer{Visit: visit, hub: h, ended: EndedStopping, moved: make(map[string]struct{})}
	stop := h.DB.WatchHints(ctx)

	opened, err := h.Streams.Open(ctx, stream.Options{
		Class:        h.class,
		Organization: visit.Organization,
		Person:       visit.User,
		Filter:       storage.EventFilter{Types: visit.EventTypes},
		Begin:        stream.Begin{LastEventID: visit.LastEventID},
		Format:       stream.EventStream{},
		Notices:      v,
		ReadInterval: readInterval,
		Allowed:      v.mayGoOn,
		Closed: func() {
			h.leave(v)
			stop()
		},
	})
	if err != nil {
		stop()
		return nil, err
	}

	v.notify = opened.Notify
	h.enter(v)
	return opened, nil
}

func (h *Hub) enter(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.viewers[v.Organization] == nil {
		h.viewers[v.Organization] = make(map[*viewer]struct{})
	}
	h.viewers[v.Organization][v] = struct{}{}
}

func (h *Hub) leave(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.viewers[v.Organization], v)
	if len(h.viewers[v.Organization]) == 0 {
		delete(h.viewers, v.Organization)
	}
}
