package api

import (
	"cmp"
	"encoding/json"

	"confab/app/api/rest"
	"confab/jobs/event"
	"confab/jobs/messaging"
	"confab/storage"
)

// contactChanges is the body of PATCH /v1/:phone_number_id/contacts/:id.
type contactChanges struct {
	PhoneNumber rest.Patch[json.RawMessage] `json:"phone_number"`
	Name        rest.Patch[string]          `json:"name"`
	Username    rest.Patch[string]          `json:"username"`
	Email       rest.Patch[string]          `json:"email"`
	Metadata    rest.Patch[json.RawMessage] `json:"metadata"`
	OptedIn     rest.Patch[bool]            `json:"opted_in"`
}

func (c *contactChanges) Validate() error {
	switch {
	case c.PhoneNumber.Set:
		return rest.Invalid("phone_number", "cannot be changed")
	case !c.Name.Set && !c.Username.Set && !c.Email.Set && !c.Metadata.Set && !c.OptedIn.Set:
		return rest.NoneGiven("name", "Provide at least one of name, username, email, metadata and opted_in.")
	}
	return cmp.Or(
		rest.Optional("name", c.Name.OrNil(), maxContactName),
		rest.Optional("username", c.Username.OrNil(), maxContactUsername),
		rest.CheckEmail(storage.OrNil(c.Email.Value)), // an empty one clears it, as null does
		c.OptedIn.NotNull("opted_in"),
		rest.CheckMetadata(c.Metadata.OrNil()),
	)
}

// apply makes the changes. A name that the client gives replaces the person's own
// profile name; null gives that up, and a profile name may be stored again.
func (c *contactChanges) apply(to *storage.Contact) {
	if c.Name.Set {
		to.Name, to.NameSetByClient = c.Name.OrNil(), !c.Name.Null
	}
	c.Username.ApplyOrNil(&to.Username)
	if c.Email.Set {
		to.Email = storage.OrNil(c.Email.Value)
	}
	if c.Metadata.Set {
		to.Metadata = rest.Compact(c.Metadata.Value) // nil for null
	}
	c.OptedIn.Apply(&to.OptedIn)
}

// changeContact stores the changes of a contact, if there are any, and emits
// contact.updated for those fields that the event reports.
func changeContact(tx *storage.Tx, subject event.Subject, c *storage.Contact, in contactChanges) error {
	before := *c
	in.apply(c)

	// Changes of username and opted_in are stored but not reported by the event.
	reported := messaging.ChangedFields(before, *c, false)

	// A PATCH that changes nothing leaves updated_at alone and emits no event.
	if len(reported) == 0 && storage.SameText(before.Username, c.Username) &&
		before.OptedIn == c.OptedIn && before.NameSetByClient == c.NameSetByClient {
		*c = before
		return nil
	}

	if err := tx.UpdateContact(c); err != nil {
		return err
	}
	if err := messaging.EmitConsent(tx, subject, before, *c, event.ConsentByAPI, nil); err != nil || len(reported) == 0 {
		return err
	}
	return event.ContactUpdated(subject, *c, reported).Emit(tx)
}
