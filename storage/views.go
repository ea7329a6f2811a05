package storage

import "confab/storage/sqlite"

// View is a list of conversations that somebody saved under a name.
type View struct {
	ID             string  `db:"id" json:"id"`
	OrganizationID int64   `db:"organization_id" json:"-"`
	Name           string  `db:"name" json:"name"`
	Shared         bool    `db:"shared" json:"shared"`
	OwnerID        *string `db:"owner_id" json:"owner_id"` // nil: made with an API key
	AccountID      *int64  `db:"account_id" json:"-"`
	PhoneNumberID  *string `db:"phone_number_id" json:"phone_number_id"` // of the account
	Filter         JSON    `db:"filter" json:"filter"`
	Sort           *string `db:"sort" json:"sort"`
	CreatedAt      Time    `db:"created_at" json:"created_at"`
	UpdatedAt      Time    `db:"updated_at" json:"updated_at"`
}

const (
	viewColumns = `w.id, w.organization_id, w.owner_id, w.account_id, a.phone_number_id, w.name, w.shared, w.filter, w.sort,
	w.created_at, w.updated_at`
	viewJoins = `LEFT JOIN accounts a ON a.id = w.account_id`
)

// View finds a shared view of an organization, or a user's own; "" is the user of a key.
func (rx *Rx) View(organization int64, id string, user string) (View, error) {
	return get[View](rx, `
		SELECT `+viewColumns+`
		FROM views w `+viewJoins+`
		WHERE w.id = ? AND w.organization_id = ? AND (w.shared = 1 OR w.owner_id = ?)`, id, organization, user)
}

// Views lists shared views and a user's own, newest first, as sqlite.FindPage does.
func (rx *Rx) Views(organization int64, user string, after After, limit int) ([]View, After, error) {
	q := sqlite.ListQuery{
		Columns: viewColumns,
		Table:   "views w",
		Index:   "views_of_organization",
		Joins:   viewJoins,
		Key:     "w.created_at",
		ID:      "w.id",
	}
	q.ByIndex("w.organization_id = ?", true, organization)
	q.Filter("(w.shared = 1 OR w.owner_id = ?)", true, user)
	return sqlite.FindPage[View](&rx.Rx, q, after, limit)
}

// CountViews counts an organization's shared views, and those that only a user sees.
func (rx *Rx) CountViews(organization int64, user string) (shared, own int, err error) {
	err = rx.Scan([]any{&shared, &own}, `
		SELECT count(CASE WHEN shared = 1 THEN 1 END), count(CASE WHEN shared = 0 AND owner_id = ? THEN 1 END)
		FROM views INDEXED BY views_of_organization
		WHERE organization_id = ?`, user, organization)
	return shared, own, err
}

// InsertView stores a new view and fills in its id and times.
func (tx *Tx) InsertView(v *View) error {
	v.ID = tx.NewID(PrefixView)
	v.CreatedAt, v.UpdatedAt = tx.Order, tx.Order
	err := tx.InsertRow("views", "id, organization_id, owner_id, account_id, name, shared, filter, sort, created_at, updated_at", v)
	return tx.hint(err, HintView, Scope{Organization: v.OrganizationID}, v.ID)
}

// UpdateView stores what can change of a view.
func (tx *Tx) UpdateView(v *View) error {
	v.UpdatedAt = tx.Order
	err := tx.UpdateRow("views", "account_id, name, shared, filter, sort, updated_at", "id, organization_id", v)
	return tx.hint(err, HintView, Scope{Organization: v.OrganizationID}, v.ID)
}

// DeleteView deletes a view of an organization.
func (tx *Tx) DeleteView(organization int64, id string) error {
	err := tx.ExecOne(`DELETE FROM views WHERE id = ? AND organization_id = ?`, id, organization)
	return tx.hint(err, HintView, Scope{Organization: organization}, id)
}
