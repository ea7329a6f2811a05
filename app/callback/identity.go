package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/provider"
	"confab/storage"
)

// prepareSystem reads a system message, by which the provider says that a person
// has another number or id. It is not stored as a message.
func (s *Server) prepareSystem(f numberChange, m provider.Message, raw json.RawMessage) step {
	system, err := provider.Read[provider.System](provider.GetMember(raw, "system"))
	if err != nil {
		return s.keepRaw(f.item(raw), "unreadable message")
	}

	phone := system.WaID
	if phone == "" {
		phone = system.NewWaID
	}

	before := newPerson(m.From, m.FromUserID, m.FromParentUserID)
	after := newPerson(phone, system.UserID, system.ParentUserID)
	if before.isUnknown() || after.isUnknown() {
		return s.keepRaw(f.item(raw), "not handled") // such as a change of encryption keys
	}
	return s.changeIdentity(f, raw, before, after, m.Timestamp)
}

// prepareIdentities reads changes of people's ids.
func (s *Server) prepareIdentities(n provider.CallbackChange) (all []piece) {
	f, err := readNumberChange(n)
	if err != nil || len(f.value.Identities) == 0 {
		return s.keepChange(n, "unreadable")
	}

	for _, raw := range f.value.Identities {
		change, err := provider.Read[provider.Identity](raw)
		before := newPerson("", change.UserID.Previous, change.ParentUserID.Previous)
		after := newPerson(change.WaID, change.UserID.Current, change.ParentUserID.Current)
		if err != nil || after.bsuid == "" || before.isUnknown() && after.phone == "" {
			all = append(all, piece{f.item(raw), s.keepRaw(f.item(raw), "unreadable identity")})
			continue
		}

		profiles, _ := f.findPeople(change.WaID, change.UserID.Current)
		all = append(all, piece{f.item(raw), s.changeIdentity(f, raw, before, after.withProfiles(profiles), change.Timestamp)})
	}
	return all
}

// changeIdentity gives the contact with the ids of before the ids of after. If
// both are contacts, they are merged.
func (s *Server) changeIdentity(f numberChange, raw json.RawMessage, before, after person, at provider.Int) step {
	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}

		old, err := before.findContacts(tx, a.ID)
		if err != nil {
			return err
		}
		now, err := after.findContacts(tx, a.ID)
		if err != nil {
			return err
		}

		found := union(old, now)
		if len(found) == 0 {
			return nil // no contact of ours
		}

		// A contact whose BSUID we did not know had the one that is replaced now:
		// with it the event can say what changed.
		for i := range found {
			if found[i].BSUID == nil && before.bsuid != "" && after.bsuid != "" && before.bsuid != after.bsuid {
				found[i].BSUID = &before.bsuid
			}
		}

		_, err = reconcile(tx, a, after, found, eventTime(at, tx.Now))
		return err
	}
}

// union joins two lists of contacts, without duplicates.
func union(all, more []storage.Thread) []storage.Thread {
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

// preparePreferences reads whether people want marketing messages.
func (s *Server) preparePreferences(n provider.CallbackChange) (all []piece) {
	f, err := readNumberChange(n)
	if err != nil || len(f.value.Preferences) == 0 {
		return s.keepChange(n, "unreadable")
	}

	for _, raw := range f.value.Preferences {
		all = append(all, piece{f.item(raw), s.preparePreference(f, raw)})
	}
	return all
}

// preparePreference reads the preference of one person.
func (s *Server) preparePreference(f numberChange, raw json.RawMessage) step {
	wish, err := provider.Read[provider.Preference](raw)
	who := newPerson(wish.WaID, wish.UserID, wish.ParentUserID)
	stop, known := map[string]bool{"stop": true, "resume": false, "signup": false}[wish.Value]
	if err != nil || who.isUnknown() || !known || wish.Category != "marketing_messages" {
		return s.keepRaw(f.item(raw), "unreadable preference")
	}

	profiles, _ := f.findPeople(wish.WaID, wish.UserID)
	who = who.withProfiles(profiles)

	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}

		found, err := who.findContacts(tx, a.ID)
		if err != nil || len(found) == 0 && !stop {
			return err
		}

		var t storage.Thread
		if len(found) == 0 {
			t, err = createContact(tx, a, who) // so that the first message respects the wish
		} else {
			t, err = reconcile(tx, a, who, found, eventTime(wish.Timestamp, tx.Now))
		}
		if err != nil || t.MarketingOptedOut == stop {
			return err
		}

		t.MarketingOptedOut = stop
		return tx.UpdateContact(&t.Contact)
	}
}
