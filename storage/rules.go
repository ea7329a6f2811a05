package storage

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"slices"
	"time"

	"confab/storage/sqlite"
)

// Rule is what happens by itself when somebody writes, or has been quiet for a while.
type Rule struct {
	ID             string         `db:"id"`
	OrganizationID int64          `db:"organization_id"`
	Position       int            `db:"position"` // they run in this order, from 1
	Name           string         `db:"name"`
	Enabled        bool           `db:"enabled"`
	DisabledReason *string        `db:"disabled_reason"`
	On             string         `db:"on_event"`
	If             RuleConditions `db:"conditions"`
	Then           RuleActions    `db:"actions"`
	Templates      RuleTemplates  `db:"templates"`
	OncePer        string         `db:"once_per"`
	Stop           bool           `db:"stop"`
	CreatedAt      Time           `db:"created_at"`
	UpdatedAt      Time           `db:"updated_at"`
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
	RuleActions []RuleAction
	// RuleTemplates have an entry for each action: nil unless it sends a template.
	RuleTemplates []*RuleTemplate
)

// Value and Scan keep the parts of a rule as JSON.
func (c RuleConditions) Value() (driver.Value, error) { return jsonText(c) }
func (a RuleActions) Value() (driver.Value, error)    { return jsonText(a) }
func (t RuleTemplates) Value() (driver.Value, error)  { return jsonText(t) }

func (c *RuleConditions) Scan(src any) error { return scanJSON(src, c) }
func (a *RuleActions) Scan(src any) error    { return scanJSON(src, a) }
func (t *RuleTemplates) Scan(src any) error  { return scanJSON(src, t) }

