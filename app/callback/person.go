package callback

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"confab/jobs"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// person is somebody as the provider names them: "" stands for what it does not
// tell.
type person struct {
	phone    string // E.164
	bsuid    string
	parent   string
	username string
	name     string
	wrote    bool // to us, which is consent to be written to
}

var (
	phonePattern = regexp.MustCompile(`^[1-9][0-9]{6,14}$`)
	bsuidPattern = regexp.MustCompile(`^[A-Z]{2}[.](ENT[.])?[A-Za-z0-9]{1,128}$`)
)

// The longest names that the API knows, in characters.
const maxName, maxUsername = 200, 100

// newPerson makes a person of numbers and ids, leaving out what is none.
func newPerson(phone, id, parent string) (p person) {
	if number := strings.TrimPrefix(phone, "+"); phonePattern.MatchString(number) {
		p.phone = "+" + number
	}
	if bsuidPattern.MatchString(id) {
		p.bsuid = id
	}
	if bsuidPattern.MatchString(parent) {
		p.parent = parent
	}
	return p
}

// isUnknown tells that nobody could say who it is.
func (p person) isUnknown() bool { return p.phone == "" && p.bsuid == "" }

// withProfiles adds what profiles tell of the person.
func (p person) withProfiles(profiles []provider.Profile) person {
	for _, profile := range profiles {
		more := newPerson(profile.WaID, profile.UserID, profile.ParentUserID)
		p.phone, p.bsuid, p.parent = cmp.Or(p.phone, more.phone), cmp.Or(p.bsuid, more.bsuid), cmp.Or(p.parent, more.parent)
		if name := profile.Profile.Name; name != profile.UserID && strings.TrimPrefix(name, "+") != profile.WaID { // as those without a name are shown
			p.name = cmp.Or(p.name, truncate(name, maxName))
		}
		p.username = cmp.Or(p.username, truncate(profile.Profile.Username, maxUsername))
	}
	return p
}

// truncate shortens a text to so many characters.
func truncate(text string, most int) string {
	text = strings.TrimSpace(text)
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most])
	}
	return text
}

// findContacts finds the contacts that a person may be: none, the one, or several that
// turn out to be one.
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
	// Somebody whom we wrote to by the parent id is only known by that.
	if p.parent != "" && (len(found) == 0 || !equals(found[0].ParentBSUID, p.parent)) {
		if err := add(tx.ThreadByParent(account, p.parent)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func equals(s *string, want string) bool { return s != nil && *s == want }

// applyTo gives a contact what is known of the person now, and tells whether
// that changed anything.
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
	if !t.NameIsOurs {
		set(&t.Name, p.name)
	}
	if p.wrote && !t.OptedIn {
		t.OptedIn, changed = true, true
	}
	return changed
}

// isUpToDate tells whether there is nothing to learn about a person.
func (p person) isUpToDate(found []storage.Thread) bool {
	if len(found) != 1 || found[0].ConversationID == "" {
		return false
	}
	t := found[0]
	return !p.applyTo(&t)
}

// ensureContact finds or makes the contact of a person, with a conversation, out of those
// that were found: as one, and as the provider knows them now.
func ensureContact(tx *storage.Tx, a storage.Account, p person, found []storage.Thread, at storage.Time) (t storage.Thread, err error) {
	if len(found) == 0 {
		t, err = createContact(tx, a, p)
	} else {
		t, err = reconcile(tx, a, p, found, at)
	}
	if err == nil && t.ConversationID == "" {
		err = tx.BeginThread(&t)
	}
	return t, err
}

// createContact makes the contact of a person whom nobody knows.
func createContact(tx *storage.Tx, a storage.Account, p person) (t storage.Thread, err error) {
	t.AccountID = a.ID
	p.applyTo(&t)
	if err := tx.InsertContact(&t.Contact); err != nil {
		return t, err
	}
	return t, event.ContactCreated(jobs.SubjectOf(a), t.Contact).Emit(tx)
}

// reconcile brings contacts that are one person together in the oldest of them,
// and up to date.
func reconcile(tx *storage.Tx, a storage.Account, p person, found []storage.Thread, at storage.Time) (storage.Thread, error) {
	slices.SortFunc(found, func(x, y storage.Thread) int {
		return cmp.Or(cmp.Compare(x.CreatedAt, y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	t, before, merged, labeled := found[0], found[0].Contact, len(found) > 1, false
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
	if err := tx.UpdatePerson(&t); err != nil {
		return t, err
	}
	if merged || wasReplaced(before.PhoneNumber, t.PhoneNumber) || wasReplaced(before.BSUID, t.BSUID) {
		if err := event.ContactIdentityUpdated(jobs.SubjectOf(a), before, t.Contact, at).Emit(tx); err != nil {
			return t, err
		}
	}
	if fields := changedFields(before, t.Contact, labeled); len(fields) > 0 {
		return t, event.ContactUpdated(jobs.SubjectOf(a), t.Contact, fields).Emit(tx)
	}
	return t, nil
}

// wasReplaced tells whether what was known is another now; to learn something is
// no change of identity.
func wasReplaced(before, after *string) bool { return before != nil && !equals(after, *before) }

// changedFields lists the fields that contact.updated tells of.
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
