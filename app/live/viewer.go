package live

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"confab/app/stream"
)

// Why a stream ends, as consoles read it.
const (
	EndedSignedOut   = "signed_out" // or the session was ended, or has expired
	EndedDisabled    = "disabled"
	EndedRoleChanged = "role_changed"
	EndedClockMoved  = "clock_moved" // that of a sandbox
	EndedSuspended   = "suspended"   // the organization
	EndedStopping    = "stopping"    // the server; it can be reached again soon
)

// viewer is an open console, and what it has not been sent yet.
type viewer struct {
	Visit
	hub    *Hub
	notify func()

	// Guarded by Hub.mu.
	pending *batch              // changes, nil for none; mostly shared with others
	moved   map[string]struct{} // conversations whose people have changed
	ended   string
}

// hint keeps what was changed, if the person may read it. Hub.mu is held.
func (v *viewer) hint(n *batch) {
	if len(n.text(v.Role)) == 0 {
		return
	}

	if v.pending != nil {
		n = v.pending.join(n)
	}
	v.pending = n
	v.notify()
}

// mayGoOn reports whether the stream may go on, and remembers why not.
func (v *viewer) mayGoOn(ctx context.Context) bool {
	why := v.Ended(ctx)
	if why == "" {
		return true
	}

	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	v.ended = why
	return false
}

// changedNotice says that some things of a kind were changed: any of them, without ids.
type changedNotice struct {
	Kind string   `json:"kind"`
	IDs  []string `json:"ids"`
}

// AppendOpening implements stream.Notices: who is connected, and who looks at what.
func (v *viewer) AppendOpening(b []byte) []byte {
	user := map[string]string{"id": v.User, "role": v.Role}
	b = appendNotice(b, "ready", map[string]any{"user": user, "version": v.hub.Version})

	v.hub.mu.Lock()
	clear(v.moved)
	for _, one := range v.hub.looks[v.Organization] {
		v.moved[one.conversation] = struct{}{}
	}
	v.hub.mu.Unlock()
	return v.AppendNew(b)
}

// AppendNew implements stream.Notices.
func (v *viewer) AppendNew(b []byte) []byte {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()

	if v.pending != nil {
		b = append(b, v.pending.text(v.Role)...)
		v.pending = nil
	}
	if len(v.moved) > 0 {
		all := v.hub.looks[v.Organization].byConversation()
		for _, conversation := range slices.Sorted(maps.Keys(v.moved)) {
			b = appendNotice(b, "presence", presenceNotice(conversation, all[conversation]))
		}
		clear(v.moved)
	}
	return b
}

// AppendEnding implements stream.Notices.
func (v *viewer) AppendEnding(b []byte) []byte {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	return appendNotice(b, "ended", map[string]string{"reason": v.ended})
}

func appendNotice(b []byte, name string, data any) []byte {
	text, _ := json.Marshal(data) // texts can always be written
	return stream.AppendNotice(b, name, text)
}
