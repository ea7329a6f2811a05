package storage

import (
	"database/sql/driver"
	"encoding/json"
	"slices"
	"time"

	"confab/storage/sqlite"
)

// Rule is what happens by itself when somebody writes or is quiet. The API has the same names.
type Rule struct {
	ID             string         `db:"id" json:"id"`
	OrganizationID int64          `db:"organization_id" json:"-"`
	Position       int            `db:"position" json:"position"` // they run in this order, from 1
	Name           string         `db:"name" json:"name"`
	Enabled        bool           `db:"enabled" json:"enabled"`
	DisabledReason *string        `db:"disabled_reason" json:"disabled_reason"`
	On             string         `db:"on_event" json:"on"`
	If             RuleConditions `db:"conditions" json:"if"`
	Then           RuleActions    `db:"actions" json:"then"`
	Templates      RuleTemplates  `db:"templates" json:"-"`
	OncePer        string         `db:"once_per" json:"once_per"`
	Stop           bool           `db:"stop" json:"stop"`
	CreatedAt      Time           `db:"created_at" json:"created_at"`
	UpdatedAt      Time           `db:"updated_at" json:"updated_at"`
}

// When a rule is asked, and how often it fires.
const (
	OnMessageReceived    = "message_received"
	OnConversationOpened = "conversation_opened"
	OnConversationIdle   = "conversation_idle"

	OncePerSpell   = "spell" // from a conversation's opening to its resolution
	OncePerDay     = "day"
	OncePerMessage = "message"
)

// RuleConditions must all hold. Those that are absent do.
type RuleConditions struct {
	PhoneNumberIDs []string  `json:"phone_number_ids,omitempty"`
	Text           *RuleText `json:"text,omitempty"`
	Hours          *string   `json:"hours,omitempty"` // open, closed
	FirstContact   *bool     `json:"first_contact,omitempty"`
	LabelID        *string   `json:"label_id,omitempty"`
	Assigned       *bool     `json:"assigned,omitempty"`
	Holder         *string   `json:"holder,omitempty"`
	IdleMinutes    *int      `json:"idle_minutes,omitempty"`
}

// RuleText is what a message must say: any of some words.
type RuleText struct {
	Match *string  `json:"match"` // equals, contains, starts_with
	Any   []string `json:"any"`
}

// RuleAction is one thing that a rule does: exactly one of its fields is set.
type RuleAction struct {
	Reply       *RuleReply    `json:"reply,omitempty"`
	AddLabel    *string       `json:"add_label,omitempty"`
	RemoveLabel *string       `json:"remove_label,omitempty"`
	Assign      *string       `json:"assign,omitempty"`
	Resolve     *bool         `json:"resolve,omitempty"`
	Note        *string       `json:"note,omitempty"`
	HandOver    *RuleHandOver `json:"hand_over,omitempty"`
}

// RuleReply is what a rule sends: exactly one of its fields is set.
type RuleReply struct {
	Text         *string         `json:"text,omitempty"`
	QuickReplyID *string         `json:"quick_reply_id,omitempty"`
	Template     json.RawMessage `json:"template,omitempty"`
}

// RuleHandOver says who holds the conversation from then on.
type RuleHandOver struct {
	To *HolderRef `json:"to"`
}

// RuleTemplate is the template of a reply, as it was checked when the rule was saved.
type RuleTemplate struct {
	Name     string          `json:"name"`
	Language string          `json:"language"`
	Wire     json.RawMessage `json:"wire"` // as it goes to the provider
	Body     *string         `json:"body"` // with its parameters filled in
}

type (
	// RuleActions are done in order.
	RuleActions []*RuleAction
	// RuleTemplates have an entry for each action: nil unless it sends a template.
	RuleTemplates []*RuleTemplate
)

// Value and Scan keep the parts of a rule as JSON.
func (c RuleConditions) Value() (driver.Value, error) { return jsonText(c) }
func (a RuleActions) Value() (driver.Value, error)    { return jsonText(a) }
func (t RuleTemplates) Value() (driver.Value, error)  { return jsonText(t) }

