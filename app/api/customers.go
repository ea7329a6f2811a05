package api

import (
	"encoding/json"
	"fmt"

	"confab/jobs"
	"confab/jobs/event"
	"confab/storage"
)

const maxCustomerName = 200

// customerDetail is a customer with its numbers. Only GET of a single customer shows
// it.
type customerDetail struct {
	event.CustomerData
	Accounts []customerAccount `json:"whatsapp_accounts"`
}

type customerAccount struct {
	PhoneNumberID *string      `json:"phone_number_id"`
	PhoneNumber   *string      `json:"phone_number"`
	Name          *string      `json:"name"`
	Status        string       `json:"status"`
	OnboardedAt   storage.Time `json:"onboarded_at"`
}

func viewCustomerDetail(c storage.Customer, accounts []storage.Account) customerDetail {
	view := customerDetail{event.ViewCustomer(c), make([]customerAccount, len(accounts))}
	for i, a := range accounts {
		view.Accounts[i] = customerAccount{a.PhoneNumberID, a.PhoneNumber, a.Name, a.Status, a.OnboardedAt}
	}
	return view
}

// customerFilters reads the filters of the list of customers.
func customerFilters(r *request) (storage.CustomerFilter, error) {
	q := filters{values: r.query()}
	f := storage.CustomerFilter{
		Status: q.oneOf("status", storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended,
			storage.CustomerArchived, "all"),
		Email:  q.text("email", storage.MaxEmail),
		Search: q.text("search", 200),
	}

	if f.Status == "all" {
		f.Status, f.Archived = "", true
	}

	return f, q.err
}

// listCustomers handles GET /v1/customers.
func (s *Server) listCustomers(r *request) (reply, error) {
	f, err := customerFilters(r)
	if err != nil {
		return reply{}, err
	}

	return listOf(s, r, lister[storage.Customer, event.CustomerData]{
		scope: fmt.Sprintf("customers %#v", f),
		read: func(rx *storage.Rx, q *listQuery) ([]storage.Customer, storage.After, error) {
			return rx.Within(q.budget).Customers(r.org.ID, f, q.after, q.fetch())
		},
		key:  func(c storage.Customer) storage.After { return storage.After{Key: c.CreatedAt, ID: c.ID} },
		view: event.ViewCustomer,
	})
}

// newCustomer is the body of POST /v1/customers.
type newCustomer struct {
	TeamID   *string          `json:"team_id"`
	Name     *string          `json:"name"`
	Email    *string          `json:"email"`
	Metadata *json.RawMessage `json:"metadata"`
}

func (c *newCustomer) validate() error {
	switch {
	case c.Name == nil:
		return missing("name")
	case !between(*c.Name, 1, maxCustomerName):
		return invalid("name", lengthRule(1, maxCustomerName))
	case c.Email != nil && !storage.ValidEmail(*c.Email):
		return errEmail()
	case c.TeamID != nil && *c.TeamID == "":
		return invalid("team_id", "must not be empty")
	case c.Metadata != nil:
		return checkMetadata(*c.Metadata)
	}
	return nil
}

// createCustomer handles POST /v1/customers.
func (s *Server) createCustomer(r *request) (reply, error) {
	var in newCustomer
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return s.update(r, func(tx *storage.Tx) (reply, error) {
		team, err := chooseTeam(&tx.Rx, r.org.ID, in.TeamID)
		if err != nil {
			return reply{}, err
		}

		c := storage.Customer{
			OrganizationID: r.org.ID,
			TeamID:         team.ID,
			TeamPublicID:   team.PublicID,
			Name:           *in.Name,
			Email:          in.Email,
		}
		if in.Metadata != nil {
			c.Metadata = compact(*in.Metadata)
		}

		if err := tx.InsertCustomer(&c); err != nil {
			return reply{}, err
		}

		return created(event.ViewCustomer(c)), event.CustomerCreated(c).Emit(tx)
	})
}

// customerIn finds the customer in the path.
func customerIn(rx *storage.Rx, r *request) (storage.Customer, error) {
	return inPath(r, "id", storage.PrefixCustomer, r.org.ID, rx.Customer)
}

// getCustomer handles GET /v1/customers/:id.
func (s *Server) getCustomer(r *request) (reply, error) {
	return showFound(s, r, customerIn, func(rx *storage.Rx, c storage.Customer) (reply, error) {
		accounts, err := rx.CustomerAccounts(c.ID)
		return ok(viewCustomerDetail(c, accounts)), err
	})
}

