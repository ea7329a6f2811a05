package callback

import (
	"encoding/json"

	"confab/jobs/provider"
	"confab/storage"
)

// takeMessages applies what people wrote, and what became of what we wrote.
func (s *Server) takeMessages(n provider.News) (all []step) {
	f, err := framed(n)
	if err != nil || len(f.value.Statuses) == 0 {
		return s.keeping(n, "not handled")
	}
	for _, raw := range f.value.Statuses {
		all = append(all, s.takeStatus(f, raw))
	}
	if len(f.value.Messages) > 0 || len(f.value.Errors) > 0 {
		all = append(all, s.keeping(n, "not handled")...)
	}
	return all
}

// strange keeps an item for a number that nobody has connected. What still comes
// for one that was removed is of no use to anyone.
func (s *Server) strange(tx *storage.Tx, f frame, raw json.RawMessage) error {
	removed, err := tx.NumberWasRemoved(f.number)
	if err != nil || removed {
		return err
	}
	return s.keep(f.item(raw), "unknown number")(tx)
}
