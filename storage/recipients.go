package storage

// Recipient is a contact as far as sending to it goes, with its conversation.
type Recipient struct {
	Contact
	ConversationID *string // nil while there is none
}

const recipientColumns = `c.id, c.phone_number, c.bsuid, c.parent_bsuid, c.username, c.name, c.marketing_opted_out, c.opted_in, v.id`

const recipientTables = `contacts c LEFT JOIN conversations v ON v.contact_id = c.id`

// RecipientByPhone finds whom to send to by a number in E.164.
func (rx *Rx) RecipientByPhone(account int64, phone string) (Recipient, error) {
	return rx.recipient(account, `
		SELECT `+recipientColumns+`
		FROM `+recipientTables+`
		WHERE c.account_id = ? AND c.phone_number = ?`, phone)
}

// RecipientByBSUID finds whom to send to by a business-scoped user id.
func (rx *Rx) RecipientByBSUID(account int64, bsuid string) (Recipient, error) {
	return rx.recipient(account, `
		SELECT `+recipientColumns+`
		FROM `+recipientTables+`
		WHERE c.account_id = ? AND c.bsuid = ?`, bsuid)
}

// RecipientByParent finds whom to send to by the business-scoped user id of a
// parent portfolio. Of several, the oldest is meant.
func (rx *Rx) RecipientByParent(account int64, parent string) (Recipient, error) {
	return rx.recipient(account, `
		SELECT `+recipientColumns+`
		FROM `+recipientTables+`
		WHERE c.account_id = ? AND c.parent_bsuid = ?
		ORDER BY c.created_at, c.id
		LIMIT 1`, parent)
}

func (rx *Rx) recipient(account int64, query, name string) (Recipient, error) {
	r := Recipient{Contact: Contact{AccountID: account}}
	err := rx.scan([]any{
		&r.ID, &r.PhoneNumber, &r.BSUID, &r.ParentBSUID, &r.Username, &r.Name, &r.MarketingOptedOut, &r.OptedIn, &r.ConversationID,
	}, query, account, name)
	return r, err
}
