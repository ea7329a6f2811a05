package callback

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/jobs/provider"
	"confab/storage"
)

// person is a person as a callback describes them: "" for what it does not say.
// A BSUID is the provider's id of a person for one business. It replaces the
// phone number for people who hide that.
//
// Contacts are found by phone number, BSUID or parent BSUID (findContacts). When
// a callback shows that several contacts are one person, reconcile merges them.
type person struct {
	phone    string // E.164
	bsuid    string
	parent   string // the BSUID for a group of businesses
	username string
	name     string
	wrote    bool // a message to us, which counts as opt-in
}

// The longest names that our API allows, in characters.
const maxName, maxUsername = 200, 100

// newPerson makes a person of a number and ids. Those of another form are left
// out.
func newPerson(phone, id, parent string) (p person) {
	if number, ok := provider.ParsePhone(phone); ok {
		p.phone = number
	}
	if provider.BSUID.MatchString(id) {
		p.bsuid = id
	}
	if provider.BSUID.MatchString(parent) {
		p.parent = parent
	}
	return p
}

// isUnknown reports whether nothing identifies the person.
func (p person) isUnknown() bool { return p.phone == "" && p.bsuid == "" }

// withProfiles adds what profiles say about the person, without replacing what is
// known.
func (p person) withProfiles(profiles []provider.Profile) person {
	for _, profile := range profiles {
		more := newPerson(profile.WaID, profile.UserID, profile.ParentUserID)
		p.phone = cmp.Or(p.phone, more.phone)
		p.bsuid = cmp.Or(p.bsuid, more.bsuid)
		p.parent = cmp.Or(p.parent, more.parent)

		// The provider shows the id or the number of a person without a name.
		if name := profile.Profile.Name; name != profile.UserID && strings.TrimPrefix(name, "+") != profile.WaID {
			p.name = cmp.Or(p.name, truncate(name, maxName))
		}
		p.username = cmp.Or(p.username, truncate(profile.Profile.Username, maxUsername))
	}
	return p
}

// truncate shortens a text to at most limit characters.
func truncate(text string, limit int) string {
	text = strings.TrimSpace(text)
	if letters := []rune(text); len(letters) > limit {
		return string(letters[:limit])
	}
	return text
}

// findContacts finds the contacts with the person's number or ids: none, one, or
// several that turn out to be the same person. Queries are saved where the first
// contact already has the other ids.
func (p person) findContacts(tx *storage.Tx, account int64) (found []storage.Thread, err error) {
	add := func(t storage.Thread, err error) error {
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err == nil && !slices.ContainsFunc(found, func(other storage.Thread) bool { return other.ID == t.ID }):
			found = append(found, t)
		}
		return err
	}

	if p.phone != "" {
		if err := add(tx.ThreadByPhone(account, p.phone)); err != nil {
			return nil, err
		}
	}

	if p.bsuid != "" && (len(found) == 0 || !equals(found[0].BSUID, p.bsuid)) {
		if err := add(tx.ThreadByBSUID(account, p.bsuid)); err != nil {
			return nil, err
		}
	}

	// A person whom we addressed by the parent BSUID is known only by that.
	if p.parent != "" && (len(found) == 0 || !equals(found[0].ParentBSUID, p.parent)) {
		if err := add(tx.ThreadByParent(account, p.parent)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func equals(s *string, want string) bool { return s != nil && *s == want }

// applyTo sets in a contact what is known about the person now, and reports
// whether that changed anything.
func (p person) applyTo(t *storage.Thread) (changed bool) {
	set := func(field **string, value string) {
		if value != "" && !equals(*field, value) {
			*field, changed = &value, true
		}
	}

	set(&t.PhoneNumber, p.phone)
	set(&t.BSUID, p.bsuid)
	set(&t.ParentBSUID, p.parent)
	set(&t.Username, p.username)
	if !t.NameSetByClient {
		set(&t.Name, p.name)
	}

	if p.wrote && !t.OptedIn {
		t.OptedIn, changed = true, true
	}
	return changed
}

// isUpToDate reports whether ensureContact would change nothing.
func (p person) isUpToDate(found []storage.Thread) bool {
	if len(found) != 1 || found[0].ConversationID == "" {
		return false
	}
	t := found[0]
	return !p.applyTo(&t)
}

// ensureContact returns the contact of a person, with a conversation. The found
// contacts, from findContacts, are merged into one and updated; if there are
// none, a contact is created.
func ensureContact(tx *storage.Tx, a storage.Account, p person, found []storage.Thread, at storage.Time) (t storage.Thread, err error) {
	if len(found) == 0 {
		t, err = createContact(tx, a, p)
	} else {
		t, err = reconcile(tx, a, p, found, at)
	}

	if err == nil && t.ConversationID == "" {
		err = tx.InsertThreadConversation(&t)
	}
	return t, err
}

// createContact inserts the contact of a new person and publishes the event.
func createContact(tx *storage.Tx, a storage.Account, p person) (t storage.Thread, err error) {
	t.AccountID = a.ID
	p.applyTo(&t)

	if err := tx.InsertContact(&t.Contact); err != nil {
		return t, err
	}
	return t, event.ContactCreated(messaging.SubjectOf(a), t.Contact).Emit(tx)
}

// reconcile merges contacts that are the same person into the oldest of them,
// updates it, and publishes what changed.
func reconcile(tx *storage.Tx, a storage.Account, p person, found []storage.Thread, at storage.Time) (storage.Thread, error) {
	slices.SortFunc(found, func(x, y storage.Thread) int {
		return cmp.Or(cmp.Compare(x.CreatedAt, y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})

	t, before, merged := found[0], found[0].Contact, len(found) > 1
	labeled := false
	for _, other := range found[1:] {
		moved, err := tx.MergeThreads(&t, other)
		if err != nil {
			return t, err
		}
		labeled = labeled || moved
	}

	if changed := p.applyTo(&t); !changed && !merged {
		return t, nil
	}
	if err := tx.UpdateContact(&t.Contact); err != nil {
		return t, err
	}

	// A customer who knows the contact by another id or number must learn of it.
	if merged || wasReplaced(before.PhoneNumber, t.PhoneNumber) || wasReplaced(before.BSUID, t.BSUID) {
		if err := event.ContactIdentityUpdated(messaging.SubjectOf(a), before, t.Contact, at).Emit(tx); err != nil {
			return t, err
		}
	}

	if fields := changedFields(before, t.Contact, labeled); len(fields) > 0 {
		return t, event.ContactUpdated(messaging.SubjectOf(a), t.Contact, fields).Emit(tx)
	}
	return t, nil
}

// wasReplaced reports whether a known value has changed. A value that was unknown
// before is no change of identity.
func wasReplaced(before, after *string) bool { return before != nil && !equals(after, *before) }

// changedFields lists the fields for the event contact.updated.
func changedFields(before, after storage.Contact, labeled bool) (fields []string) {
	differ := func(x, y *string) bool { return (x == nil) != (y == nil) || x != nil && *x != *y }

	if differ(before.Name, after.Name) {
		fields = append(fields, "name")
	}
	if differ(before.Email, after.Email) {
		fields = append(fields, "email")
	}
	if labeled {
		fields = append(fields, "labels")
	}
	if string(before.Metadata) != string(after.Metadata) {
		fields = append(fields, "metadata")
	}
	return fields
}
