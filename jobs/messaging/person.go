package messaging

import (
	"cmp"
	"slices"
	"strings"

	"confab/jobs/provider"
	"confab/storage"
)

// Person is a person as the provider describes them: "" for what it does not say.
// A BSUID is the provider's id of a person for one business. It replaces the
// phone number for people who hide that.
//
// Contacts are found by phone number or an alias of it, BSUID or parent BSUID
// (FindContacts). When it shows that several contacts are one person, Reconcile
// merges them.
type Person struct {
	Phone    string // E.164, as the provider writes it
	BSUID    string
	Parent   string // the BSUID for a group of businesses
	Username string
	Name     string
	Wrote    bool // a message to us, which counts as opt-in
	Moved    bool // the provider says that they changed their number or their BSUID
}

// The longest names that our API allows, in characters.
const maxName, maxUsername = 200, 100

// NewPerson makes a person of a number and ids. Those of another form are left out. The id of
// a parent is one wherever it appears: the provider may repeat whom we wrote to.
func NewPerson(phone, id, parent string) (p Person) {
	if number, ok := provider.ParsePhone(phone); ok {
		p.Phone = number
	}
	switch {
	case !provider.BSUID.MatchString(id):
	case provider.IsParentBSUID(id):
		p.Parent = id
	default:
		p.BSUID = id
	}
	if provider.BSUID.MatchString(parent) && provider.IsParentBSUID(parent) {
		p.Parent = parent
	}
	return p
}

// IsUnknown reports whether nothing identifies the person.
func (p Person) IsUnknown() bool { return p.Phone == "" && p.BSUID == "" && p.Parent == "" }

// WithProfiles adds what profiles say about the person, and replaces nothing.
func (p Person) WithProfiles(profiles []provider.Profile) Person {
	for _, profile := range profiles {
		more := NewPerson(profile.WaID, profile.UserID, profile.ParentUserID)
		p.Phone = cmp.Or(p.Phone, more.Phone)
		p.BSUID = cmp.Or(p.BSUID, more.BSUID)
		p.Parent = cmp.Or(p.Parent, more.Parent)

		// The provider shows the id or the number of a person without a name.
		known := []string{profile.UserID, profile.ParentUserID, profile.WaID, "+" + profile.WaID}
		if name := profile.Profile.Name; !slices.Contains(known, name) {
			p.Name = cmp.Or(p.Name, Truncate(name, maxName))
		}
		p.Username = cmp.Or(p.Username, Truncate(profile.Profile.Username, maxUsername))
	}
	return p
}

// Truncate shortens a text to at most limit characters.
func Truncate(text string, limit int) string {
	text = strings.TrimSpace(text)
	if letters := []rune(text); len(letters) > limit {
		return string(letters[:limit])
	}
	return text
}

// Match is what was found of a person.
type Match struct {
	Contacts []storage.Thread // none, one, or several that turn out to be the same person

	// aliasTaken says that somebody else loses the person's number as an alias.
	aliasTaken bool
}

// Join adds what was found in another way, without duplicates.
func (m Match) Join(more Match) Match {
	m.aliasTaken = m.aliasTaken || more.aliasTaken
	for _, t := range more.Contacts {
		m.add(t)
	}
	return m
}

func (m *Match) add(t storage.Thread) {
	if !slices.ContainsFunc(m.Contacts, func(other storage.Thread) bool { return other.ID == t.ID }) {
		m.Contacts = append(m.Contacts, t)
	}
}

// FindContacts finds the contacts with the person's number or ids. Queries are saved
// where the first contact already has the other ids.
func (p Person) FindContacts(tx *storage.Tx, account int64) (found Match, err error) {
	add := func(t storage.Thread, err error) error {
		switch {
		case err != nil:
			return storage.IgnoreNotFound(err)
		case p.takesAliasOf(t.Contact):
			found.aliasTaken = true
		default:
			found.add(t)
		}
		return nil
	}

	if p.Phone != "" {
		if err := add(tx.ThreadByPhone(account, p.Phone)); err != nil {
			return found, err
		}
	}

	if p.BSUID != "" && (len(found.Contacts) == 0 || !equals(found.Contacts[0].BSUID, p.BSUID)) {
		if err := add(tx.ThreadByBSUID(account, p.BSUID)); err != nil {
			return found, err
		}
	}

	// A person whom we addressed by the parent BSUID is known only by that.
	if p.Parent != "" && (len(found.Contacts) == 0 || !equals(found.Contacts[0].ParentBSUID, p.Parent)) {
		if err := add(tx.ThreadByParent(account, p.Parent)); err != nil {
			return found, err
		}
	}
	return found, nil
}

