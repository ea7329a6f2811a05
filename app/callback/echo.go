package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs"
	"confab/jobs/provider"
	"confab/storage"
)

// takeEchoes applies what the business wrote on its phone.
func (s *Server) takeEchoes(n provider.News) (all []step) {
	f, err := framed(n)
	if err != nil || len(f.value.Echoes) == 0 {
		return s.keeping(n, "unreadable")
	}
	for _, raw := range f.value.Echoes {
		all = append(all, s.takeEcho(f, raw))
	}
	return all
}

func (s *Server) takeEcho(f frame, raw json.RawMessage) step {
	m, err := provider.Read[provider.Message](raw)
	if err != nil || !isMessageID(m.ID) {
		return s.keep(f.item(raw), "unreadable message")
	}
	switch m.Type {
	case "edit":
		return s.takeEdit(f, m, raw, storage.Outbound)
	case "revoke":
		return s.takeRevoke(f, m, raw, storage.Outbound)
	}
	profiles, _ := f.about(m.To, m.ToUserID)
	to := named(m.To, m.ToUserID, m.ToParentUserID).profiled(profiles)
	if to.unknown() {
		return s.keep(f.item(raw), "unknown recipient")
	}
	said, err := readContent(raw, m.Type)
	if err != nil || f.TooDeep(raw) {
		return s.keep(f.item(raw), "unreadable message")
	}
	said.lost = said.lost || said.file != "" && unavailable(m)
	in := incoming{Message: m, content: said, context: contextOf(m, raw), from: to}
	return func(tx *storage.Tx) error {
		account, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.strange(tx, f, raw)
		}
		if err != nil {
			return err
		}
		return s.echo(tx, account, in)
	}
}

// echo stores a message that the business sent, unless it is known.
func (s *Server) echo(tx *storage.Tx, a storage.Account, in incoming) error {
	if _, err := tx.MessageByProviderID(a.ID, in.ID); !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	found, err := in.from.known(tx, a.ID)
	if err != nil {
		return err
	}
	t, err := meet(tx, a, in.from, found, moment(in.Timestamp, tx.Now))
	if err != nil {
		return err
	}
	m := in.row(a, t, tx.Now)
	m.Direction, m.Status = storage.Outbound, storage.MessageSent
	if m.PhoneNumber == nil {
		m.Recipient = t.BSUID
	}
	if err := tx.InsertMessage(&m); err != nil {
		return err
	}
	if err := tx.MarkWrittenIn(t.ConversationID); err != nil {
		return err
	}
	if in.file != "" && !in.lost {
		if err := jobs.EnqueueFetch(tx, m, in.file, nil); err != nil {
			return err
		}
		return jobs.ApplyParked(tx, a, &m)
	}
	m.ContactPhone, m.ContactBSUID, m.ContactName, m.AccountPhone, m.ConversationStatus = t.PhoneNumber, t.BSUID, t.Name, a.PhoneNumber, t.Status
	return s.Host.TellEcho(tx, a, m)
}