func jsonText(v any) (driver.Value, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

func scanJSON(src, into any) error {
	var text JSON
	if err := text.Scan(src); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// ForNumber reports whether the rule is one for a number.
func (r Rule) ForNumber(phoneNumberID string) bool {
	return len(r.If.PhoneNumberIDs) == 0 || slices.Contains(r.If.PhoneNumberIDs, phoneNumberID)
}

const ruleColumns = `id, organization_id, position, name, enabled, disabled_reason, on_event, conditions, actions, templates,
	once_per, stop, created_at, updated_at`

// Rule finds a rule of an organization, with 0 of any.
func (rx *Rx) Rule(organization int64, id string) (Rule, error) {
	return get[Rule](rx, `SELECT `+ruleColumns+` FROM rules WHERE id = ? AND ? IN (0, organization_id)`, id, organization)
}

// NumbersOf lists the numbers that a rule is for.
func (rx *Rx) NumbersOf(r Rule) ([]Account, error) {
	all, err := list[Account](rx, `
		SELECT `+accountColumns+`
		FROM accounts
		WHERE organization_id = ? AND deleted_at = 0
		ORDER BY id`, r.OrganizationID)
	return slices.DeleteFunc(all, func(a Account) bool { return !r.ForNumber(OrEmpty(a.PhoneNumberID)) }), err
}

// RulesOf lists all rules of an organization in their order, with 0 those of all.
func (rx *Rx) RulesOf(organization int64) ([]Rule, error) {
	return list[Rule](rx, `
		SELECT `+ruleColumns+`
		FROM rules
		WHERE ?1 = 0 OR organization_id = ?1
		ORDER BY organization_id, position, id`, organization)
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
	_, err = tx.Exec(`
		INSERT INTO rules (`+ruleColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.OrganizationID, r.Position, r.Name, r.Enabled, r.DisabledReason, r.On, r.If, r.Then, r.Templates,
		r.OncePer, r.Stop, r.CreatedAt, r.UpdatedAt)
	return tx.hint(err, HintRule, Scope{Organization: r.OrganizationID}, r.ID)
}

// UpdateRule stores all of a rule but its position.
func (tx *Tx) UpdateRule(r *Rule) error {
	r.UpdatedAt = tx.Order
	err := tx.ExecOne(`
		UPDATE rules
		SET name = ?, enabled = ?, disabled_reason = ?, on_event = ?, conditions = ?, actions = ?, templates = ?,
			once_per = ?, stop = ?, updated_at = ?
		WHERE id = ? AND organization_id = ?`,
		r.Name, r.Enabled, r.DisabledReason, r.On, r.If, r.Then, r.Templates, r.OncePer, r.Stop, r.UpdatedAt, r.ID, r.OrganizationID)
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
	for i, id := range ids {
		err := tx.ExecOne(`
			UPDATE rules
			SET updated_at = CASE position WHEN ?1 THEN updated_at ELSE ?2 END, position = ?1
			WHERE id = ?3 AND organization_id = ?4`, i+1, tx.Order, id, organization)
		if err != nil {
			return err
		}
	}
	return tx.hint(nil, HintRule, Scope{Organization: organization}, "")
}

// NumberRules are what happens by itself at a number, and what it has for that. Callers share
// it and must not change it.
type NumberRules struct {
	Rules  []Rule // that are enabled and for this number, in their order
	Hours  JSON
	OptOut JSON
}

// Has reports whether any rule is asked in a case.
func (n NumberRules) Has(on string) bool {
	return slices.ContainsFunc(n.Rules, func(r Rule) bool { return r.On == on })
}

// NumberRules finds what happens by itself at a number. Every inbound message asks, so it is
// kept in memory.
func (rx *Rx) NumberRules(account int64) (NumberRules, error) {
	return rx.db.caches.rules.find(rx, account)
}

func (rx *Rx) readNumberRules(account int64) (n NumberRules, err error) {
	var organization int64
	var number *string
	err = rx.Scan([]any{&organization, &number, &n.Hours, &n.OptOut}, `
		SELECT a.organization_id, a.phone_number_id, s.hours, s.opt_out
		FROM accounts a LEFT JOIN number_settings s ON s.account_id = a.id
		WHERE a.id = ?`, account)
	if err != nil {
		return n, err
	}

	all, err := rx.RulesOf(organization)
	n.Rules = slices.DeleteFunc(all, func(r Rule) bool { return !r.Enabled || !r.ForNumber(OrEmpty(number)) })
	return n, err
}

// SetHours stores the hours of a number.
func (tx *Tx) SetHours(account int64, hours JSON) error { return tx.setNumber(account, "hours", hours) }

// SetOptOut stores the opt-out words of a number.
func (tx *Tx) SetOptOut(account int64, words JSON) error {
	return tx.setNumber(account, "opt_out", words)
}

func (tx *Tx) setNumber(account int64, column string, text JSON) error {
	_, err := tx.Exec(`
		INSERT INTO number_settings (account_id, `+column+`) VALUES (?1, ?2)
		ON CONFLICT DO UPDATE SET `+column+` = ?2`, account, text)
	return tx.hint(err, HintAccount, Scope{Account: account}, "")
}

// Firing is what a rule did, once.
type Firing struct {
	ID             string `db:"id"`
	RuleID         string `db:"rule_id"`
	AccountID      int64  `db:"account_id"`
	ConversationID string `db:"conversation_id"`
	MessageID      string `db:"message_id"`
	Scope          string `db:"scope"`
	Actions        JSON   `db:"actions"`
	CreatedAt      Time   `db:"created_at"`
}

const firingColumns = `f.id, f.rule_id, f.account_id, f.conversation_id, f.message_id, f.scope, f.actions, f.created_at`

// Firings lists what a rule did, newest first, and says how far it came.
func (rx *Rx) Firings(rule string, after After, limit int) ([]Firing, After, error) {
	q := sqlite.ListQuery{Columns: firingColumns, Table: "rule_firings f", Index: "rule_firings_of_rule", ID: "f.id"}
	q.ByIndex("f.rule_id = ?", true, rule)
	return sqlite.FindPage[Firing](&rx.Rx, q, after, limit)
}

// FiringsOfMessage lists what rules did because of a message, in their order.
func (rx *Rx) FiringsOfMessage(message string) ([]Firing, error) {
	return list[Firing](rx, `SELECT `+firingColumns+` FROM rule_firings f WHERE f.message_id = ? ORDER BY f.id`, message)
}

// InsertFiring stores what a rule did. ErrConflict means that it did it before in its scope.
func (tx *Tx) InsertFiring(f *Firing) error {
	f.ID, f.CreatedAt = tx.NewID(PrefixFiring), tx.Order
	_, err := tx.Exec(`
		INSERT INTO rule_firings (id, rule_id, account_id, conversation_id, message_id, scope, actions, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		f.ID, f.RuleID, f.AccountID, f.ConversationID, f.MessageID, f.Scope, f.Actions, f.CreatedAt)
	return err
}

// maxHourly is how often a rule that answers every message does so in a conversation.
const maxHourly = 10

// HasFired reports whether a rule must not fire in a scope of a conversation any more: it has, or it
// has since the last resolve, or as often as it may in an hour.
func (rx *Rx) HasFired(r Rule, conversation, scope string) (bool, error) {
	return value[bool](rx, `
		SELECT total(f.scope = ?3 OR ?4 = 'spell' AND f.message_id >= v.waits_from) > 0
			OR ?4 = 'message' AND total(f.created_at >= ?5) >= ?6
		FROM rule_firings f JOIN conversations v ON v.id = f.conversation_id
		WHERE f.conversation_id = ?1 AND f.rule_id = ?2`,
		conversation, r.ID, scope, r.OncePer, rx.db.Now().Add(-time.Hour), maxHourly)
}

// moveFirings moves what rules did in a conversation to another, which it is merged into. Where
// a rule has fired in the same scope of both, both stay.
func (tx *Tx) moveFirings(into, from string) error {
	_, err := tx.Exec(`
		UPDATE rule_firings AS f
		SET conversation_id = ?1, scope = iif(EXISTS (
			SELECT 1 FROM rule_firings o
			WHERE o.conversation_id = ?1 AND o.rule_id = f.rule_id AND o.scope = f.scope), scope || ' ' || id, scope)
		WHERE conversation_id = ?2`, into, from)
	return err
}

// WillBegin reports what a message of a person will do that is not yet recorded in its conversation:
// open it, and be the first that they wrote.
func (rx *Rx) WillBegin(conversation string) (opens, first bool, err error) {
	err = rx.Scan([]any{&opens, &first}, `
		SELECT last_message_at = 0 OR status = 'resolved', last_inbound_at = 0 FROM conversations WHERE id = ?`, conversation)
	return opens, first, err
}

// TouchConversation records that a conversation shows another last message, which leaves it where
// it is in the lists.
func (tx *Tx) TouchConversation(conversation string) error {
	return tx.ExecOne(touchThread, tx.Order, conversation)
}

// IdleConversation is one in which nothing was said for a while, rules apart.
type IdleConversation struct {
	ID        string `db:"id"`
	MessageID string `db:"message_id"` // the last of them
}

// lastSpoken is the number of the last message of a conversation v that no rule sent.
const lastSpoken = `(
	SELECT number FROM messages
	WHERE conversation_id = v.id AND source <> 'rule' AND (scheduled_at = 0 OR place IS NOT NULL)
	ORDER BY id DESC
	LIMIT 1)`

// IdleConversations lists up to limit conversations of an account in which the last message that no
// rule sent is from before a time, and that meet the conditions of a rule that rows can
// answer. Those in which it has fired since their last resolve, or with perDay since a time, or
// else because of the same message, are left out.
func (rx *Rx) IdleConversations(account int64, r Rule, before, since Time, limit int) ([]IdleConversation, error) {
	fired := map[string]string{
		OncePerSpell:   `(f.message_id >= v.waits_from OR f.message_id = m.id)`,
		OncePerDay:     `f.created_at >= ?3`,
		OncePerMessage: `f.message_id = m.id`,
	}[r.OncePer]

	return list[IdleConversation](rx, `
		SELECT v.id, m.id AS message_id
		FROM conversations v INDEXED BY conversations_by_status CROSS JOIN messages m ON m.number = `+lastSpoken+`
		WHERE v.account_id = ?1 AND v.status IN ('open', 'pending') AND v.last_message_at > 0 AND v.last_message_at <= ?2
			AND v.snoozed_until = 0 AND m.created_at <= ?2
			AND (?4 IS NULL OR EXISTS (SELECT 1 FROM conversation_labels WHERE conversation_id = v.id AND label_id = ?4))
			AND (?5 IS NULL OR ?5 = (v.assignee_id IS NOT NULL)) AND (?6 IS NULL OR ?6 = v.holder_type)
			AND NOT EXISTS (SELECT 1 FROM rule_firings f WHERE f.conversation_id = v.id AND f.rule_id = ?7 AND `+
		cmp.Or(fired, "1")+`)
		LIMIT ?8`, account, before, since, r.If.LabelID, r.If.Assigned, r.If.Holder, r.ID, limit)
}

// IsIdleSince reports whether nothing has happened in a conversation since a message that IdleConversations
// found.
func (rx *Rx) IsIdleSince(found IdleConversation) (bool, error) {
	return rx.exists(`
		SELECT 1 FROM conversations v JOIN messages m ON m.number = `+lastSpoken+`
		WHERE v.id = ? AND m.id = ? AND v.status IN ('open', 'pending') AND v.snoozed_until = 0`, found.ID, found.MessageID)
}

// SilenceAfter is how long after a message of a conversation the next one came that no rule
// sent, or with none how long ago it was.
func (rx *Rx) SilenceAfter(m Message) (Time, error) {
	return value[Time](rx, `
		SELECT coalesce((
			SELECT created_at FROM messages
			WHERE conversation_id = ? AND id > ? AND source <> 'rule'
			ORDER BY id
			LIMIT 1), ?) - ?`, m.ConversationID, m.ID, rx.db.Now(), m.CreatedAt)
}

// BeganSpell reports whether a stored message of a person opened its conversation, and whether it was
// the first that they wrote.
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
