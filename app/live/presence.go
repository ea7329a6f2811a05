package live

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// lookLife is how long somebody counts as looking after having said so.
	lookLife = 10 * time.Second
	// maxTabs is how many tabs of a person count, and maxLooks how many of an
	// organization.
	maxTabs  = 20
	maxLooks = 2000
)

type tab struct{ user, name string }

// look is what a tab shows.
type look struct {
	person       string // its name
	conversation string
	typing       bool
	until        time.Time
}

// looks are those of an organization.
type looks map[tab]look

// Look is what a person says about a tab of its browser.
type Look struct {
	Organization int64
	User         string
	Name         string
	Tab          string
	Conversation string // "" for none
	Typing       bool
}

// Shows reports whether a tab is known to show a conversation: then it need not be looked
// up again.
func (h *Hub) Shows(l Look) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, ok := h.looks[l.Organization][tab{l.User, l.Tab}]
	return ok && was.conversation == l.Conversation
}

// Look records what a tab shows, which is forgotten unless it is said again. The caller
// knows that the conversation is of the organization. A tab too many is left out.
func (h *Hub) Look(l Look) {
	h.mu.Lock()
	defer h.mu.Unlock()

	all, key := h.looks[l.Organization], tab{l.User, l.Tab}
	before, known := all[key]
	switch {
	case l.Conversation == "":
		delete(all, key)
		h.prune(l.Organization)
	case !known && (len(all) >= maxLooks || all.tabsOf(l.User) >= maxTabs):
		return
	default:
		if all == nil {
			all = make(looks)
			h.looks[l.Organization] = all
		}
		all[key] = look{l.Name, l.Conversation, l.Typing, time.Now().Add(lookLife)}
		time.AfterFunc(lookLife, func() { h.forget(l.Organization, key) })
	}

	if before.conversation == l.Conversation && before.typing == l.Typing && before.person == l.Name {
		return
	}
	h.move(l.Organization, before.conversation, l.Conversation)
}

// IsOnScreen reports whether a person has a conversation on screen.
func (h *Hub) IsOnScreen(organization int64, user, conversation string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, one := range h.looks[organization] {
		if key.user == user && one.conversation == conversation {
			return true
		}
	}
	return false
}

// move notifies viewers that other people look at some conversations than before. mu is held.
func (h *Hub) move(organization int64, conversations ...string) {
	for v := range h.viewers[organization] {
		for _, conversation := range conversations {
			if conversation != "" {
				v.moved[conversation] = struct{}{}
			}
		}
		v.notify()
	}
}

// prune forgets an organization where no one looks. mu is held.
func (h *Hub) prune(organization int64) {
	if len(h.looks[organization]) == 0 {
		delete(h.looks, organization)
	}
}

// forget forgets a tab, unless it has said again what it shows.
func (h *Hub) forget(organization int64, key tab) {
	h.mu.Lock()
	defer h.mu.Unlock()

	one, known := h.looks[organization][key]
	if !known || time.Now().Before(one.until) {
		return
	}
	delete(h.looks[organization], key)
	h.prune(organization)
	h.move(organization, one.conversation)
}

func (all looks) tabsOf(user string) (n int) {
	for key := range all {
		if key.user == user {
			n++
		}
	}
	return n
}

type presentState struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"` // looking or typing
}

// byConversation is who looks at each: each person once, typing if any tab is.
func (all looks) byConversation() map[string]map[string]presentState {
	found := make(map[string]map[string]presentState)
	for key, one := range all {
		people := found[one.conversation]
		if people == nil {
			people = make(map[string]presentState)
			found[one.conversation] = people
		}

		state := cmp.Or(people[key.user].State, "looking")
		if one.typing {
			state = "typing"
		}
		people[key.user] = presentState{key.user, one.person, state}
	}
	return found
}

func presenceNotice(conversation string, people map[string]presentState) map[string]any {
	byName := func(a, b presentState) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) }
	sorted := slices.SortedFunc(maps.Values(people), byName)
	return map[string]any{"conversation_id": conversation, "people": append([]presentState{}, sorted...)}
}
