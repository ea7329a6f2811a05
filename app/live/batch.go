package live

import (
	"maps"
	"slices"

	"confab/storage"
)

// agentsSee are the kinds that agents are notified of: those they may read.
var agentsSee = []string{
	storage.HintConversation, storage.HintContact, storage.HintTemplate, storage.HintAccount,
	storage.HintLabel, storage.HintQuickReply, storage.HintView, storage.HintUser,
}

// maySee reports whether a role is notified of a kind.
func maySee(role, kind string) bool {
	return role == storage.RoleAdmin || slices.Contains(agentsSee, kind)
}

// changes are the ids of one kind that were changed.
type changes struct {
	ids   map[string]struct{}
	isAny bool
}

// changeSet is what was changed, by kind.
type changeSet map[string]*changes

// add adds ids of a kind, or that any of it may have changed.
func (s changeSet) add(kind string, ids []string, isAny bool) {
	of := s[kind]
	if of == nil {
		of = &changes{ids: make(map[string]struct{})}
		s[kind] = of
	}
	if of.isAny {
		return
	}

	for _, id := range ids {
		of.ids[id] = struct{}{}
	}
	if of.isAny = isAny || len(of.ids) > storage.MaxHintIDs; of.isAny {
		clear(of.ids)
	}
}

// append appends the notices of what a role may see.
func (s changeSet) append(b []byte, role string) []byte {
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		if maySee(role, kind) {
			ids := slices.Sorted(maps.Keys(s[kind].ids))
			b = appendNotice(b, "changed", changedNotice{kind, append([]string{}, ids...)})
		}
	}
	return b
}

// batch is what was changed in an organization since its viewers were last notified. All of
// them share it: its text is made once for each role, when the first of them sends it.
// Hub.mu guards it.
type batch struct {
	changed changeSet
	most    int               // how many of a kind at the most
	texts   map[string][]byte // by role
}

func newBatch() *batch { return &batch{changed: make(changeSet), texts: make(map[string][]byte)} }

// add adds what was changed, and the kinds shown with it.
func (n *batch) add(kind string, ids []string, isAny bool) {
	n.changed.add(kind, ids, isAny)
	n.most = max(n.most, n.changed.countOf(kind))
	for _, also := range shownWith[kind] {
		n.changed.add(also, nil, true)
	}
}

// join makes a batch of two, which others have too, so that nothing can be added to either.
func (n *batch) join(other *batch) *batch {
	both := newBatch()
	for _, set := range []changeSet{n.changed, other.changed} {
		for kind, of := range set {
			both.changed.add(kind, slices.Collect(maps.Keys(of.ids)), of.isAny)
		}
	}
	return both
}

// text is what a role is sent, which no one may change.
func (n *batch) text(role string) []byte {
	text, ok := n.texts[role]
	if !ok {
		text = n.changed.append(nil, role)
		n.texts[role] = text
	}
	return text
}
