package storage

// An alias is a further number by which a contact is found: another form of its own
// number. Some countries have added a digit to their numbers, and the provider writes
// many of these in one form only, no matter which was written to. So a contact has the
// provider's form as its number, which callbacks name, and the forms that clients
// write to as aliases.
//
// A number is one contact's own, or one contact's alias, or neither. A lookup of
// a contact by number finds it by either (withPhone), and stores none under a number
// that finds another; what gives a contact a number that was an alias drops the alias.
// Aliases are deleted with their contact.

// AddAlias lets a contact be found by a further number, whosever alias that was.
func (tx *Tx) AddAlias(c Contact, phone string) error {
	return tx.Run(`
		INSERT INTO contact_aliases (account_id, phone_number, contact_id, created_at)
		VALUES (?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET contact_id = excluded.contact_id`, c.AccountID, phone, c.ID, tx.Now)
}

// DropAlias ends that a number is an alias, if it is one.
func (tx *Tx) DropAlias(account int64, phone string) error {
	return tx.Run(`DELETE FROM contact_aliases WHERE account_id = ? AND phone_number = ?`, account, phone)
}

// DropAliasOf ends that a number is an alias of one contact, if it is.
func (tx *Tx) DropAliasOf(account int64, contact, phone string) error {
	return tx.Run(`
		DELETE FROM contact_aliases
		WHERE account_id = ? AND phone_number = ? AND contact_id = ?`, account, phone, contact)
}

// DropAliases ends all aliases of a contact.
func (tx *Tx) DropAliases(contact string) error {
	return tx.Run(`DELETE FROM contact_aliases WHERE contact_id = ?`, contact)
}
