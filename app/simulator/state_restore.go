package simulator

import (
	"encoding/json"
	"fmt"
)

// restore puts one saved record back in its place.
func (s *Server) restore(kind string, b json.RawMessage) error {
	w := &s.world

	switch kind {
	case "head":
		return s.restoreHead(b)
	case "token":
		return decodeRecord(b, func(t *token) { w.Tokens[t.Token] = t })
	case "code":
		return decodeRecord(b, func(c *signupCode) { w.Codes[c.Code] = c })
	case "account":
		return decodeRecord(b, func(a *account) { w.Accounts[a.ID] = a })
	case "number":
		return decodeRecord(b, func(n *number) { w.Numbers[n.ID] = n })
	case "template":
		return decodeRecord(b, func(t *template) { w.Templates[t.ID] = t })
	case "media":
		return decodeRecord(b, func(m *media) { w.Media[m.ID] = m })
	case "upload":
		return decodeRecord(b, func(u *upload) { w.Uploads[u.ID] = u })
	case "person":
		return decodeRecord(b, w.People.add)
	case "fault":
		return s.restoreFault(b)
	case "event":
		return decodeRecord(b, s.scheduleEvent)
	case "change":
		return decodeRecord(b, s.restoreChange)
	}
	return fmt.Errorf("unknown kind; it was written by another version")
}

// decodeRecord decodes a record and passes it to a function.
func decodeRecord[T any](b json.RawMessage, place func(*T)) error {
	v := new(T)
	if err := decodeJSON(b, v); err != nil {
		return err
	}
	place(v)
	return nil
}

func (s *Server) restoreHead(b json.RawMessage) error {
	h := head{Settings: defaultSettings()}
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}

	if h.Version != stateVersion {
		return fmt.Errorf("it has version %d but this build knows only %d", h.Version, stateVersion)
	}

	s.world.Creds, s.world.Hook, s.settings, s.world.NextOrder = h.Creds, h.Hook, h.Settings, h.Order
	if h.Deleted != nil {
		s.world.Deleted = h.Deleted
	}
	return nil
}

// restoreChange puts an undelivered change back: into its queue, or into the
// timeline when it waits for another attempt.
func (s *Server) restoreChange(c *change) {
	s.outbox.pending++
	if c.Next != 0 {
		s.scheduleEvent(&event{Due: c.Next, retry: []*change{c}})
		return
	}

	key := queueKey{c.Account, c.URL}
	if s.outbox.queues[key] == nil {
		s.outbox.queues[key] = &deliveryQueue{key: key}
	}
	q := s.outbox.queues[key]
	q.waiting = append(q.waiting, c)
}
