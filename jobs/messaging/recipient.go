package messaging

import "confab/storage"

// RecordRecipient stores what the provider says about the person to whom a message
// went, in its answer to the send or in a status callback:
//
//   - The number, if the provider writes that otherwise than the message did: it
//     becomes the contact's number, and the one that was written to an alias.
//   - The BSUID, if we wrote by number or parent BSUID. A contact that has a BSUID
//     keeps it, because a status may be about an old message.
//
// Either may show that two contacts are the same person: they are merged, and the
// message belongs to the one that is left.
func RecordRecipient(tx *storage.Tx, a storage.Account, m *storage.Message, to Person) error {
	if to.tookAlias(*m) {
		return tx.DropAliasOf(a.ID, m.ContactID, to.Phone)
	}
	if !to.hasNews(*m) {
		return nil // as almost always
	}

	// The message may have been read before the call to the provider, and its contact
	// may have changed since.
	t, err := tx.ThreadOf(*m)
	if err != nil {
		return err
	}

	m.SetThread(t)
	if !to.hasNews(*m) {
		return nil
	}
	if !to.isOtherForm(*m) {
		to.Phone = ""
	}
	if t.BSUID != nil {
		to.BSUID, to.Parent = *t.BSUID, ""
	}

	others, err := to.FindContacts(tx, a.ID)
	if err != nil {
		return err
	}
	if t, err = Reconcile(tx, a, to, Match{Contacts: []storage.Thread{t}}.Join(others), tx.Now); err != nil {
		return err
	}
	m.SetThread(t)
	return nil
}

// hasNews reports whether RecordRecipient has anything to store.
func (p Person) hasNews(m storage.Message) bool {
	return p.isOtherForm(m) || p.BSUID != "" && m.ContactBSUID == nil
}

// isOtherForm reports whether the person's number is another form of the one that a
// message was sent to, which is still the contact's.
func (p Person) isOtherForm(m storage.Message) bool {
	return p.Phone != "" && m.PhoneNumber != nil && p.Phone != *m.PhoneNumber && equals(m.ContactPhone, *m.PhoneNumber)
}

// tookAlias reports whether a message went to an alias of its contact that is now the
// number of somebody else.
func (p Person) tookAlias(m storage.Message) bool {
	return p.BSUID != "" && m.ContactBSUID != nil && p.BSUID != *m.ContactBSUID &&
		m.PhoneNumber != nil && p.Phone == *m.PhoneNumber && !equals(m.ContactPhone, p.Phone)
}
