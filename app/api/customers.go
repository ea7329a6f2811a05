package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"confab/app/api/rest"
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

// listCustomers handles GET /v1/customers.
func (s *Server) listCustomers(r *rest.Request) (rest.Reply, error) {
	q := rest.Filters{Values: r.Query()}
	f := storage.CustomerFilter{
		Status: q.OneOf("status", storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended,
			storage.CustomerArchived, "all"),
		Email:  q.Text("email", storage.MaxEmail),
		Search: q.Text("search", 200),
	}

	if f.Status == "all" {
		f.Status, f.Archived = "", true
	}

	return rest.ListOf(s.Server, r, rest.Lister[storage.Customer, event.CustomerData]{
		Scope: fmt.Sprintf("customers %#v", f),
		Err:   q.Err,
		Read: func(rx *storage.Rx, q *rest.ListQuery) ([]storage.Customer, storage.After, error) {
			return rx.Within(q.Budget).Customers(r.Org.ID, f, q.After, q.Fetch())
		},
		Key:  func(c storage.Customer) storage.After { return storage.After{Key: c.CreatedAt, ID: c.ID} },
		View: event.ViewCustomer,
	})
}

// newCustomer is the body of POST /v1/customers.
type newCustomer struct {
	TeamID   *string          `json:"team_id"`
	Name     *string          `json:"name"`
	Email    *string          `json:"email"`
	Metadata *json.RawMessage `json:"metadata"`
}

func (c *newCustomer) Validate() error {
	return cmp.Or(
		rest.Required("name", c.Name, maxCustomerName),
		rest.CheckEmail(c.Email),
		checkTeamID(c.TeamID),
		rest.CheckMetadata(c.Metadata),
	)
}

// createCustomer handles POST /v1/customers.
func (s *Server) createCustomer(r *rest.Request, in newCustomer) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		team, err := ChooseTeam(&tx.Rx, r.Org.ID, in.TeamID)
		if err != nil {
			return rest.Reply{}, err
		}

		c := storage.Customer{
			OrganizationID: r.Org.ID,
			TeamID:         team.ID,
			TeamPublicID:   team.PublicID,
			Name:           *in.Name,
			Email:          in.Email,
		}
		if in.Metadata != nil {
			c.Metadata = rest.Compact(*in.Metadata)
		}

		if err := tx.InsertCustomer(&c); err != nil {
			return rest.Reply{}, err
		}

		return rest.Created(event.ViewCustomer(c)), event.Customer(event.TypeCustomerCreated, c).Emit(tx)
	})
}

// CustomerIn finds the customer in the path.
var CustomerIn = rest.OfOrganization(storage.PrefixCustomer, (*storage.Rx).Customer)

func showCustomer(rx *storage.Rx, c storage.Customer) (rest.Reply, error) {
	accounts, err := rx.CustomerAccounts(c.ID)
	view := customerDetail{event.ViewCustomer(c), make([]customerAccount, len(accounts))}
	for i, a := range accounts {
		view.Accounts[i] = customerAccount{a.PhoneNumberID, a.PhoneNumber, a.Name, a.Status, a.OnboardedAt}
	}
	return rest.OK(view), err
}

// customerChanges is the body of PATCH /v1/customers/:id.
type customerChanges struct {
	Name     rest.Patch[string]          `json:"name"`
	Email    rest.Patch[string]          `json:"email"`
	Metadata rest.Patch[json.RawMessage] `json:"metadata"`
	Status   rest.Patch[string]          `json:"status"`
}

func (c *customerChanges) Validate() error {
	if !c.Name.Set && !c.Email.Set && !c.Metadata.Set && !c.Status.Set {
		return rest.NoneGiven("name", "Provide at least one of name, email, metadata and status.")
	}
	return cmp.Or(
		c.Name.NotNull("name"),
		rest.Optional("name", c.Name.OrNil(), maxCustomerName),
		rest.CheckEmail(c.Email.OrNil()),
		c.checkStatus(),
		rest.CheckMetadata(c.Metadata.OrNil()),
	)
}

func (c *customerChanges) checkStatus() error {
	states := []string{storage.CustomerPending, storage.CustomerActive, storage.CustomerSuspended}
	if c.Status.Set && !slices.Contains(states, c.Status.Value) {
		return rest.Invalid("status", "must be pending, active or suspended; DELETE archives a customer")
	}
	return nil
}

// apply makes the changes, and reports whether there were any.
func (c *customerChanges) apply(to *storage.Customer) bool {
	before := *to

	c.Name.Apply(&to.Name)
	c.Email.ApplyOrNil(&to.Email)
	if c.Metadata.Set {
		to.Metadata = rest.Compact(c.Metadata.Value) // nil for null
	}
	c.Status.Apply(&to.Status)

	return before.Name != to.Name || before.Status != to.Status ||
		!storage.SameText(before.Email, to.Email) || !before.Metadata.Equal(to.Metadata)
}

// updateCustomer handles PATCH /v1/customers/:id.
func (s *Server) updateCustomer(r *rest.Request, in customerChanges) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, CustomerIn, func(tx *storage.Tx, c storage.Customer) (rest.Reply, error) {
		if in.Status.Set && c.Status == storage.CustomerArchived {
			return rest.Reply{}, rest.Invalid("status", "cannot be changed while the customer is archived")
		}

		before := c
		if !in.apply(&c) {
			return rest.OK(event.ViewCustomer(before)), nil
		}

		if err := tx.UpdateCustomer(&c); err != nil {
			return rest.Reply{}, err
		}

		return rest.OK(event.ViewCustomer(c)), event.Customer(event.TypeCustomerUpdated, c).Emit(tx)
	})
}

// archiveCustomer handles DELETE /v1/customers/:id.
func (s *Server) archiveCustomer(r *rest.Request) (rest.Reply, error) {
	return s.Update(r, func(tx *storage.Tx) (rest.Reply, error) {
		c, err := CustomerIn(&tx.Rx, r)
		if err != nil || c.Status == storage.CustomerArchived {
			return rest.OK(event.ViewCustomer(c)), err
		}

		if err := tx.ArchiveCustomer(&c); err != nil {
			return rest.Reply{}, err
		}

		return rest.OK(event.ViewCustomer(c)), event.Customer(event.TypeCustomerArchived, c).Emit(tx)
	})
}

// DisconnectedView is the reply to a disconnection.
type DisconnectedView struct {
	PhoneNumberID string `json:"phone_number_id"`
	Object        string `json:"object"`
	Disconnected  bool   `json:"disconnected"`
}

// disconnectAccount handles DELETE /v1/customers/:id/whatsapp_accounts/:phone_number_id.
func (s *Server) disconnectAccount(r *rest.Request) (rest.Reply, error) {
	return rest.UpdateFound(s.Server, r, CustomerIn, func(tx *storage.Tx, c storage.Customer) (rest.Reply, error) {
		a, err := tx.AccountByNumber(r.Param("phone_number_id"))
		if err != nil {
			return rest.Reply{}, err
		}
		if a.CustomerID == nil || *a.CustomerID != c.ID {
			return rest.Reply{}, rest.NotFound()
		}

		if err := tx.RemoveAccount(a.ID, "The account was disconnected through the API."); err != nil {
			return rest.Reply{}, err
		}
		return rest.OK(DisconnectedView{*a.PhoneNumberID, "whatsapp_account", true}), jobs.EnqueueAccountRemoval(tx, a)
	})
}
