package storage

import "confab/storage/sqlite"

// What the API shows of a message is less than what is kept of it, and what clients read
// most. The account is the same for all messages of a list, and is not joined to each;
// media only to those that have some.
const (
	shownMessageColumns = `m.number, m.id, m.conversation_id, m.contact_id, m.direction, m.type, m.status, m.source,
		m.provider_id, m.phone_number, m.content, m.context, m.media_status,
		m.error_code, m.error_message, m.error_provider_code, m.is_revoked, m.played_at, m.edited_at, m.created_at, m.updated_at,
		m.sent_by, m.rule_id, m.scheduled_at, m.pricing, coalesce(m.place, m.id),
		c.phone_number, c.bsuid, c.parent_bsuid, c.username, f.url_token, f.mime_type, f.size, f.filename`

	shownMessageJoins = `JOIN contacts c ON c.id = m.contact_id LEFT JOIN media f ON f.id = m.media_id AND f.deleted_at = 0`
)

var shownMessage = `
	SELECT ` + sqlite.Packed(shownMessageColumns) + `
	FROM messages m ` + shownMessageJoins + `
	WHERE m.account_id = ? AND m.id = ?`

// shownFields are where shownMessageColumns go.
func (m *Message) shownFields() []any {
	return []any{
		&m.Number, &m.ID, &m.ConversationID, &m.ContactID, &m.Direction, &m.Type, &m.Status, &m.Source,
		&m.ProviderID, &m.PhoneNumber, &m.Content, &m.Context, &m.MediaStatus,
		&m.ErrorCode, &m.ErrorMessage, &m.ErrorProviderCode, &m.IsRevoked, &m.PlayedAt, &m.EditedAt, &m.CreatedAt, &m.UpdatedAt,
		&m.SentBy, &m.RuleID, &m.ScheduledAt, &m.Pricing, &m.Place,
		&m.ContactPhone, &m.ContactBSUID, &m.ContactParentBSUID, &m.ContactUsername,
		&m.MediaToken, &m.MediaMIMEType, &m.MediaSize, &m.MediaFilename,
	}
}

// ShownMessage finds a message of an account: no more of it than the API shows.
func (rx *Rx) ShownMessage(account int64, id string) (Message, error) {
	all := make([]Message, 1)
	err := rx.ScanPacked(all[0].shownFields(), shownMessage, account, id)
	if err == nil {
		err = rx.setAccount(account, all)
	}
	return all[0], err
}

func (rx *Rx) setAccount(account int64, all []Message) error {
	a, err := rx.AccountSummary(account)
	for i := range all {
		m := &all[i]
		m.AccountID, m.AccountPhone, m.AccountNumberID = account, a.PhoneNumber, a.PhoneNumberID
	}
	return err
}