func (c *RuleConditions) Scan(src any) error { return sqlite.ScanJSON(src, c) }
func (a *RuleActions) Scan(src any) error    { return sqlite.ScanJSON(src, a) }
func (t *RuleTemplates) Scan(src any) error  { return sqlite.ScanJSON(src, t) }

func jsonText(v any) (driver.Value, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// ForNumber reports whether the rule is one for a number.
func (r Rule) ForNumber(phoneNumberID string) bool {
	return len(r.If.PhoneNumberIDs) == 0 || slices.Contains(r.If.PhoneNumberIDs, phoneNumberID)
}

const (
	ruleColumns = `id, organization_id, position, name, enabled, disabled_reason, on_event, conditions, actions, templates, ` +
		`once_per, stop, created_at, updated_at`
	selectRules = `SELECT ` + ruleColumns + ` FROM rules `
)

// Rule finds a rule of an organization, with 0 of any.
func (rx *Rx) Rule(organization int64, id string) (Rule, error) {
	return get[Rule](rx, selectRules+`WHERE id = ? AND ? IN (0, organization_id)`, id, organization)
}

// NumbersOf lists the numbers that a rule is for.
func (rx *Rx) NumbersOf(r Rule) ([]Account, error) {
	all, err := list[Account](rx, selectAccounts+`WHERE organization_id = ? AND deleted_at = 0 ORDER BY id`, r.OrganizationID)
	return slices.DeleteFunc(all, func(a Account) bool { return !r.ForNumber(OrEmpty(a.PhoneNumberID)) }), err
}

// RulesOf lists all rules of an organization in their order.
func (rx *Rx) RulesOf(organization int64) ([]Rule, error) {
	return list[Rule](rx, selectRules+`WHERE organization_id = ? ORDER BY position, id`, organization)
}

// AllRules lists the rules of all organizations.
func (rx *Rx) AllRules() ([]Rule, error) {
	return list[Rule](rx, selectRules+`ORDER BY organization_id, position, id`)
}

// InsertRule stores a new rule after all others, and fills in its id, position and times.
func (tx *Tx) InsertRule(r *Rule) error {
	r.ID = tx.NewID(PrefixRule)
	r.CreatedAt, r.UpdatedAt = tx.Order, tx.Order
	last, err := value[int](&tx.Rx, `SELECT coalesce(max(position), 0) FROM rules WHERE organization_id = ?`, r.OrganizationID)
	if err != nil {
		return err
	}

	r.Position = last + 1
	return tx.hint(tx.InsertRow("rules", ruleColumns, r), HintRule, Scope{Organization: r.OrganizationID}, r.ID)
}

// UpdateRule stores all of a rule but its position.
func (tx *Tx) UpdateRule(r *Rule) error {
	r.UpdatedAt = tx.Order
	const changeable = "name, enabled, disabled_reason, on_event, conditions, actions, templates, once_per, stop, updated_at"
	err := tx.UpdateRow("rules", changeable, "id, organization_id", r)
	return tx.hint(err, HintRule, Scope{Organization: r.OrganizationID}, r.ID)
}

// DeleteRule deletes a rule; those after it move up. What it did stays in the traces.
func (tx *Tx) DeleteRule(r Rule) error {
	err := tx.ExecOne(`DELETE FROM rules WHERE id = ? AND organization_id = ?`, r.ID, r.OrganizationID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE rules SET position = position - 1 WHERE organization_id = ? AND position > ?`, r.OrganizationID, r.Position)
	return tx.hint(err, HintRule, Scope{Organization: r.OrganizationID}, r.ID)
}

// ReorderRules gives the rules of an organization the positions of their ids.
func (tx *Tx) ReorderRules(organization int64, ids []string) error {
	err := tx.Run(`
		UPDATE rules
		SET updated_at = CASE position WHEN w.key + 1 THEN updated_at ELSE ?1 END, position = w.key + 1
		FROM json_each(?2) w
		WHERE rules.id = w.value AND organization_id = ?3`, tx.Order, jsonList(ids), organization)
	return tx.hint(err, HintRule, Scope{Organization: organization}, "")
}

// Firing is what a rule did, once. The API shows it with the same names.
type Firing struct {
	ID             string `db:"id" json:"-"`
	RuleID         string `db:"rule_id" json:"rule_id"`
	AccountID      int64  `db:"account_id" json:"-"`
	ConversationID string `db:"conversation_id" json:"conversation_id"`
	MessageID      string `db:"message_id" json:"message_id"`
	Scope          string `db:"scope" json:"-"`
	Actions        JSON   `db:"actions" json:"actions"`
	CreatedAt      Time   `db:"created_at" json:"created_at"`
}

const firingColumns = `f.id, f.rule_id, f.account_id, f.conversation_id, f.message_id, f.scope, f.actions, f.created_at`

// FiringsKept is for how long it is kept what rules did, and longer where that keeps one from firing again.
const FiringsKept = 30 * 24 * time.Hour

// Firings lists what a rule did as long as that is kept, newest first, and says how far it came.
func (rx *Rx) Firings(rule string, after After, limit int) ([]Firing, After, error) {
	q := sqlite.ListQuery{Columns: firingColumns, Table: "rule_firings f", Index: "rule_firings_of_rule", ID: "f.id"}
	q.ByIndex("f.rule_id = ?", true, rule)
	q.End.ID = sqlite.FirstID(PrefixFiring, rx.db.Now().Add(-FiringsKept))
	return sqlite.FindPage[Firing](&rx.Rx, q, after, limit)
}

// FiringsOfMessage lists what rules did because of a message, in their order.
func (rx *Rx) FiringsOfMessage(message string) ([]Firing, error) {
	return list[Firing](rx, `SELECT `+firingColumns+` FROM rule_firings f WHERE f.message_id = ? ORDER BY f.id`, message)
}

// InsertFiring stores what a rule did. ErrConflict means that it did it before in its scope.
func (tx *Tx) InsertFiring(f *Firing) error {
	f.ID, f.CreatedAt = tx.NewID(PrefixFiring), tx.Order
	return tx.InsertRow("rule_firings", "id, rule_id, account_id, conversation_id, message_id, scope, actions, created_at", f)
}

// maxHourly is how often a rule that answers every message does so in a conversation.
const maxHourly = 10

// HasFired reports whether a rule must not fire in a scope of a conversation any more: it has, or it
// has in the spell that has no message before since, or as often as it may in an hour.
func (rx *Rx) HasFired(r Rule, conversation, scope, since string) (bool, error) {
	return value[bool](rx, `
		SELECT total(scope = ?3 OR ?4 = 'spell' AND message_id >= ?5) > 0 OR ?4 = 'message' AND total(created_at >= ?6) >= ?7
		FROM rule_firings
		WHERE conversation_id = ?1 AND rule_id = ?2`,
		conversation, r.ID, scope, r.OncePer, since, rx.db.Now().Add(-time.Hour), maxHourly)
}

// WillBegin reports what a message of a person will do that is not yet recorded in its conversation:
// open it, and be the first that they wrote. Its spell has no message before since.
func (rx *Rx) WillBegin(conversation string) (opens, first bool, since string, err error) {
	err = rx.Scan([]any{&opens, &first, &since}, `
		SELECT last_message_at = 0 OR status = 'resolved', last_inbound_at = 0, waits_from
		FROM conversations
		WHERE id = ?`, conversation)
	return opens, first, since, err
}

// IdleConversation is one in which nothing was said for a while, rules apart.
type IdleConversation struct {
	ID            string `db:"id"`
	AccountID     int64  `db:"account_id"`
	Status        string `db:"status"`
	LastMessageAt Time   `db:"last_message_at"`
	MessageID     string `db:"message_id"` // the last that no rule sent
	Since         string `db:"since"`      // no message of its spell is before this one
}

// lastSpoken is the number of the last message of a conversation v that no rule sent.
const lastSpoken = `(
	SELECT number FROM messages
	WHERE conversation_id = v.id AND source <> 'rule' AND (scheduled_at = 0 OR place IS NOT NULL)
	ORDER BY id DESC
	LIMIT 1)`

// IdleConversations lists up to limit conversations, of the account and in the state of another and after it, in
// which the last message that no rule sent is from before a time, and that meet the conditions of a rule
// that rows can answer. Those in which it has fired since their last resolve, today, or because of the same
// message, as once_per says, are left out.
func (rx *Rx) IdleConversations(r Rule, after IdleConversation, before, today Time, limit int) ([]IdleConversation, error) {
	fired := map[string]string{
		OncePerSpell:   `(f.message_id >= v.waits_from OR f.message_id = m.id)`,
		OncePerDay:     `f.created_at >= ?3`,
		OncePerMessage: `f.message_id = m.id`,
	}[r.OncePer]

	return list[IdleConversation](rx, `
		SELECT v.id, v.account_id, v.status, v.last_message_at, m.id AS message_id, v.waits_from AS since
		FROM conversations v INDEXED BY conversations_by_status CROSS JOIN messages m ON m.number = `+lastSpoken+`
		WHERE v.account_id = ?1 AND v.status = ?9 AND v.last_message_at <= ?2
			AND (v.last_message_at, v.id) > (?10, ?11) AND v.snoozed_until = 0 AND m.created_at <= ?2
			AND (?4 IS NULL OR EXISTS (SELECT 1 FROM conversation_labels WHERE conversation_id = v.id AND label_id = ?4))
			AND (?5 IS NULL OR ?5 = (v.assignee_id IS NOT NULL)) AND (?6 IS NULL OR ?6 = v.holder_type)
			AND NOT EXISTS (SELECT 1 FROM rule_firings f WHERE f.conversation_id = v.id AND f.rule_id = ?7 AND `+fired+`)
		ORDER BY v.last_message_at, v.id
		LIMIT ?8`, after.AccountID, before, today, r.If.LabelID, r.If.Assigned, r.If.Holder, r.ID, limit,
		after.Status, max(after.LastMessageAt, 1), after.ID)
}

// IsIdleSince reports whether nothing has happened since a message that IdleConversations found.
func (rx *Rx) IsIdleSince(found IdleConversation) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM conversations v JOIN messages m ON m.number = `+lastSpoken+`
		WHERE v.id = ? AND m.id = ? AND v.status IN ('open', 'pending') AND v.snoozed_until = 0`, found.ID, found.MessageID)
}

// SilenceAfter is how long after a message the next one came that no rule sent, or until now.
func (rx *Rx) SilenceAfter(m Message) (Time, error) {
	return value[Time](rx, `
		SELECT coalesce((
			SELECT created_at FROM messages
			WHERE conversation_id = ? AND id > ? AND source <> 'rule'
			ORDER BY id
			LIMIT 1), ?) - ?`, m.ConversationID, m.ID, rx.db.Now(), m.CreatedAt)
}

// BeganSpell reports whether a stored message opened its conversation, and was a person's first.
func (rx *Rx) BeganSpell(m Message) (opened, first bool, err error) {
	err = rx.Scan([]any{&opened, &first}, `
		SELECT
			NOT EXISTS (SELECT 1 FROM messages WHERE conversation_id = ?1 AND id < ?2) OR EXISTS (
				SELECT 1 FROM conversation_changes
				WHERE conversation_id = ?1 AND kind = 'reopened' AND actor = 'contact' AND created_at = ?3),
			NOT EXISTS (SELECT 1 FROM messages WHERE conversation_id = ?1 AND id < ?2 AND direction = 'inbound')`,
		m.ConversationID, m.ID, m.CreatedAt)
	return opened, first, err
}
