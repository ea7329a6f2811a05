package storage

// Who may hold a conversation. While a person or a bot does, no other bot may write in it.
const (
	HolderNone  = "none"
	HolderUser  = "user"
	HolderAgent = "agent" // a bot: keys that were made for the same agent
)

// HolderRef names who holds a conversation: a user by id, nil for whoever has the phone of the
// number, or a bot by its name.
type HolderRef struct {
	Type *string `json:"type"`
	ID   *string `json:"id,omitempty"`
}

// Holder is who holds a conversation, and since when.
type Holder struct {
	Type  string  `json:"type"`
	ID    *string `json:"id"`
	Since Time    `json:"since"`
}

// Is reports whether two are the same, whenever they took it.
func (h Holder) Is(other Holder) bool {
	return h.Type == other.Type && (h.ID == nil) == (other.ID == nil) && OrEmpty(h.ID) == OrEmpty(other.ID)
}

// Statements about holders that messages run: threads in memory know nothing of them.
const (
	setHolder = `
		UPDATE conversations
		SET holder_type = ?, holder_id = ?, holder_since = ?, holder_wrote_at = ?, updated_at = ?
		WHERE id = ?`
	touchHolder = `
		UPDATE conversations
		SET holder_wrote_at = ?
		WHERE id = ?`
)

// HolderOf finds who holds a conversation. A person who was disabled or is silent for long and a bot
// without a key hold nothing, even before the job has come that ends it.
func (rx *Rx) HolderOf(conversation string) (h Holder, err error) {
	err = rx.Scan([]any{&h.Type, &h.ID, &h.Since}, `
		SELECT CASE WHEN `+holds+` THEN v.holder_type ELSE 'none' END, v.holder_id, v.holder_since
		FROM conversations v JOIN accounts a ON a.id = v.account_id JOIN organizations o ON o.id = a.organization_id
		WHERE v.id = ?2`, rx.db.Now(), conversation)
	if h.Type == HolderNone {
		h.ID, h.Since = nil, 0
	}
	return h, err
}

// holds is the condition that the holder of a conversation v, of an account a and an organization o, can
// be one at the time ?1.
const holds = `CASE v.holder_type
	WHEN 'user' THEN (v.holder_id IS NULL OR EXISTS (SELECT 1 FROM users WHERE id = v.holder_id AND disabled_at = 0))
		AND (o.handover_return_minutes = 0 OR v.holder_wrote_at > ?1 - o.handover_return_minutes * 60000)
	WHEN 'agent' THEN EXISTS (
		SELECT 1 FROM api_keys
		WHERE organization_id = a.organization_id AND agent = v.holder_id AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?1))
	ELSE 1 END`

// SetHolder records who holds a conversation from now on.
func (tx *Tx) SetHolder(conversation string, h *Holder) error {
	h.Since = tx.Now
	if h.Type == HolderNone {
		h.Since = 0
	}
	err := tx.ExecOne(setHolder, h.Type, h.ID, h.Since, h.Since, tx.Order, conversation)
	return tx.hint(err, HintConversation, Scope{}, conversation)
}

// TouchHolder records that the person who holds a conversation has written.
func (tx *Tx) TouchHolder(conversation string) error {
	return tx.ExecOne(touchHolder, tx.Now, conversation)
}

// HasAgent reports whether an organization has a live key of a bot.
func (rx *Rx) HasAgent(organization int64, name string) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM api_keys
		WHERE organization_id = ? AND agent = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)`,
		organization, name, rx.db.Now())
}

// HeldConversation is one whose holder holds it no longer.
type HeldConversation struct {
	ID             string `db:"id"`
	AccountID      int64  `db:"account_id"`
	OrganizationID int64  `db:"organization_id"`
	PhoneNumberID  string `db:"phone_number_id"`
}

// LapsedHolders lists up to limit conversations that nobody holds any more: their holder was
// disabled or has no key, or has not written for as long as the organization allows.
func (rx *Rx) LapsedHolders(limit int) ([]HeldConversation, error) {
	return list[HeldConversation](rx, `
		SELECT v.id, v.account_id, a.organization_id, a.phone_number_id
		FROM conversations v INDEXED BY conversations_by_holder
			JOIN accounts a ON a.id = v.account_id JOIN organizations o ON o.id = a.organization_id
		WHERE v.holder_type <> 'none' AND a.deleted_at = 0 AND NOT `+holds+`
		LIMIT ?2`, rx.db.Now(), limit)
}

// merged is what a column about the holder becomes when two conversations, c and other, become one
// that is in the state ?1: nobody holds a resolved one, a person comes before a bot, and else the
// one who has held longer.
func merged(column, none string) string {
	return `CASE
		WHEN ?1 = 'resolved' THEN ` + none + `
		WHEN c.holder_type = 'none' OR other.holder_type <> 'none' AND iif(c.holder_type = other.holder_type,
			other.holder_since < c.holder_since, other.holder_type = 'user') THEN other.` + column + `
		ELSE c.` + column + ` END`
}
