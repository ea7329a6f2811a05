package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// prepareRevoke applies the deletion of a message for everyone.
func (s *Server) prepareRevoke(f numberChange, in provider.Message, raw json.RawMessage, direction string) step {
	revoke, err := provider.Read[provider.Revoke](provider.Member(raw, "revoke"))
	if err != nil || !isMessageID(revoke.OriginalID) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}
	return s.applyChange(f, raw, in.Timestamp, jobs.Change{ID: in.ID, Original: revoke.OriginalID, Direction: direction})
}

// prepareEdit applies a change of a message, whose earlier versions are kept.
func (s *Server) prepareEdit(f numberChange, in provider.Message, raw json.RawMessage, direction string) step {
	edit, becomes, err := readEdit(raw)
	if err != nil || f.TooDeep(raw) {
		return s.keepRaw(f.item(raw), "unreadable message")
	}
	return s.applyChange(f, raw, in.Timestamp, jobs.Change{ID: in.ID, Original: edit.OriginalID, Direction: direction,
		Edit: &jobs.Edit{Type: becomes.kind, Content: storage.JSON(becomes.raw), Body: becomes.body}})
}

// applyChange applies an edit or a deletion. One that was faster than its message
// waits for it; a message of the other side cannot be meant.
func (s *Server) applyChange(f numberChange, raw json.RawMessage, at provider.Int, c jobs.Change) step {
	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}
		c := c
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
	}
}

// readEdit reads what a message is to become.
func readEdit(raw json.RawMessage) (edit provider.Edit, c content, err error) {
	if edit, err = provider.Read[provider.Edit](provider.Member(raw, "edit")); err != nil {
		return edit, c, err
	}
	inner, err := provider.Read[struct {
		Type string `json:"type"`
	}](edit.Message)
	if err != nil || !isMessageID(edit.OriginalID) {
		return edit, c, errNoContent
	}
	if c, err = readContent(edit.Message, inner.Type); err == nil && c.body == nil {
		err = errNoContent // there is nothing else that can be edited
	}
	return edit, c, err
}
