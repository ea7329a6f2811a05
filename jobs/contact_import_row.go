package jobs

import (
	"cmp"
	"errors"
	"slices"

	"confab/jobs/contactsheet"
	"confab/jobs/messaging"
	"confab/storage"
)

// labelsOf are the ids of the labels that a line names, and of the one that all get.
func (m *contactImport) labelsOf(row contactsheet.Row) (ids []string, problem *contactsheet.Problem) {
	if m.hasLabel {
		ids = append(ids, *m.state.LabelID)
	}
	if row.Labels == "" {
		return ids, nil
	}

	id := func(name string) string { return m.labels[storage.Fold(name)] }
	names, unknown := row.LabelNames(func(name string) bool { return id(name) != "" })
	if unknown != "" {
		return nil, &contactsheet.Problem{Param: "labels", Message: "labels has " + unknown + ", which is not a label of this team."}
	}
	for _, name := range names {
		ids = append(ids, id(name))
	}
	return ids, nil
}

// missingLabels are those that a contact does not have yet, each once.
func missingLabels(rx *storage.Rx, c storage.Contact, known bool, wanted []string) ([]string, error) {
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if !known || len(wanted) == 0 {
		return wanted, nil
	}

	has, err := rx.ContactLabels(c.ID)
	return slices.DeleteFunc(wanted, func(id string) bool {
		return slices.ContainsFunc(has[c.ID], func(l storage.AttachedLabel) bool { return l.ID == id })
	}), err
}

// find finds the contact that a line is about: by its number, then by its BSUID. Without
// one it returns a new contact.
func (m *contactImport) find(rx *storage.Rx, row contactsheet.Row) (
	c storage.Contact, known bool, problem *contactsheet.Problem, err error,
) {
	byPhone, err := findBy(rx.ContactByPhone, m.state.AccountID, row.PhoneNumber)
	if err != nil {
		return c, false, nil, err
	}
	byBSUID, err := findBy(rx.ContactByBSUID, m.state.AccountID, row.BSUID)
	if err != nil {
		return c, false, nil, err
	}

	switch {
	case byPhone != nil && byBSUID != nil && byPhone.ID != byBSUID.ID:
		return c, false, &contactsheet.Problem{Param: "bsuid", Message: "bsuid and phone_number belong to different contacts."}, nil
	case byPhone != nil && row.BSUID != nil && byPhone.BSUID != nil && *byPhone.BSUID != *row.BSUID:
		return c, false, &contactsheet.Problem{Param: "bsuid", Message: "bsuid cannot be changed: this contact has another."}, nil
	case byPhone != nil:
		return *byPhone, true, nil, nil
	case byBSUID != nil && row.PhoneNumber != nil && byBSUID.PhoneNumber != nil:
		why := "phone_number cannot be changed: this contact has another."
		return c, false, &contactsheet.Problem{Param: "phone_number", Message: why}, nil
	case byBSUID != nil:
		return *byBSUID, true, nil, nil
	}
	return storage.Contact{AccountID: m.state.AccountID}, false, nil, nil
}

// findBy is nil if no contact is found, or there is nothing to look for.
func findBy(find func(int64, string) (storage.Contact, error), account int64, id *string) (*storage.Contact, error) {
	if id == nil {
		return nil, nil
	}
	c, err := find(account, *id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return &c, err
}

// apply puts what a line says into a contact. An empty cell leaves a field alone, and
// nothing takes an opt-out of marketing back.
func apply(c *storage.Contact, row contactsheet.Row) *contactsheet.Problem {
	c.PhoneNumber, c.BSUID = cmp.Or(c.PhoneNumber, row.PhoneNumber), cmp.Or(c.BSUID, row.BSUID)
	c.Username, c.Email = cmp.Or(row.Username, c.Username), cmp.Or(row.Email, c.Email)
	if row.Name != nil {
		c.Name, c.NameSetByClient = row.Name, true
	}

	if row.OptedIn != nil {
		c.OptedIn = *row.OptedIn
	}
	if row.OptedOut {
		c.MarketingOptedOut, c.OptedOutByWord = true, false
	}

	metadata, rule := row.ChangeMetadata(c.Metadata)
	if rule != "" {
		return &contactsheet.Problem{Param: "metadata", Message: "metadata " + rule + "."}
	}
	c.Metadata = metadata
	return nil
}

// isUnchanged reports whether a line changes nothing of a contact. That a profile's name became the
// client's is stored with another change, but is none by itself: a file that was exported and comes
// back changes nothing.
func isUnchanged(before, after storage.Contact) bool {
	return len(messaging.ChangedFields(before, after, false)) == 0 && storage.SameText(before.PhoneNumber, after.PhoneNumber) &&
		storage.SameText(before.BSUID, after.BSUID) && storage.SameText(before.Username, after.Username) &&
		before.OptedIn == after.OptedIn && before.MarketingOptedOut == after.MarketingOptedOut
}
