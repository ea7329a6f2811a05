package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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

// contactView is the public shape of a contact.
type contactView struct {
	ID                string                  `json:"id"`
	Object            string                  `json:"object"`
	PhoneNumber       *string                 `json:"phone_number"`
	BSUID             *string                 `json:"bsuid"`
	ParentBSUID       *string                 `json:"parent_bsuid"`
	Username          *string                 `json:"username"`
	Name              *string                 `json:"name"`
	Email             *string                 `json:"email"`
	Metadata          storage.JSON            `json:"metadata"`
	Labels            []storage.AttachedLabel `json:"labels"`
	MarketingOptedOut bool                    `json:"marketing_opted_out"`
	OptedIn           bool                    `json:"opted_in"`
	AccountSummary    chatAccountView         `json:"chat_account"`
	CreatedAt         storage.Time            `json:"created_at"`
	UpdatedAt         storage.Time            `json:"updated_at"`
}

func (v contactView) appendJSON(b []byte) []byte {
	b = appendText(append(b, `{"id":`...), v.ID)
	b = appendText(append(b, `,"object":`...), v.Object)
	b = appendOptional(append(b, `,"phone_number":`...), v.PhoneNumber)
	b = appendOptional(append(b, `,"bsuid":`...), v.BSUID)
	b = appendOptional(append(b, `,"parent_bsuid":`...), v.ParentBSUID)
	b = appendOptional(append(b, `,"username":`...), v.Username)
	b = appendOptional(append(b, `,"name":`...), v.Name)
	b = appendOptional(append(b, `,"email":`...), v.Email)
	b = appendStored(append(b, `,"metadata":`...), v.Metadata)
	b = appendLabels(append(b, `,"labels":`...), v.Labels)

	b = strconv.AppendBool(append(b, `,"marketing_opted_out":`...), v.MarketingOptedOut)
	b = strconv.AppendBool(append(b, `,"opted_in":`...), v.OptedIn)
	b = v.AccountSummary.appendJSON(append(b, `,"chat_account":`...))
	b = v.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = v.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	return append(b, '}')
}

// contactViews reads what a view of some contacts needs beside their rows, with one
// query for all of them, and returns the function that makes each view.
func contactViews(rx *storage.Rx, account int64, contacts ...storage.Contact) (func(storage.Contact) contactView, error) {
	ids := make([]string, len(contacts))
	for i, c := range contacts {
		ids[i] = c.ID
	}

	labels, err := rx.ContactLabels(ids...)
	if err != nil {
		return nil, err
	}

	chat, err := rx.AccountSummary(account)

	return func(c storage.Contact) contactView {
		return contactView{
			ID:                c.ID,
			Object:            "contact",
			PhoneNumber:       c.PhoneNumber,
			BSUID:             c.BSUID,
			ParentBSUID:       c.ParentBSUID,
			Username:          c.Username,
			Name:              c.Name,
			Email:             c.Email,
			Metadata:          c.Metadata,
			Labels:            orEmpty(labels[c.ID]),
			MarketingOptedOut: c.MarketingOptedOut,
			OptedIn:           c.OptedIn,
			AccountSummary:    viewChatAccount(chat),
			CreatedAt:         c.CreatedAt,
			UpdatedAt:         c.UpdatedAt,
		}
	}, err
}

// showContact replies with one contact.
func showContact(rx *storage.Rx, c storage.Contact) (reply, error) {
	view, err := contactViews(rx, c.AccountID, c)
	if err != nil {
		return reply{}, err
	}
	return ok(view(c)), nil
}

// contactFilters reads the filters of a list of contacts.
func contactFilters(r *request) (storage.ContactFilter, error) {
	q := filters{values: r.query()}
	f := storage.ContactFilter{
		PhoneNumber:  q.phone("phone_number", "phone"),
		BSUID:        q.matching("bsuid", provider.BSUID, "must be a business-scoped user id"),
		Username:     q.text("username", maxContactUsername),
		Email:        q.text("email", storage.MaxEmail),
		LabelID:      q.id("label_id", storage.PrefixLabel),
		Search:       q.text("search", maxSearch),
		UpdatedSince: q.after("updated_since"),
	}
	return f, q.err
}

