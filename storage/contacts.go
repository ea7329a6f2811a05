package storage

import (
	"cmp"
	"errors"

	"confab/storage/sqlite"
)

// Contact is a person, as one account knows it.
type Contact struct {
	ID                string  `db:"id"`
	AccountID         int64   `db:"account_id"`
	PhoneNumber       *string `db:"phone_number"` // E.164
	BSUID             *string `db:"bsuid"`
	ParentBSUID       *string `db:"parent_bsuid"`
	Username          *string `db:"username"`
	Name              *string `db:"name"`
	NameSetByClient   bool    `db:"name_is_ours"` // given through the API: profile names no longer replace it
	Email             *string `db:"email"`
	Metadata          JSON    `db:"metadata"`
	MarketingOptedOut bool    `db:"marketing_opted_out"`
	OptedIn           bool    `db:"opted_in"`
	OptedOutByWord    bool    `db:"opted_out_by_word"` // MarketingOptedOut is what a stop word set
	CreatedAt         Time    `db:"created_at"`
	UpdatedAt         Time    `db:"updated_at"`
}

// contactColumns are all columns of a contact. This is the only list of them that
// is read: UpdateContact writes every one back, so that one which a second list
// forgot would be erased by the next change.
const contactColumns = `c.id, c.account_id, c.phone_number, c.bsuid, c.parent_bsuid, c.username, c.name, c.name_is_ours,
	c.email, c.metadata,
	c.marketing_opted_out, c.opted_in, c.opted_out_by_word, c.created_at, c.updated_at`

// Fields are where contactColumns go.
func (c *Contact) Fields() []any {
	return []any{
		&c.ID, &c.AccountID, &c.PhoneNumber, &c.BSUID, &c.ParentBSUID, &c.Username, &c.Name, &c.NameSetByClient, &c.Email, &c.Metadata,
		&c.MarketingOptedOut, &c.OptedIn, &c.OptedOutByWord, &c.CreatedAt, &c.UpdatedAt,
	}
}

func (rx *Rx) contact(tables, conditions string, args ...any) (c Contact, err error) {
	err = rx.Scan(c.Fields(), `SELECT `+contactColumns+` FROM `+tables+` WHERE `+conditions, args...)
	return c, err
}

// Contact finds a contact of an account.
func (rx *Rx) Contact(account int64, id string) (Contact, error) {
	return rx.contact(`contacts c`, `c.id = ? AND c.account_id = ?`, id, account)
}

// ContactOfOrganization finds a contact of any live account of an organization.
func (rx *Rx) ContactOfOrganization(organization int64, id string) (Contact, error) {
	return rx.contact(`contacts c JOIN accounts a ON a.id = c.account_id`,
		`c.id = ? AND a.organization_id = ? AND a.deleted_at = 0`, id, organization)
}

// ContactsByID finds those of some contacts that belong to an account, oldest first.
func (rx *Rx) ContactsByID(account int64, ids []string) ([]Contact, error) {
	return sqlite.ScanAll(&rx.Rx, (*Contact).Fields, `
		SELECT `+contactColumns+`
		FROM json_each(?) wanted CROSS JOIN contacts c ON c.id = wanted.value
		WHERE c.account_id = ?
		ORDER BY c.id`, jsonList(ids), account)
}

// ContactByPhone finds a contact by its number in E.164, or by an alias.
func (rx *Rx) ContactByPhone(account int64, phone string) (Contact, error) {
	return rx.contact(`contacts c`, withPhone, account, phone)
}

// ContactByBSUID finds a contact by its business-scoped user id.
func (rx *Rx) ContactByBSUID(account int64, bsuid string) (Contact, error) {
	return rx.contact(`contacts c`, withBSUID, account, bsuid)
}

// ContactFilter narrows a list of contacts. Zero fields choose everything.
type ContactFilter struct {
	PhoneNumber  string // E.164, or an alias
	BSUID        string
	Username     string // without regard to case
	Email        string // without regard to case
	LabelID      string
	Search       string // part of the name, email, username or number, without regard to case
	UpdatedSince Time   // strict
}

// Contacts lists an account's contacts, newest first, as sqlite.FindPage does.
func (rx *Rx) Contacts(account int64, f ContactFilter, after After, limit int) ([]Contact, After, error) {
	return sqlite.FindPage[Contact](&rx.Rx, f.listQuery(account), after, limit)
}

// ListQuery lets an index find the contacts: the first that suits, which finds the fewest.
func (f ContactFilter) listQuery(account int64) sqlite.ListQuery {
	q := sqlite.ListQuery{Columns: contactColumns, Table: "contacts c", Key: "c.created_at", ID: "c.id"}

	// The first of these that is asked for chooses the index; the others are held
	// against each row.
	if f.PhoneNumber != "" {
		q.Index = "contacts_phone"
		q.ByIndex(`c.phone_number = coalesce((
			SELECT o.phone_number FROM contact_aliases x JOIN contacts o ON o.id = x.contact_id
			WHERE x.account_id = ? AND x.phone_number = ?), ?)`, true, account, f.PhoneNumber, f.PhoneNumber)
	}
	for _, exact := range []struct{ index, condition, value string }{
		{"contacts_bsuid", "c.bsuid = ?", f.BSUID},
		{"contacts_by_email", "c.email = ? COLLATE NOCASE", f.Email},
		{"contacts_by_username", "c.username = ? COLLATE NOCASE", f.Username},
	} {
		switch {
		case exact.value == "":
		case q.Index == "":
			q.Index = exact.index
			q.ByIndex(exact.condition, true, exact.value)
		default:
			q.Filter(exact.condition, true, exact.value)
		}
	}

	// A label alone has an index of its own, in the order of the list.
	if q.Index == "" && f.LabelID != "" {
		q.Index, q.Table, q.Joins = "contact_labels_by_label", "contact_labels j", "JOIN contacts c ON c.id = j.contact_id"
		q.Key, q.ID = "j.contact_created_at", "j.contact_id"
		q.ByIndex("j.label_id = "+liveLabel, true, f.LabelID)
		q.ByIndex("j.account_id = ?", true, account)
	} else {
		q.Index = cmp.Or(q.Index, "contacts_of_account")
		q.ByIndex("c.account_id = ?", true, account)
		q.Filter("EXISTS (SELECT 1 FROM contact_labels WHERE contact_id = c.id AND label_id = "+liveLabel+")", f.LabelID != "", f.LabelID)
	}

	q.Filter("c.updated_at > ?", f.UpdatedSince != 0, f.UpdatedSince)
	q.Filter("matches(?, c.name, c.email, c.username, c.phone_number)", f.Search != "", Fold(f.Search))
	return q
}

