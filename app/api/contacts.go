package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"confab/app/api/rest"
	"confab/jobs"
	"confab/jobs/contactsheet"
	"confab/jobs/event"
	"confab/jobs/provider"
	"confab/storage"
)

// Limits of a contact's texts, in characters.
const (
	maxContactName     = contactsheet.MaxName
	maxContactUsername = contactsheet.MaxUsername
	maxSearch          = 200
)

// contactsADay is how many contacts a person may make in the console in a day, one by one.
const contactsADay = 1000

type contactView struct {
	storage.Contact
	labels  []storage.AttachedLabel
	account chatAccountView
}

func (v contactView) AppendJSON(b []byte) []byte {
	b = rest.AppendText(append(b, `{"id":`...), v.ID)
	b = rest.AppendOptional(append(b, `,"object":"contact","phone_number":`...), v.PhoneNumber)
	b = rest.AppendOptional(append(b, `,"bsuid":`...), v.BSUID)
	b = rest.AppendOptional(append(b, `,"parent_bsuid":`...), v.ParentBSUID)
	b = rest.AppendOptional(append(b, `,"username":`...), v.Username)
	b = rest.AppendOptional(append(b, `,"name":`...), v.Name)
	b = rest.AppendOptional(append(b, `,"email":`...), v.Email)
	b = rest.AppendStored(append(b, `,"metadata":`...), v.Metadata)
	b = rest.AppendLabels(append(b, `,"labels":`...), v.labels)

	b = strconv.AppendBool(append(b, `,"marketing_opted_out":`...), v.MarketingOptedOut)
	b = strconv.AppendBool(append(b, `,"opted_in":`...), v.OptedIn)
	b = v.account.AppendJSON(append(b, `,"chat_account":`...))
	b = v.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	return append(b, '}')
}

// contactViews reads what a view of some contacts needs beside their rows, with one
// query for all of them, and returns the function that makes each view.
func contactViews(rx *storage.Rx, account int64, contacts ...storage.Contact) (func(storage.Contact) contactView, error) {
	labels, err := rx.ContactLabels(idsOf(contacts)...)
	chat, failed := rx.AccountSummary(account)
	view := func(c storage.Contact) contactView { return contactView{c, labels[c.ID], chatAccountView(chat)} }
	return view, cmp.Or(err, failed)
}

// ShowContact replies with one contact.
func ShowContact(rx *storage.Rx, c storage.Contact) (rest.Reply, error) {
	view, err := contactViews(rx, c.AccountID, c)
	return rest.OK(view(c)), err
}

func contactFilters(r *rest.Request) (storage.ContactFilter, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.ContactFilter{
		PhoneNumber:  q.Phone("phone_number", "phone"),
		BSUID:        q.Matching("bsuid", provider.BSUID, "must be a business-scoped user id"),
		Username:     q.Text("username", maxContactUsername),
		Email:        q.Text("email", storage.MaxEmail),
		LabelID:      q.ID("label_id", storage.PrefixLabel),
		Search:       q.Text("search", maxSearch),
		UpdatedSince: q.After("updated_since"),
	}
	return f, q.Err
}

// listContacts handles GET /v1/:phone_number_id/contacts.
func (s *Server) listContacts(r *rest.Request) (rest.Reply, error) {
	f, err := contactFilters(r)
	var view func(storage.Contact) contactView
	return rest.ListOf(s.Server, r, rest.Lister[storage.Contact, contactView]{
		Scope: fmt.Sprintf("contacts %d %#v", r.Account.ID, f),
		Err:   err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) (rows []storage.Contact, reached storage.After, err error) {
			if rows, reached, err = rx.Within(q.Budget).Contacts(r.Account.ID, f, q.After, q.Fetch()); err == nil {
				view, err = contactViews(rx, r.Account.ID, rows...)
			}
			return rows, reached, err
		},
		Key:  func(c storage.Contact) storage.After { return storage.After{Key: c.CreatedAt, ID: c.ID} },
		View: func(c storage.Contact) contactView { return view(c) },
	})
}

// newContact is the body of POST /v1/:phone_number_id/contacts.
type newContact struct {
	PhoneNumber *string          `json:"phone_number"`
	BSUID       *string          `json:"bsuid"`
	Username    *string          `json:"username"`
	Name        *string          `json:"name"`
	Email       *string          `json:"email"`
	Metadata    *json.RawMessage `json:"metadata"`
	OptedIn     bool             `json:"opted_in"`
}

