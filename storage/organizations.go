package storage

import "errors"

// Organization is a tenant.
type Organization struct {
	ID           int64  `db:"id"`
	PublicID     string `db:"public_id"`
	Name         string `db:"name"`
	Plan         string `db:"plan"`
	Subscription string `db:"subscription"`
	RequireOptIn bool   `db:"require_opt_in"`
	SuspendedAt  Time   `db:"suspended_at"`
	CreatedAt    Time   `db:"created_at"`
	UpdatedAt    Time   `db:"updated_at"`

	// HandoverReturnMinutes is how long a silent person holds a conversation; 0: for ever.
	HandoverReturnMinutes int `db:"handover_return_minutes"`
}

// Subscription states.
const (
	SubscriptionActive   = "active"
	SubscriptionInactive = "inactive"
)

// DefaultTeam is the name of the team that every new organization has.
const DefaultTeam = "Default"

// Status is "suspended" or "active".
func (o Organization) Status() string {
	if o.SuspendedAt != 0 {
		return "suspended"
	}
	return "active"
}

const selectOrganizations = `
	SELECT id, public_id, name, plan, subscription, require_opt_in, suspended_at, created_at, updated_at, handover_return_minutes
	FROM organizations `

// Organization finds an organization by its public id.
func (rx *Rx) Organization(publicID string) (Organization, error) {
	return get[Organization](rx, selectOrganizations+`WHERE public_id = ?`, publicID)
}

// OrganizationByID finds an organization by its key.
func (rx *Rx) OrganizationByID(id int64) (Organization, error) {
	return get[Organization](rx, selectOrganizations+`WHERE id = ?`, id)
}

// Organizations lists all organizations, oldest first.
func (rx *Rx) Organizations() ([]Organization, error) {
	return list[Organization](rx, selectOrganizations+`ORDER BY id`)
}

// ErrNoneNamed means that an organization has to be named, because there is not just one.
var ErrNoneNamed = errors.New("there is not just one organization")

// NamedOrganization finds the organization with an id, or without one the only one there is. The
// errors are ErrNotFound and ErrNoneNamed.
func (rx *Rx) NamedOrganization(publicID string) (Organization, error) {
	if publicID != "" {
		return rx.Organization(publicID)
	}
	all, err := rx.Organizations()
	if err == nil && len(all) != 1 {
		err = ErrNoneNamed
	}
	if err != nil {
		return Organization{}, err
	}
	return all[0], nil
}

// OrganizationIDs lists the public ids of the oldest organizations, as many as limit.
func (rx *Rx) OrganizationIDs(limit int) ([]string, error) {
	return list[string](rx, `SELECT public_id FROM organizations ORDER BY id LIMIT ?`, limit)
}

// OrganizationKeys lists the keys of all organizations, oldest first.
func (rx *Rx) OrganizationKeys() ([]int64, error) {
	return list[int64](rx, `SELECT id FROM organizations ORDER BY id`)
}

// InsertOrganization stores a new organization with its first team, and fills in ids and times.
func (tx *Tx) InsertOrganization(o *Organization) (Team, error) {
	o.PublicID = tx.NewID(PrefixOrganization)
	o.CreatedAt, o.UpdatedAt = tx.Order, tx.Order
	if o.Subscription == "" {
		o.Subscription = SubscriptionActive
	}

	var err error
	o.ID, err = tx.Insert(`
		INSERT INTO organizations (public_id, name, plan, subscription, require_opt_in, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`,
		o.PublicID, o.Name, o.Plan, o.Subscription, o.RequireOptIn, o.CreatedAt, o.UpdatedAt)
	if err != nil {
		return Team{}, err
	}

	team := Team{OrganizationID: o.ID, Name: DefaultTeam}
	return team, tx.InsertTeam(&team)
}

// UpdateOrganization stores every changeable field of o.
func (tx *Tx) UpdateOrganization(o *Organization) error {
	o.UpdatedAt = tx.Order
	const changeable = "name, plan, subscription, require_opt_in, suspended_at, updated_at, handover_return_minutes"
	err := tx.UpdateRow("organizations", changeable, "id", o)
	return tx.hint(err, HintAccount, Scope{Organization: o.ID}, "") // its numbers may send, or may not
}
