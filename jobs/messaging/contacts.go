package messaging

import (
	"cmp"
	"slices"

	"confab/jobs/event"
	"confab/storage"
)

// EnsureContact returns the contact of a person, with a conversation. The found
// contacts, from FindContacts, are merged into one and updated; if there are
// none, a contact is created.
func EnsureContact(tx *storage.Tx, a storage.Account, p Person, found Match, at storage.Time) (t storage.Thread, err error) {
	if len(found.Contacts) == 0 {
		t, err = CreateContact(tx, a, p, found)
	} else {
		t, err = Reconcile(tx, a, p, found, at)
	}

	if err == nil && t.ConversationID == "" {
		err = tx.InsertThreadConversation(&t)
	}
	return t, err
}

// CreateContact inserts the contact of a person of whom none was found, and emits the event.
func CreateContact(tx *storage.Tx, a storage.Account, p Person, found Match) (t storage.Thread, err error) {
	t.AccountID = a.ID
	p.applyTo(&t)

	if found.aliasTaken {
		if err := tx.DropAlias(a.ID, p.Phone); err != nil {
			return t, err
		}
	}
	if err := tx.InsertContact(&t.Contact); err != nil {
		return t, err
	}
	return t, event.ContactCreated(SubjectOf(a), t.Contact).Emit(tx)
}

// Reconcile merges contacts that are the same person into the oldest of them,
// updates it, and emits the events of what changed.
func Reconcile(tx *storage.Tx, a storage.Account, p Person, found Match, at storage.Time) (storage.Thread, error) {
	all := found.Contacts
	slices.SortFunc(all, func(x, y storage.Thread) int {
		return cmp.Or(cmp.Compare(x.CreatedAt, y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})

	// A number that the person no longer has may become anybody's, in all its forms.
	for _, t := range all {
		if p.hasLeft(t.Contact) {
			if err := tx.DropAliases(t.ID); err != nil {
				return storage.Thread{}, err
			}
		}
	}

	t, before, merged := all[0], all[0].Contact, len(all) > 1
	labeled, err := mergeThreads(tx, a, &t, all[1:])
	if err != nil {
		return t, err
	}

	if changed := p.applyTo(&t); !changed && !merged {
		return t, nil
	}
	if err := recordAliases(tx, p, t.Contact, all); err != nil {
		return t, err
	}
	if err := tx.UpdateContact(&t.Contact); err != nil {
		return t, err
	}

	// A customer who knows the contact by another id or number must learn of it.
	if merged || wasReplaced(before.PhoneNumber, t.PhoneNumber) || wasReplaced(before.BSUID, t.BSUID) {
		if err := event.ContactIdentityUpdated(SubjectOf(a), before, t.Contact, at).Emit(tx); err != nil {
			return t, err
		}
	}

	if before.MarketingOptedOut != t.MarketingOptedOut { // by a merge; that they wrote tells message.received
		if err := EmitConsent(tx, SubjectOf(a), before, t.Contact, event.ConsentByProvider, nil); err != nil {
			return t, err
		}
	}
	if fields := ChangedFields(before, t.Contact, labeled); len(fields) > 0 {
		return t, event.ContactUpdated(SubjectOf(a), t.Contact, fields).Emit(tx)
	}
	return t, nil
}

// mergeThreads merges contacts into one, and tells if somebody else holds its conversation now. It
// returns whether it has got labels.
func mergeThreads(tx *storage.Tx, a storage.Account, into *storage.Thread, others []storage.Thread) (labeled bool, err error) {
	if len(others) == 0 {
		return false, nil
	}
	before, err := tx.Conversation(a.ID, into.ConversationID)
	if storage.IgnoreNotFound(err) != nil {
		return false, err
	}

	for _, other := range others {
		moved, err := tx.MergeThreads(into, other)
		if err != nil {
			return false, err
		}
		labeled = labeled || moved
	}

	after, err := tx.Conversation(a.ID, into.ConversationID)
	if err != nil || before.ID == "" || before.Holder().Is(after.Holder()) {
		return labeled, storage.IgnoreNotFound(err)
	}
	by := event.By{Type: event.BySystem}
	return labeled, event.ConversationHandedOver(SubjectOf(a), after.ID, before.Holder(), after.Holder(), by, nil).Emit(tx)
}

// recordAliases makes aliases of the numbers that a contact had, or that it was merged
// from, if its number is another one now: clients know it by these. They are other
// forms of its number, unless the person has moved.
func recordAliases(tx *storage.Tx, p Person, c storage.Contact, from []storage.Thread) error {
	if c.PhoneNumber == nil {
		return nil
	}

	for _, t := range from {
		if t.PhoneNumber == nil || *t.PhoneNumber == *c.PhoneNumber || p.hasLeft(t.Contact) {
			continue
		}
		if err := tx.AddAlias(c, *t.PhoneNumber); err != nil {
			return err
		}
	}

	// What the contact had for its number before was no alias.
	if equals(from[0].PhoneNumber, *c.PhoneNumber) {
		return nil
	}
	return tx.DropAlias(c.AccountID, *c.PhoneNumber)
}

// wasReplaced reports whether a known value has changed; to become known is no change of identity.
func wasReplaced(before, after *string) bool { return before != nil && !equals(after, *before) }

// ChangedFields lists what has changed of a contact that the event contact.updated reports;
// labeled says that its labels have.
func ChangedFields(before, after storage.Contact, labeled bool) (fields []string) {
	if !storage.SameText(before.Name, after.Name) {
		fields = append(fields, "name")
	}
	if !storage.SameText(before.Email, after.Email) {
		fields = append(fields, "email")
	}
	if labeled {
		fields = append(fields, "labels")
	}
	if !before.Metadata.Equal(after.Metadata) {
		fields = append(fields, "metadata")
	}
	return fields
}