// FindByParent finds the contact with the person's parent BSUID, whatever else it has: one
// whose own BSUID we did not know or have missed.
func (p Person) FindByParent(tx *storage.Tx, account int64) (found Match, err error) {
	t, err := tx.ThreadOfParent(account, p.Parent)
	if err == nil {
		found.add(t)
	}
	return found, storage.IgnoreNotFound(err)
}

// takesAliasOf reports whether a contact is found by the person's number only because
// that was its alias: the provider now names somebody else by exactly this number.
func (p Person) takesAliasOf(c storage.Contact) bool {
	return p.BSUID != "" && c.BSUID != nil && *c.BSUID != p.BSUID && !equals(c.PhoneNumber, p.Phone)
}

// hasLeft reports whether the person no longer has the number of a contact. One with the
// same BSUID as before still has it: with a new number the provider gives a new one, and
// says so.
func (p Person) hasLeft(c storage.Contact) bool {
	return p.Moved && p.Phone != "" && c.PhoneNumber != nil && *c.PhoneNumber != p.Phone
}

func equals(s *string, want string) bool { return s != nil && *s == want }

// applyTo sets a contact's fields to what is known about the person now, and reports
// whether that changed anything.
func (p Person) applyTo(t *storage.Thread) (changed bool) {
	set := func(field **string, value string) {
		if value != "" && !equals(*field, value) {
			*field, changed = &value, true
		}
	}

	set(&t.PhoneNumber, p.Phone)
	set(&t.BSUID, p.BSUID)
	set(&t.ParentBSUID, p.Parent)
	set(&t.Username, p.Username)
	if !t.NameSetByClient {
		set(&t.Name, p.Name)
	}

	if p.Wrote && !t.OptedIn {
		t.OptedIn, changed = true, true
	}
	return changed
}

// IsUpToDate reports whether EnsureContact would change nothing.
func (p Person) IsUpToDate(found Match) bool {
	if len(found.Contacts) != 1 || found.Contacts[0].ConversationID == "" {
		return false
	}
	t := found.Contacts[0]
	return !p.applyTo(&t)
}

// RecordRecipient stores what the provider says about the person to whom a message
// went, in its answer to the send or in a status callback:
//
//   - The number, if the provider writes that otherwise than the message did: it
//     becomes the contact's number, and the one that was written to an alias.
//   - The number, if we wrote by BSUID to somebody without one, unless it is that of
//     somebody with another BSUID.
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

	// It may have been read before the call, and its contact may have changed since.
	t, err := tx.ThreadOf(*m)
	if err != nil {
		return err
	}

	m.SetThread(t)
	if !to.hasNews(*m) {
		return nil
	}
	if to.tellsNumber(*m) {
		owner, err := tx.ThreadByPhone(a.ID, to.Phone)
		if storage.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil && owner.BSUID != nil && *owner.BSUID != to.BSUID {
			return nil
		}
	} else if !to.isOtherForm(*m) {
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
	return p.isOtherForm(m) || p.tellsNumber(m) || p.BSUID != "" && m.ContactBSUID == nil
}

// tellsNumber reports whether the person has a number that was not known when they were
// written to by an id, which still is the contact's.
func (p Person) tellsNumber(m storage.Message) bool {
	return p.Phone != "" && m.PhoneNumber == nil && m.ContactPhone == nil && equals(m.ContactBSUID, p.BSUID)
}

// isOtherForm reports whether the person's number is another form of the one that a
// message was sent to, which is still the contact's.
func (p Person) isOtherForm(m storage.Message) bool {
	return p.Phone != "" && m.PhoneNumber != nil && p.Phone != *m.PhoneNumber && equals(m.ContactPhone, *m.PhoneNumber)
}

// tookAlias reports whether a message went to an alias that is now somebody else's number.
func (p Person) tookAlias(m storage.Message) bool {
	return p.BSUID != "" && m.ContactBSUID != nil && p.BSUID != *m.ContactBSUID &&
		m.PhoneNumber != nil && p.Phone == *m.PhoneNumber && !equals(m.ContactPhone, p.Phone)
}
