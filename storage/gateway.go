package storage

import "time"

// GatewaySend is what is kept of a message of a gateway's client: its tag, and the answer to it.
type GatewaySend struct {
	Tag         *string `db:"tag"`
	Status      int     `db:"status"` // of the answer; 0 for none
	ContentType string  `db:"content_type"`
	Answer      []byte  `db:"answer"`
}

// GatewaySend finds what is kept of a message of an account.
func (rx *Rx) GatewaySend(account int64, message string) (GatewaySend, error) {
	return get[GatewaySend](rx, `
		SELECT s.tag, s.status, s.content_type, s.answer
		FROM messages m JOIN gateway_sends s ON s.message = m.number
		WHERE m.account_id = ? AND m.id = ?`, account, message)
}

// InsertGatewaySend keeps the tag of a message, and makes room for the answer.
func (tx *Tx) InsertGatewaySend(m Message, tag *string) error {
	return tx.Run(`INSERT INTO gateway_sends (message, tag) VALUES (?, ?)`, m.Number, tag)
}

// SaveGatewayAnswer keeps what the provider answered, if there is room for it.
func (tx *Tx) SaveGatewayAnswer(m Message, s GatewaySend) error {
	return tx.Run(`
		UPDATE gateway_sends
		SET status = ?1, content_type = ?2, answer = ?3
		WHERE message = ?4 AND EXISTS (SELECT 1 FROM messages WHERE number = ?4 AND id = ?5)`,
		s.Status, s.ContentType, s.Answer, m.Number, m.ID)
}

// GatewayMedia finds the account, of those that a key has, that knows a file by the provider's id.
func (rx *Rx) GatewayMedia(organization int64, of Accounts, id string) (Account, error) {
	return rx.accountThatHas(`SELECT account_id FROM gateway_media WHERE id = ?1`, id, organization, of)
}

// GatewayTemplate is GatewayMedia for a template.
func (rx *Rx) GatewayTemplate(organization int64, of Accounts, id string) (Account, error) {
	return rx.accountThatHas(`SELECT account_id FROM templates WHERE provider_template_id = ?1`, id, organization, of)
}

func (rx *Rx) accountThatHas(object, id string, organization int64, of Accounts) (Account, error) {
	return get[Account](rx, selectAccounts+`
		WHERE id IN (`+object+`) AND organization_id = ?2 AND deleted_at = 0
			AND (json_array_length(?3) = 0 OR id IN (SELECT value FROM json_each(?3)))
		ORDER BY id
		LIMIT 1`, id, organization, of)
}

// InsertGatewayMedia notes that an account knows a file by the provider's id.
func (tx *Tx) InsertGatewayMedia(account int64, id string) error {
	return tx.Run(`
		INSERT INTO gateway_media (account_id, id, created_at) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET created_at = excluded.created_at`, account, id, tx.Now)
}

// DeleteGatewayMedia forgets a file that was deleted at the provider.
func (tx *Tx) DeleteGatewayMedia(id string) error {
	return tx.Run(`DELETE FROM gateway_media WHERE id = ?`, id)
}

// gatewayMediaKept is as long as the provider keeps a file.
const gatewayMediaKept = 30 * 24 * time.Hour

// DeleteOldGatewayMedia forgets up to limit files that the provider no longer has at now.
func (tx *Tx) DeleteOldGatewayMedia(now Time, limit int) (int64, error) {
	return tx.deleteSome("gateway_media", "account_id, id", "created_at <= ? ORDER BY created_at", now.Add(-gatewayMediaKept), limit)
}
