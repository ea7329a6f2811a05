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

func maySee(role, kind string) bool {
	return role == storage.RoleAdmin || slices.Contains(agentsSee, kind)
}

// changeSet is the ids of what was changed, by kind; nil where any of it may have.
type changeSet map[string]map[string]struct{}

// add adds ids of a kind, or with nil that any of it may have changed.
func (s changeSet) add(kind string, ids []string) {
	of, known := s[kind]
	if known && of == nil {
		return
	}

	if of == nil {
		of = make(map[string]struct{})
	}
	for _, id := range ids {
		of[id] = struct{}{}
	}
	if ids == nil || len(of) > storage.MaxHintIDs {
		of = nil
	}
	s[kind] = of
}

func (s changeSet) append(b []byte, role string) []byte {
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		if maySee(role, kind) {
			ids := slices.Sorted(maps.Keys(s[kind]))
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
func (n *batch) add(kind string, ids []string) {
	n.changed.add(kind, ids)
	n.most = max(n.most, n.changed.countOf(kind))
	for _, also := range shownWith[kind] {
		n.changed.add(also, nil)
	}
}

// join makes a batch of two, which others have too, so that nothing can be added to either.
func (n *batch) join(other *batch) *batch {
	both := newBatch()
	for _, set := range []changeSet{n.changed, other.changed} {
		for kind, ids := range set {
			both.changed.add(kind, slices.Collect(maps.Keys(ids)))
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
