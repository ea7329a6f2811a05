package storage

import "confab/storage/sqlite"

// Customer is an end-customer of a platform, with the numbers that it connects by setup links.
type Customer struct {
	ID             string  `db:"id"`
	OrganizationID int64   `db:"organization_id"`
	TeamID         int64   `db:"team_id"`
	TeamPublicID   string  `db:"team_public_id"`
	Name           string  `db:"name"`
	Email          *string `db:"email"`
	Status         string  `db:"status"`
	Metadata       JSON    `db:"metadata"`
	ArchivedAt     Time    `db:"archived_at"`
	CreatedAt      Time    `db:"created_at"`
	UpdatedAt      Time    `db:"updated_at"`
}

// States of a customer.
const (
	CustomerPending   = "pending"
	CustomerActive    = "active"
	CustomerSuspended = "suspended"
	CustomerArchived  = "archived"
)

const (
	customerColumns = `c.id, c.organization_id, c.team_id, t.public_id AS team_public_id,
		c.name, c.email, c.status, c.metadata, c.archived_at, c.created_at, c.updated_at`
	customerJoins   = `JOIN teams t ON t.id = c.team_id`
	selectCustomers = `SELECT ` + customerColumns + ` FROM customers c ` + customerJoins + ` `
)

// Customer finds a customer of an organization.
func (rx *Rx) Customer(organization int64, id string) (Customer, error) {
	return get[Customer](rx, selectCustomers+`WHERE c.id = ? AND c.organization_id = ?`, id, organization)
}

// AnyCustomer finds a customer of any organization, for those who administer them all.
func (rx *Rx) AnyCustomer(id string) (Customer, error) {
	return get[Customer](rx, selectCustomers+`WHERE c.id = ?`, id)
}

// CustomerFilter narrows a list of customers. Zero fields choose everything.
type CustomerFilter struct {
	Status   string // one state
	Archived bool   // archived ones too, where Status is empty
	Email    string
	Search   string // part of the name or the email
}

// Customers lists an organization's customers, newest first, as sqlite.FindPage does.
func (rx *Rx) Customers(organization int64, f CustomerFilter, after After, limit int) ([]Customer, After, error) {
	return sqlite.FindPage[Customer](&rx.Rx, f.listQuery(organization), after, limit)
}

func (f CustomerFilter) listQuery(organization int64) sqlite.ListQuery {
	q := sqlite.ListQuery{
		Columns: customerColumns,
		Table:   "customers c",
		Joins:   customerJoins,
		Key:     "c.created_at",
		ID:      "c.id",
	}
	q.ByIndex("c.organization_id = ?", true, organization)

	switch {
	case f.Email != "":
		q.Index = "customers_by_email"
		q.ByIndex("c.email = ? COLLATE NOCASE", true, f.Email)
		q.Filter("c.status = ?", f.Status != "", f.Status)
	case f.Status != "":
		q.Index = "customers_by_status"
		q.ByIndex("c.status = ?", true, f.Status)
	case f.Archived:
		q.Index = "customers_of_organization"
	default:
		q.Index = "customers_in_use"
	}

	// The index customers_in_use is partial: its condition has to be said.
	if f.Status == "" && !f.Archived {
		q.Where = append(q.Where, "c.status <> 'archived'")
	}

	q.Filter("matches(?, c.name, c.email)", f.Search != "", Fold(f.Search))
	return q
}

// CustomerAccounts lists a customer's live accounts, newest first.
func (rx *Rx) CustomerAccounts(customer string) ([]Account, error) {
	return list[Account](rx, selectAccounts+`WHERE customer_id = ? AND deleted_at = 0 ORDER BY id DESC`, customer)
}

// hintCustomer notes that a customer was changed, which shows with its numbers.
func (tx *Tx) hintCustomer(err error, c *Customer) error {
	return tx.hint(err, HintAccount, Scope{Organization: c.OrganizationID}, "")
}

// InsertCustomer stores a new customer and fills in its id, state and times.
func (tx *Tx) InsertCustomer(c *Customer) error {
	c.ID, c.Status = tx.NewID(PrefixCustomer), CustomerPending
	c.CreatedAt, c.UpdatedAt = tx.Order, tx.Order
	const given = "id, organization_id, team_id, name, email, status, metadata, created_at, updated_at"
	return tx.hintCustomer(tx.InsertRow("customers", given, c), c)
}

// UpdateCustomer stores name, email, state and metadata of c.
func (tx *Tx) UpdateCustomer(c *Customer) error {
	c.UpdatedAt = tx.Order
	return tx.hintCustomer(tx.UpdateRow("customers", "name, email, status, metadata, updated_at", "id, organization_id", c), c)
}

// ArchiveCustomer puts a customer away, and remembers what it was before.
func (tx *Tx) ArchiveCustomer(c *Customer) error {
	c.Status, c.ArchivedAt, c.UpdatedAt = CustomerArchived, tx.Now, tx.Order
	err := tx.ExecOne(`
		UPDATE customers
		SET restore_status = status, status = ?, archived_at = ?, updated_at = ?
		WHERE id = ? AND organization_id = ? AND status <> 'archived'`, c.Status, c.ArchivedAt, c.UpdatedAt, c.ID, c.OrganizationID)
	return tx.hintCustomer(err, c)
}

// RestoreCustomer makes an archived customer what it was before.
func (tx *Tx) RestoreCustomer(c *Customer) error {
	c.ArchivedAt, c.UpdatedAt = 0, tx.Order
	err := tx.Scan([]any{&c.Status}, `
		UPDATE customers
		SET status = coalesce(restore_status, 'pending'), restore_status = NULL, archived_at = 0, updated_at = ?
		WHERE id = ? AND organization_id = ? AND status = 'archived'
		RETURNING status`, c.UpdatedAt, c.ID, c.OrganizationID)
	return tx.hintCustomer(err, c)
}