const changeableOfContact = "phone_number, bsuid, parent_bsuid, username, name, name_is_ours, email, metadata, " +
	"marketing_opted_out, opted_in, opted_out_by_word, updated_at"

// InsertContact stores a new contact. ErrConflict: the account knows the number or the BSUID.
func (tx *Tx) InsertContact(c *Contact) error {
	c.ID = tx.NewID(PrefixContact)
	c.CreatedAt, c.UpdatedAt = tx.Order, tx.Order

	err := tx.InsertRow("contacts", "id, account_id, created_at, "+changeableOfContact, c)
	return tx.hint(err, HintContact, Scope{Account: c.AccountID}, c.ID)
}

// errPartialContact refuses to store a contact of which only some columns were
// read, as those of a Recipient: the others would be erased.
var errPartialContact = errors.New("the contact was not read as a whole, so it cannot be stored")

// UpdateContact stores all that can change of a contact. Its conversation shows
// name and number, and counts as updated with them. ErrConflict means that the
// account has another contact of that number or BSUID.
func (tx *Tx) UpdateContact(c *Contact) error {
	if c.CreatedAt == 0 {
		return errPartialContact
	}

	n, err := tx.Exec(`
		UPDATE conversations
		SET updated_at = ?
		WHERE contact_id = ? AND EXISTS (SELECT 1 FROM contacts WHERE id = ? AND (name IS NOT ? OR phone_number IS NOT ?))`,
		tx.Order, c.ID, c.ID, c.Name, c.PhoneNumber)
	if n > 0 {
		err = tx.hint(err, HintConversation, Scope{Account: c.AccountID}, "")
	}
	if err != nil {
		return err
	}

	c.UpdatedAt = tx.Order
	err = tx.UpdateRow("contacts", changeableOfContact, "id, account_id", c)
	return tx.hint(err, HintContact, Scope{Account: c.AccountID}, c.ID)
}

// MarkOptedOut records that a contact takes no more marketing, as the provider says.
func (tx *Tx) MarkOptedOut(contact string) error {
	err := tx.ExecOne(`
		UPDATE contacts
		SET marketing_opted_out = 1, opted_out_by_word = 0, updated_at = ?
		WHERE id = ?`, tx.Order, contact)
	return tx.hint(err, HintContact, Scope{}, contact)
}

// MessagesOfContact lists up to limit of a contact's messages, oldest first.
func (rx *Rx) MessagesOfContact(contact string, after Row, limit int) ([]Row, error) {
	return list[Row](rx, `
		SELECT created_at, id FROM messages
		WHERE conversation_id = (SELECT id FROM conversations WHERE contact_id = ?) AND id > ?
		ORDER BY id
		LIMIT ?`, contact, after.ID, limit)
}

// ForgetMessages deletes messages of an account for good, and returns the media that came with
// them. What UnreadLeft has counted is left unread.
func (tx *Tx) ForgetMessages(account int64, rows []Row, unread map[string]UnreadCount) ([]Media, error) {
	// The media is read first, while the messages still lead to it.
	media, err := list[Media](&tx.Rx, selectMedia+`
		WHERE origin = 'message' AND deleted_at = 0
			AND id IN (SELECT media_id FROM messages WHERE account_id = ? AND id IN (SELECT value FROM json_each(?)))`,
		account, idList(rows))
	if err != nil {
		return nil, err
	}

	if err := tx.skipForgotten(account, rows); err != nil {
		return nil, err
	}

	waiting, err := tx.waitingAmong(account, rows)
	if err != nil {
		return nil, err
	}

	tx.countDeletion()
	_, err = tx.Exec(`DELETE FROM messages WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`, account, idList(rows))
	if err := tx.hint(err, HintConversation, Scope{Account: account}, ""); err != nil {
		return nil, err
	}
	if err := tx.blankJobs(); err != nil {
		return nil, err
	}
	if err := tx.recountAll(waiting); err != nil {
		return nil, err
	}
	return media, tx.markUnread(unread)
}

// DeleteContact deletes a contact with its conversation and all that is in it.
func (tx *Tx) DeleteContact(account int64, id string) error {
	if err := tx.blankRecipients(account, id); err != nil {
		return err
	}
	if err := tx.blankSpells(id); err != nil {
		return err
	}

	tx.countDeletion()
	_, err := tx.Exec(`
		DELETE FROM messages
		WHERE conversation_id = (SELECT id FROM conversations WHERE contact_id = ? AND account_id = ?)`, id, account)
	if err != nil {
		return err
	}
	if err := tx.ExecOne(`DELETE FROM contacts WHERE id = ? AND account_id = ?`, id, account); err != nil {
		return err
	}
	err = tx.hint(tx.blankJobs(), HintContact, Scope{Account: account}, id)
	return tx.hint(err, HintConversation, Scope{Account: account}, "")
}
