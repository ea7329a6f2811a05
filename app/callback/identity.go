package callback

import (
	"cmp"
	"encoding/json"

	"confab/jobs/event"
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

	// The sender is the person as it was, unless the message says whom that was: then it
	// may be the person as it is now.
	before := messaging.NewPerson(m.From, m.FromUserID, m.FromParentUserID)
	after := messaging.NewPerson(cmp.Or(system.WaID, system.NewWaID), system.UserID, system.ParentUserID)
	if system.PreviousUserID != "" || system.PreviousParentUserID != "" {
		now := before
		before = messaging.NewPerson(m.From, system.PreviousUserID, system.PreviousParentUserID)
		after.BSUID, after.Parent = cmp.Or(after.BSUID, now.BSUID), cmp.Or(after.Parent, now.Parent)
	}

	if before.IsUnknown() || after.IsUnknown() {
		return s.keepRaw(f.item(raw), "not handled") // such as a change of encryption keys
	}
	return s.changeIdentity(f, raw, before, after, m.Timestamp)
}

// prepareIdentities reads changes of people's ids.
func (s *Server) prepareIdentities(n provider.CallbackChange) []piece {
	return s.prepareEach(n, "", func(f numberChange) []json.RawMessage { return f.value.Identities }, s.prepareIdentity)
}

// prepareIdentity reads the change of one person's ids.
func (s *Server) prepareIdentity(f numberChange, raw json.RawMessage) step {
	change, err := provider.Read[provider.Identity](raw)
	before := messaging.NewPerson("", change.UserID.Previous, change.ParentUserID.Previous)
	after := messaging.NewPerson(change.WaID, change.UserID.Current, change.ParentUserID.Current)
	if err != nil || after.BSUID == "" || before.IsUnknown() && after.Phone == "" {
		return s.keepRaw(f.item(raw), "unreadable identity")
	}

	profiles, _ := f.findPeople(change.WaID, change.UserID.Current)
	return s.changeIdentity(f, raw, before, after.WithProfiles(profiles), change.Timestamp)
}

// changeIdentity gives the contact with the ids of before the ids of after. If
// both are contacts, they are merged.
func (s *Server) changeIdentity(f numberChange, raw json.RawMessage, before, after messaging.Person, at provider.Int) step {
	after.Moved = true

	return s.onAccount(f, raw, func(tx *storage.Tx, a storage.Account) error {
		old, err := before.FindContacts(tx, a.ID)
		if err == nil && len(old.Contacts) == 0 && before.Parent != "" {
			old, err = before.FindByParent(tx, a.ID)
		}
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
	})
}

// preparePreferences reads whether people want marketing messages.
func (s *Server) preparePreferences(n provider.CallbackChange) []piece {
	return s.prepareEach(n, "", func(f numberChange) []json.RawMessage { return f.value.Preferences }, s.preparePreference)
}

// preparePreference reads the preference of one person.
func (s *Server) preparePreference(f numberChange, raw json.RawMessage) step {
	preference, err := provider.Read[provider.Preference](raw)
	who := messaging.NewPerson(preference.WaID, preference.UserID, preference.ParentUserID)
	stop, known := map[string]bool{"stop": true, "resume": false, "signup": false}[preference.Value]
	if err != nil || who.IsUnknown() || !known || preference.Category != "marketing_messages" {
		return s.keepRaw(f.item(raw), "unreadable preference")
	}

	profiles, _ := f.findPeople(preference.WaID, preference.UserID)
	who = who.WithProfiles(profiles)

	return s.onAccount(f, raw, func(tx *storage.Tx, a storage.Account) error {
		found, err := who.FindContacts(tx, a.ID)
		if err != nil || len(found.Contacts) == 0 && !stop {
			return err
		}

		var t storage.Thread
		if len(found.Contacts) == 0 {
			t, err = messaging.CreateContact(tx, a, who, found) // so that the first message respects it
		} else {
			t, err = messaging.Reconcile(tx, a, who, found, eventTime(preference.Timestamp, tx.Now))
		}
		if err != nil || t.MarketingOptedOut == stop && !t.OptedOutByWord {
			return err
		}

		before := t.Contact
		t.MarketingOptedOut, t.OptedOutByWord = stop, false
		if err := tx.UpdateContact(&t.Contact); err != nil {
			return err
		}
		return messaging.EmitConsent(tx, messaging.SubjectOf(a), before, t.Contact, event.ConsentByProvider, nil)
	})
}