func (c *newContact) Validate() error {
	switch {
	case c.PhoneNumber == nil && c.BSUID == nil:
		return rest.NoneGiven("phone_number", "Provide phone_number, bsuid or both.")
	case c.PhoneNumber != nil && !rest.IsPhone(*c.PhoneNumber):
		return rest.ErrPhone("phone_number")
	case c.BSUID != nil && !contactsheet.IsOwnBSUID(*c.BSUID):
		return rest.Invalid("bsuid", "must be a country code of two letters, a dot and 1 to 128 letters and digits")
	}
	return cmp.Or(
		rest.Optional("username", c.Username, maxContactUsername),
		rest.Optional("name", c.Name, maxContactName),
		rest.CheckEmail(c.Email),
		rest.CheckMetadata(c.Metadata),
	)
}

func (c *newContact) contact(account int64) storage.Contact {
	made := storage.Contact{
		AccountID:       account,
		BSUID:           c.BSUID,
		Username:        c.Username,
		Name:            c.Name,
		NameSetByClient: c.Name != nil,
		Email:           c.Email,
		OptedIn:         c.OptedIn,
	}

	if c.PhoneNumber != nil {
		phone, _ := provider.ParsePhone(*c.PhoneNumber)
		made.PhoneNumber = &phone
	}
	if c.Metadata != nil {
		made.Metadata = rest.Compact(*c.Metadata)
	}

	return made
}

// createContact handles POST /v1/:phone_number_id/contacts.
func (s *Server) createContact(r *rest.Request, in newContact) (rest.Reply, error) {
	return s.LimitMade(r, []rest.Made{{What: "contacts", N: 1, ADay: contactsADay}}, func() (rest.Reply, error) {
		return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
			return insertContact(tx, r, in.contact(r.Account.ID))
		})
	})
}

func insertContact(tx *storage.Tx, r *rest.Request, c storage.Contact) (rest.Reply, error) {
	if err := checkNewContact(&tx.Rx, c); err != nil {
		return rest.Reply{}, err
	}

	if err := tx.InsertContact(&c); err != nil {
		return rest.Reply{}, err
	}
	if err := event.ContactCreated(subject(r), c).Emit(tx); err != nil {
		return rest.Reply{}, err
	}

	rep, err := ShowContact(&tx.Rx, c)
	return rest.Created(rep.Data), err
}

// checkNewContact refuses a contact whose number or BSUID the account has already.
func checkNewContact(rx *storage.Rx, c storage.Contact) error {
	refuseKnown := func(param string, value *string, find func(int64, string) (storage.Contact, error)) error {
		if value == nil {
			return nil
		}
		switch _, err := find(c.AccountID, *value); {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		return rest.FailAt(rest.ContactAlreadyExists, param, "This number already has a contact with that "+param+".")
	}

	return cmp.Or(refuseKnown("phone_number", c.PhoneNumber, rx.ContactByPhone), refuseKnown("bsuid", c.BSUID, rx.ContactByBSUID))
}

var contactIn = rest.OfNumber(storage.PrefixContact, (*storage.Rx).Contact)

// updateContact handles PATCH /v1/:phone_number_id/contacts/:id.
func (s *Server) updateContact(r *rest.Request, in contactChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, contactIn, func(tx *storage.Tx, c storage.Contact) (rest.Reply, error) {
		if err := changeContact(tx, subject(r), &c, in); err != nil {
			return rest.Reply{}, err
		}

		return ShowContact(&tx.Rx, c)
	})
}

// deleteContact handles DELETE /v1/:phone_number_id/contacts/:id. The messages of the
// contact are deleted first, in many small transactions, because there may be very
// many. A client that disconnects does not stop that half-way.
func (s *Server) deleteContact(r *rest.Request) (rest.Reply, error) {
	if _, err := rest.Find(s.Server, r, contactIn); err != nil {
		return rest.Reply{}, err
	}

	id := r.Param("id")
	r.DetachContext()
	if err := jobs.DeleteContactMessages(r.HTTP.Context(), s.DB, r.Account.ID, id); err != nil {
		return rest.Reply{}, err
	}
	// Of the bodies in the API log it is not known which hold words of the contact: they may be
	// cut, or name it in any form. So all of the number go, those that wait to be written too.
	if err := s.APILog.Flush(r.HTTP.Context()); err != nil {
		return rest.Reply{}, err
	}
	if err := jobs.DeleteLoggedBodies(r.HTTP.Context(), s.DB, r.Account.ID); err != nil {
		return rest.Reply{}, err
	}
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		return rest.Deleted("contact", id), jobs.DeleteContact(tx, r.Account.ID, id)
	})
}
