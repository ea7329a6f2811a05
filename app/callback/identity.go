package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/provider"
	"confab/storage"
)

// takeSystem applies a message that the provider writes about a person: they
// have another number or another id. It is nobody's message and is not stored.
func (s *Server) takeSystem(f frame, m provider.Message, raw json.RawMessage) step {
	system, err := provider.Read[provider.System](provider.Member(raw, "system"))
	if err != nil {
		return s.keep(f.item(raw), "unreadable message")
	}
	phone := system.WaID
	if phone == "" {
		phone = system.NewWaID
	}
	before, after := named(m.From, m.FromUserID, m.FromParentUserID), named(phone, system.UserID, system.ParentUserID)
	if before.unknown() || after.unknown() {
		return s.keep(f.item(raw), "not handled") // a change of keys, which says nothing about who it is
	}
	return s.reidentify(f, raw, before, after, m.Timestamp)
}

// takeIdentities applies changes of people's ids.
func (s *Server) takeIdentities(n provider.News) (all []step) {
	f, err := framed(n)
	if err != nil || len(f.value.Identities) == 0 {
		return s.keeping(n, "unreadable")
	}
	for _, raw := range f.value.Identities {
		change, err := provider.Read[provider.Identity](raw)
		before := named("", change.UserID.Previous, change.ParentUserID.Previous)
		after := named(change.WaID, change.UserID.Current, change.ParentUserID.Current)
		if err != nil || after.bsuid == "" || before.unknown() && after.phone == "" {
			all = append(all, s.keep(f.item(raw), "unreadable identity"))
			continue
		}
		profiles, _ := f.about(change.WaID, change.UserID.Current)
		all = append(all, s.reidentify(f, raw, before, after.profiled(profiles), change.Timestamp))
	}
	return all
}

// reidentify makes whoever was known one way known another way. If both ways
// were known, they are one person from now on.
func (s *Server) reidentify(f frame, raw json.RawMessage, before, after person, at provider.Int) step {
	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.strange(tx, f, raw)
		}
		if err != nil {
			return err
		}
		old, err := before.known(tx, a.ID)
		if err != nil {
			return err
		}
		now, err := after.known(tx, a.ID)
		if err != nil {
			return err
		}
		found := joined(old, now)
		if len(found) == 0 {
			return nil // it is nobody whom we know
		}
		for i := range found {
			if found[i].BSUID == nil && before.bsuid != "" && after.bsuid != "" && before.bsuid != after.bsuid {
				found[i].BSUID = &before.bsuid // which we learn only now that it is another
			}
		}
		_, err = reconcile(tx, a, after, found, moment(at, tx.Now))
		return err
	}
}

// joined joins two lists of contacts.
func joined(all, more []storage.Thread) []storage.Thread {
	seen := make(map[string]bool)
	for _, t := range all {
		seen[t.ID] = true
	}
	for _, t := range more {
		if !seen[t.ID] {
			all = append(all, t)
		}
	}
	return all
}

// takePreferences applies what people say about marketing messages.
func (s *Server) takePreferences(n provider.News) (all []step) {
	f, err := framed(n)
	if err != nil || len(f.value.Preferences) == 0 {
		return s.keeping(n, "unreadable")
	}
	for _, raw := range f.value.Preferences {
		all = append(all, s.takePreference(f, raw))
	}
	return all
}

func (s *Server) takePreference(f frame, raw json.RawMessage) step {
	wish, err := provider.Read[provider.Preference](raw)
	who := named(wish.WaID, wish.UserID, wish.ParentUserID)
	stop, known := map[string]bool{"stop": true, "resume": false, "signup": false}[wish.Value]
	if err != nil || who.unknown() || !known || wish.Category != "marketing_messages" {
		return s.keep(f.item(raw), "unreadable preference")
	}
	profiles, _ := f.about(wish.WaID, wish.UserID)
	who = who.profiled(profiles)
	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.strange(tx, f, raw)
		}
		if err != nil {
			return err
		}
		found, err := who.known(tx, a.ID)
		if err != nil || len(found) == 0 && !stop {
			return err
		}
		var t storage.Thread
		if len(found) == 0 {
			t, err = introduce(tx, a, who) // so that it is known before the first message goes out
		} else {
			t, err = reconcile(tx, a, who, found, moment(wish.Timestamp, tx.Now))
		}
		if err != nil || t.MarketingOptedOut == stop {
			return err
		}
		t.MarketingOptedOut = stop
		return tx.UpdatePerson(&t)
	}
}
