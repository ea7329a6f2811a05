package callback

import (
	"encoding/json"
	"errors"

	"confab/jobs/messaging"
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

	before := messaging.NewPerson(m.From, m.FromUserID, m.FromParentUserID)
	after := messaging.NewPerson(phone, system.UserID, system.ParentUserID)
	if before.IsUnknown() || after.IsUnknown() {
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
		before := messaging.NewPerson("", change.UserID.Previous, change.ParentUserID.Previous)
		after := messaging.NewPerson(change.WaID, change.UserID.Current, change.ParentUserID.Current)
		if err != nil || after.BSUID == "" || before.IsUnknown() && after.Phone == "" {
			all = append(all, piece{f.item(raw), s.keepRaw(f.item(raw), "unreadable identity")})
			continue
		}

		profiles, _ := f.findPeople(change.WaID, change.UserID.Current)
		all = append(all, piece{f.item(raw), s.changeIdentity(f, raw, before, after.WithProfiles(profiles), change.Timestamp)})
	}
	return all
}

// changeIdentity gives the contact with the ids of before the ids of after. If
// both are contacts, they are merged.
func (s *Server) changeIdentity(f numberChange, raw json.RawMessage, before, after messaging.Person, at provider.Int) step {
	after.Moved = true

	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}

		old, err := before.FindContacts(tx, a.ID)
		if err != nil {
			return err
		}
		now, err := after.FindContacts(tx, a.ID)
		if err != nil {
			return err
		}

		found := old.Join(now)
		if len(found.Contacts) == 0 {
			return nil // no contact of ours
		}

		// A contact whose BSUID we did not know had the one that is replaced now:
		// with it the event can say what changed.
		for i := range found.Contacts {
			if found.Contacts[i].BSUID == nil && before.BSUID != "" && after.BSUID != "" && before.BSUID != after.BSUID {
				found.Contacts[i].BSUID = &before.BSUID
			}
		}

		_, err = messaging.Reconcile(tx, a, after, found, eventTime(at, tx.Now))
		return err
	}
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
	who := messaging.NewPerson(wish.WaID, wish.UserID, wish.ParentUserID)
	stop, known := map[string]bool{"stop": true, "resume": false, "signup": false}[wish.Value]
	if err != nil || who.IsUnknown() || !known || wish.Category != "marketing_messages" {
		return s.keepRaw(f.item(raw), "unreadable preference")
	}

	profiles, _ := f.findPeople(wish.WaID, wish.UserID)
	who = who.WithProfiles(profiles)

	return func(tx *storage.Tx) error {
		a, err := tx.AccountByNumber(f.number)
		if errors.Is(err, storage.ErrNotFound) {
			return s.keepUnknownNumber(tx, f, raw)
		}
		if err != nil {
			return err
		}

		found, err := who.FindContacts(tx, a.ID)
		if err != nil || len(found.Contacts) == 0 && !stop {
			return err
		}

		var t storage.Thread
		if len(found.Contacts) == 0 {
			t, err = messaging.CreateContact(tx, a, who, found) // so that the first message respects the wish
		} else {
			t, err = messaging.Reconcile(tx, a, who, found, eventTime(wish.Timestamp, tx.Now))
		}
		if err != nil || t.MarketingOptedOut == stop {
			return err
		}

		t.MarketingOptedOut = stop
		return tx.UpdateContact(&t.Contact)
	}
}
