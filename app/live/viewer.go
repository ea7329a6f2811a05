package live

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"confab/app/stream"
	"confab/storage"
)

// Why a stream ends, as consoles read it.
const (
	EndedSignedOut   = "signed_out" // or the session was ended, or has expired
	EndedDisabled    = "disabled"
	EndedRoleChanged = "role_changed"
	EndedSuspended   = "suspended" // the organization
	EndedStopping    = "stopping"  // the server; it can be reached again soon
)

// agentsSee are the kinds of which agents are told: what they may read.
var agentsSee = []string{
	storage.HintConversation, storage.HintContact, storage.HintTemplate, storage.HintAccount,
	storage.HintLabel, storage.HintQuickReply, storage.HintUser,
}

// viewer is an open console, and what it has not been told yet.
type viewer struct {
	Visit
	hub    *Hub
	notify func()

	// Guarded by Hub.mu.
	changed map[string]*changes
	moved   map[string]struct{} // conversations whose people have changed
	ended   string
}

// changes are the ids of one kind that were changed.
type changes struct {
	ids   map[string]struct{}
	isAny bool
}

// hint keeps that something of a kind was changed, if the person may read it. Hub.mu is
// held.
func (v *viewer) hint(kind string, ids []string, isAny bool) {
	if v.Role != storage.RoleAdmin && !slices.Contains(agentsSee, kind) {
		return
	}

	of := v.changed[kind]
	if of == nil {
		of = &changes{ids: make(map[string]struct{})}
		v.changed[kind] = of
	}
	for _, id := range ids {
		of.ids[id] = struct{}{}
	}
	if of.isAny = of.isAny || isAny || len(of.ids) > storage.MaxHintIDs; of.isAny {
		clear(of.ids)
	}
	v.notify()
}

// mayGoOn tells whether the stream may go on, and remembers why not.
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

// readyNotice is what a console is told first.
type readyNotice struct {
	User    readyUser `json:"user"`
	Version string    `json:"version"`
}

type readyUser struct {
	ID   string `json:"id"`
	Role string `json:"role"`
}

// changedNotice says that some things of a kind were changed: any of them, without ids.
type changedNotice struct {
	Kind string   `json:"kind"`
	IDs  []string `json:"ids"`
}

type endedNotice struct {
	Reason string `json:"reason"`
}

// AppendOpening implements stream.Notices: who is connected, and who looks at what.
func (v *viewer) AppendOpening(b []byte) []byte {
	b = appendNotice(b, "ready", readyNotice{readyUser{v.User, v.Role}, v.hub.Version})
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	clear(v.moved)
	for _, conversation := range v.hub.looks[v.Organization].conversations() {
		b = appendNotice(b, "presence", v.hub.looks[v.Organization].presence(conversation))
	}
	return b
}

// AppendNew implements stream.Notices.
func (v *viewer) AppendNew(b []byte) []byte {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()

	for _, kind := range slices.Sorted(maps.Keys(v.changed)) {
		ids := slices.Sorted(maps.Keys(v.changed[kind].ids))
		b = appendNotice(b, "changed", changedNotice{kind, append([]string{}, ids...)})
	}
	for _, conversation := range slices.Sorted(maps.Keys(v.moved)) {
		b = appendNotice(b, "presence", v.hub.looks[v.Organization].presence(conversation))
	}
	clear(v.changed)
	clear(v.moved)
	return b
}

// AppendEnding implements stream.Notices.
func (v *viewer) AppendEnding(b []byte) []byte {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	return appendNotice(b, "ended", endedNotice{v.ended})
}

func appendNotice(b []byte, name string, data any) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		return b // texts can always be written
	}
	return stream.AppendNotice(b, name, text)
}
