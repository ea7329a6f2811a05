package storage

import "strings"

// Contact is a person, as one account knows it.
type Contact struct {
	ID                string  `db:"id"`
	AccountID         int64   `db:"account_id"`
	PhoneNumber       *string `db:"phone_number"` // E.164
	BSUID             *string `db:"bsuid"`
	ParentBSUID       *string `db:"parent_bsuid"`
	Username          *string `db:"username"`
	Name              *string `db:"name"`
	Email             *string `db:"email"`
	Metadata          JSON    `db:"metadata"`
	MarketingOptedOut bool    `db:"marketing_opted_out"`
	OptedIn           bool    `db:"opted_in"`
	CreatedAt         Time    `db:"created_at"`
	UpdatedAt         Time    `db:"updated_at"`
}

const contactColumns = `id, account_id, phone_number, bsuid, parent_bsuid, username, name, email, metadata, marketing_opted_out, opted_in, created_at, updated_at`

// Contact finds a contact of an account.
func (rx *Rx) Contact(account int64, id string) (Contact, error) {
	var c Contact
	err := rx.get(&c, `
		SELECT `+contactColumns+`
		FROM contacts
		WHERE id = ? AND account_id = ?`, id, account)
	return c, err
}

// ContactByPhone finds a contact by its number in E.164.
func (rx *Rx) ContactByPhone(account int64, phone string) (Contact, error) {
	var c Contact
	err := rx.get(&c, `
		SELECT `+contactColumns+`
		FROM contacts
		WHERE account_id = ? AND phone_number = ?`, account, phone)
	return c, err
}

// ContactByBSUID finds a contact by its business-scoped user id.
func (rx *Rx) ContactByBSUID(account int64, bsuid string) (Contact, error) {
	var c Contact
	err := rx.get(&c, `
		SELECT `+contactColumns+`
		FROM contacts
		WHERE account_id = ? AND bsuid = ?`, account, bsuid)
	return c, err
}

// foldUsername is the form in which usernames are compared.
func foldUsername(name *string) *string {
	if name == nil {
		return nil
	}
	folded := strings.ToLower(*name)
	return &folded
}

// InsertContact stores a new contact and fills in its id and times. ErrConflict
// means that the account knows the number or the BSUID already.
func (tx *Tx) InsertContact(c *Contact) error {
	c.ID = tx.NewID(PrefixContact)
	c.CreatedAt, c.UpdatedAt = tx.Now, tx.Now
	_, err := tx.exec(`
		INSERT INTO contacts (id, account_id, phone_number, bsuid, parent_bsuid, username, username_folded, name, email, metadata, marketing_opted_out, opted_in, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.AccountID, c.PhoneNumber, c.BSUID, c.ParentBSUID, c.Username, foldUsername(c.Username), c.Name, c.Email, c.Metadata,
		c.MarketingOptedOut, c.OptedIn, c.CreatedAt, c.UpdatedAt)
	return err
}

// MarkOptedOut records that a contact takes no more marketing.
func (tx *Tx) MarkOptedOut(contact string) error {
	return tx.must(`UPDATE contacts SET marketing_opted_out = 1, updated_at = ? WHERE id = ?`, tx.Now, contact)
}