// customerChanges is the body of PATCH /v1/customers/:id.
type customerChanges struct {
	Name     patch[string]          `json:"name"`
	Email    patch[string]          `json:"email"`
	Metadata patch[json.RawMessage] `json:"metadata"`
	Status   patch[string]          `json:"status"`
}

func (c *customerChanges) validate() error {
	switch {
	case !c.Name.Set && !c.Email.Set && !c.Metadata.Set && !c.Status.Set:
		return &Error{Code: MissingRequiredField, Param: "name", Message: "Give name, email, metadata, status or several of them."}
	case c.Name.Null:
		return invalid("name", "cannot be null")
	case c.Name.Set && !between(c.Name.Value, 1, maxCustomerName):
		return invalid("name", lengthRule(1, maxCustomerName))
	case c.Email.given() && !storage.ValidEmail(c.Email.Value):
		return errEmail()
	case c.Status.Set:
		switch c.Status.Value {
		case storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended:
		default:
			return invalid("status", "must be pending, active or suspended; DELETE archives a customer")
		}
	}

	if c.Metadata.given() {
		return checkMetadata(c.Metadata.Value)
	}
	return nil
}

// apply makes the changes, and tells whether there were any.
func (c *customerChanges) apply(to *storage.Customer) bool {
	before := *to

	if c.Name.Set {
		to.Name = c.Name.Value
	}
	if c.Email.Set {
		to.Email = c.Email.orNil()
	}
	if c.Metadata.Set {
		to.Metadata = nil
		if !c.Metadata.Null {
			to.Metadata = compact(c.Metadata.Value)
		}
	}
	if c.Status.Set {
		to.Status = c.Status.Value
	}

	return before.Name != to.Name || before.Status != to.Status ||
		!sameText(before.Email, to.Email) || !before.Metadata.Equal(to.Metadata)
}

// updateCustomer handles PATCH /v1/customers/:id.
func (s *Server) updateCustomer(r *request) (reply, error) {
	var in customerChanges
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	return updateFound(s, r, customerIn, func(tx *storage.Tx, c storage.Customer) (reply, error) {
		if in.Status.Set && c.Status == storage.CustomerArchived {
			return reply{}, invalid("status", "cannot be changed while the customer is archived")
		}

		before := c
		if !in.apply(&c) {
			return ok(event.ViewCustomer(before)), nil
		}

		if err := tx.UpdateCustomer(&c); err != nil {
			return reply{}, err
		}

		return ok(event.ViewCustomer(c)), event.CustomerUpdated(c).Emit(tx)
	})
}

// archiveCustomer handles DELETE /v1/customers/:id.
func (s *Server) archiveCustomer(r *request) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		c, err := customerIn(&tx.Rx, r)
		if err != nil || c.Status == storage.CustomerArchived {
			return ok(event.ViewCustomer(c)), err
		}

		if err := tx.ArchiveCustomer(&c); err != nil {
			return reply{}, err
		}

		return ok(event.ViewCustomer(c)), event.CustomerArchived(c).Emit(tx)
	})
}

// restoreCustomer handles POST /console/api/customers/:id/restore.
func (s *Server) restoreCustomer(r *request) (reply, error) {
	return s.update(r, func(tx *storage.Tx) (reply, error) {
		c, err := customerIn(&tx.Rx, r)
		if err != nil || c.Status != storage.CustomerArchived {
			rep := ok(event.ViewCustomer(c))
			rep.unchanged = true
			return rep, err
		}

		if err := tx.RestoreCustomer(&c); err != nil {
			return reply{}, err
		}

		return ok(event.ViewCustomer(c)), event.CustomerUpdated(c).Emit(tx)
	})
}

// disconnectedView is the reply to a disconnection.
type disconnectedView struct {
	PhoneNumberID string `json:"phone_number_id"`
	Object        string `json:"object"`
	Disconnected  bool   `json:"disconnected"`
}

// disconnectAccount handles DELETE /v1/customers/:id/whatsapp_accounts/:phone_number_id.
func (s *Server) disconnectAccount(r *request) (reply, error) {
	return updateFound(s, r, customerIn, func(tx *storage.Tx, c storage.Customer) (reply, error) {
		a, err := tx.AccountByNumber(r.param("phone_number_id"))
		if err != nil {
			return reply{}, err
		}
		if a.CustomerID == nil || *a.CustomerID != c.ID {
			return reply{}, notFound()
		}

		if err := tx.RemoveAccount(a.ID, "The account was disconnected through the API."); err != nil {
			return reply{}, err
		}

		return ok(disconnectedView{*a.PhoneNumberID, "whatsapp_account", true}), jobs.EnqueueAccountRemoval(tx, a)
	})
}