// listContacts handles GET /v1/:phone_number_id/contacts.
func (s *Server) listContacts(r *request) (reply, error) {
	f, err := contactFilters(r)
	if err != nil {
		return reply{}, err
	}

	var view func(storage.Contact) contactView
	return listOf(s, r, lister[storage.Contact, contactView]{
		scope: fmt.Sprintf("contacts %d %#v", r.account.ID, f),
		read: func(rx *storage.Rx, q *listQuery) (rows []storage.Contact, reached storage.After, err error) {
			if rows, reached, err = rx.Within(q.budget).Contacts(r.account.ID, f, q.after, q.fetch()); err == nil {
				view, err = contactViews(rx, r.account.ID, rows...)
			}
			return rows, reached, err
		},
		key:  func(c storage.Contact) storage.After { return storage.After{Key: c.CreatedAt, ID: c.ID} },
		view: func(c storage.Contact) contactView { return view(c) },
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

func (c *newContact) validate() error {
	switch {
	case c.PhoneNumber == nil && c.BSUID == nil:
		return &Error{Code: MissingRequiredField, Param: "phone_number", Message: "Give phone_number, bsuid or both."}
	case c.PhoneNumber != nil && !isPhone(*c.PhoneNumber):
		return errPhone("phone_number")
	case c.BSUID != nil && !isOwnBSUID(*c.BSUID):
		return invalid("bsuid", "must be a country code of two letters, a dot and 1 to 128 letters and digits")
	case c.Username != nil && !between(*c.Username, 1, maxContactUsername):
		return invalid("username", lengthRule(1, maxContactUsername))
	case c.Name != nil && !between(*c.Name, 1, maxContactName):
		return invalid("name", lengthRule(1, maxContactName))
	case c.Email != nil && !storage.ValidEmail(*c.Email):
		return errEmail()
	case c.Metadata != nil:
		return checkMetadata(*c.Metadata)
	}
	return nil
}

// contact is the row that the body asks for.
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
		made.Metadata = compact(*c.Metadata)
	}

	return made
}

// createContact handles POST /v1/:phone_number_id/contacts.
func (s *Server) createContact(r *request) (reply, error) {
	var in newContact
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		c := in.contact(r.account.ID)
		if err := checkNewContact(&tx.Rx, c); err != nil {
			return reply{}, err
		}

		if err := tx.InsertContact(&c); err != nil {
			return reply{}, err
		}
		if err := event.ContactCreated(r.subject(), c).Emit(tx); err != nil {
			return reply{}, err
		}

		rep, err := showContact(&tx.Rx, c)
		return created(rep.data), err
	})
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
		return &Error{Code: ContactAlreadyExists, Param: param, Message: "This number has a contact with that " + param + " already."}
	}

	if err := refuseKnown("phone_number", c.PhoneNumber, rx.ContactByPhone); err != nil {
		return err
	}
	return refuseKnown("bsuid", c.BSUID, rx.ContactByBSUID)
}

// contactIn finds the contact in the path.
func contactIn(rx *storage.Rx, r *request) (storage.Contact, error) {
	return inPath(r, "id", storage.PrefixContact, r.account.ID, rx.Contact)
}

// getContact handles GET /v1/:phone_number_id/contacts/:id.
func (s *Server) getContact(r *request) (reply, error) {
	return showFound(s, r, contactIn, showContact)
}

// getContactByID handles GET /console/api/contacts/:id: one of whichever number of the
// organization.
func (s *Server) getContactByID(r *request) (reply, error) {
	in := func(rx *storage.Rx, r *request) (storage.Contact, error) {
		return inPath(r, "id", storage.PrefixContact, r.org.ID, rx.ContactOfOrganization)
	}
	return showFound(s, r, in, showContact)
}

// updateContact handles PATCH /v1/:phone_number_id/contacts/:id.
func (s *Server) updateContact(r *request) (reply, error) {
	var in contactChanges
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return updateFound(s, r, contactIn, func(tx *storage.Tx, c storage.Contact) (reply, error) {
		if err := changeContact(tx, r.subject(), &c, in); err != nil {
			return reply{}, err
		}

		return showContact(&tx.Rx, c)
	})
}

// deleteContact handles DELETE /v1/:phone_number_id/contacts/:id. The messages of the
// contact are deleted first, in many small transactions, because there may be very
// many. A client that disconnects does not stop that half-way.
func (s *Server) deleteContact(r *request) (reply, error) {
	if _, err := find(s, r, contactIn); err != nil {
		return reply{}, err
	}

	id := r.param("id")
	r.detachContext()
	if err := jobs.DeleteContactMessages(r.http.Context(), s.DB, r.account.ID, id); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		return deleted("contact", id), jobs.DeleteContact(tx, r.account.ID, id)
	})
}
