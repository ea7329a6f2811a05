package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// original finds the message that another one is about, which must go the same
// way. It returns false, having kept the item, where there is none.
func (s *Server) original(tx *storage.Tx, f frame, raw json.RawMessage, id, direction string) (a storage.Account, m storage.Message, ok bool, err error) {
	a, err = tx.AccountByNumber(f.number)
	if errors.Is(err, storage.ErrNotFound) {
		return a, m, false, s.strange(tx, f, raw)
	}
	if err != nil {
		return a, m, false, err
	}
	m, err = tx.MessageByProviderID(a.ID, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && m.Direction != direction {
		return a, m, false, s.keep(f.item(raw), "unknown message")(tx)
	}
	return a, m, err == nil, err
}

// takeRevoke applies the deletion of a message for everyone. What the business
// deletes on its phone is recorded; only what a person deletes is told.
func (s *Server) takeRevoke(f frame, in provider.Message, raw json.RawMessage, direction string) step {
	revoke, err := provider.Read[provider.Revoke](provider.Member(raw, "revoke"))
	if err != nil || revoke.OriginalID == "" {
		return s.keep(f.item(raw), "unreadable message")
	}
	return func(tx *storage.Tx) error {
		a, m, ok, err := s.original(tx, f, raw, revoke.OriginalID, direction)
		if !ok || err != nil {
			return err
		}
		first, err := tx.MarkRevoked(&m)
		if err != nil || !first || direction != storage.Inbound {
			return err
		}
		return event.MessageRevoked(jobs.SubjectOf(a), m, moment(in.Timestamp, tx.Now)).Emit(tx)
	}
}

// takeEdit applies a change of a message, whose earlier versions are kept. It is
// told of like a deletion.
func (s *Server) takeEdit(f frame, in provider.Message, raw json.RawMessage, direction string) step {
	edit, changed, err := readEdit(raw)
	if err != nil || f.TooDeep(raw) {
		return s.keep(f.item(raw), "unreadable message")
	}
	return func(tx *storage.Tx) error {
		a, m, ok, err := s.original(tx, f, raw, edit.OriginalID, direction)
		if !ok || err != nil {
			return err
		}
		earlier, err := tx.MessageEdits(m.ID)
		if err != nil {
			return err
		}
		for _, version := range earlier {
			if version.ProviderID == in.ID {
				return nil // it came before
			}
		}
		before := storage.MessageEdit{Version: len(earlier) + 1, Content: m.Content, Body: m.Body, EditedAt: moment(in.Timestamp, tx.Now), ProviderID: in.ID}
		m.Type, m.Content, m.Body = changed.kind, storage.JSON(changed.raw), changed.body
		if err := tx.EditMessage(&m, before); err != nil || direction != storage.Inbound {
			return err
		}
		return event.MessageEdited(jobs.SubjectOf(a), m, append(earlier, before)).Emit(tx)
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
	if err != nil || edit.OriginalID == "" {
		return edit, c, errContent
	}
	if c, err = readContent(edit.Message, inner.Type); err == nil && c.body == nil {
		err = errContent // there is nothing else that can be edited
	}
	return edit, c, err
}
