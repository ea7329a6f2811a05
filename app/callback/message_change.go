package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// prepareRevoke reads the deletion of a message for everyone.
func (s *Server) prepareRevoke(f numberChange, in provider.Message, raw json.RawMessage, direction string) step {
	revoke, err := provider.Read[provider.Revoke](provider.GetMember(raw, "revoke"))
	if err != nil || !isMessageID(revoke.OriginalID) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}
	change := messaging.Change{ID: in.ID, Original: revoke.OriginalID, Direction: direction}
	return s.applyChange(f, raw, in.Timestamp, change)
}

// prepareEdit reads an edit of a message. The earlier versions are kept.
func (s *Server) prepareEdit(f numberChange, in provider.Message, raw json.RawMessage, direction string) step {
	edit, after, err := readEdit(raw)
	if err != nil || f.TooDeep(raw) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}

	change := messaging.Change{
		ID:        in.ID,
		Original:  edit.OriginalID,
		Direction: direction,
		Edit:      &messaging.Edit{Type: after.kind, Content: storage.JSON(after.raw), Body: after.body},
	}
	return s.applyChange(f, raw, in.Timestamp, change)
}

// applyChange applies an edit or a deletion. If it arrives before its message, it
// is parked until then. Neither side can change a message of the other.
func (s *Server) applyChange(f numberChange, raw json.RawMessage, at provider.Int, c messaging.Change) step {
	return s.onAccount(f, raw, func(tx *storage.Tx, a storage.Account) error {
		c := c // of this run: a step may run twice
		c.At = eventTime(at, tx.Now)

		m, err := tx.MessageByProviderID(a.ID, c.Original)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return c.Park(tx, a.ID)
		case err != nil:
			return err
		case m.Direction != c.Direction:
			return s.keepRaw(f.item(raw), "unknown message")(tx)
		}
		return c.Apply(tx, a, &m)
	})
}

// readEdit reads an edit, and the content that the message has after it.
func readEdit(raw json.RawMessage) (edit provider.Edit, c content, err error) {
	if edit, err = provider.Read[provider.Edit](provider.GetMember(raw, "edit")); err != nil {
		return edit, c, err
	}

	inner, err := provider.Read[struct {
		Type string `json:"type"`
	}](edit.Message)
	if err != nil || !isMessageID(edit.OriginalID) {
		return edit, c, errNoContent
	}

	if c, err = readContent(edit.Message, inner.Type); err == nil && c.body == nil {
		err = errNoContent // only texts and captions can be edited
	}
	return edit, c, err
}
