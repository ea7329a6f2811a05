package storage

import "strings"

// A spell is a conversation's time from its opening to its resolution; reports count spells. The one
// that lasts is in the row of its conversation, which every message changes anyway: so it
// costs messages nothing.
//
//   - It begins with the conversation (InsertThreadConversation, EnsureConversation) and when that
//     is opened again (MarkMessageReceived, UpdateConversation).
//   - It counts what waiting counts, in markMessageReceived and markMessageWritten. What is deleted
//     or fails later stays counted.
//   - Its end (UpdateConversation) moves it to the table spells, with assignee and labels as they
//     are then. A deleted contact leaves its spells without its id.
//
// When conversations are merged, the spells that are over move along, and of two that last the
// earlier remains, with the sums (mergedSpell). Without a spell all of its columns are 0.

const noSpell = `spell_opened_at = 0, spell_inbound_at = 0, spell_replied_at = 0, spell_replied_by = NULL, spell_in = 0, spell_out = 0`

// mergedSpell is the spell of a conversation c that other is merged into.
func mergedSpell() string {
	const repliedBy = `spell_replied_by = CASE
		WHEN other.spell_replied_at > 0 AND (c.spell_replied_at = 0 OR other.spell_replied_at < c.spell_replied_at)
		THEN other.spell_replied_by
		ELSE c.spell_replied_by END`

	set := []string{repliedBy, "spell_in = c.spell_in + other.spell_in", "spell_out = c.spell_out + other.spell_out"}
	for _, at := range []string{"spell_opened_at", "spell_inbound_at", "spell_replied_at"} {
		set = append(set, at+` = min(coalesce(nullif(c.`+at+`, 0), other.`+at+`), coalesce(nullif(other.`+at+`, 0), c.`+at+`))`)
	}
	return strings.Join(set, ", ")
}

// spellLabels are the ids of the labels that a conversation v has, with spaces between them.
const spellLabels = `coalesce((
	SELECT group_concat(l.id, ' ') FROM conversation_labels x JOIN labels l ON l.id = x.label_id
	WHERE x.conversation_id = v.id AND l.deleted_at = 0), '')`

// endSpell keeps the spell of a conversation, if one lasts, as it is when somebody resolves it: a user,
// or a word for what is no user. With 0 it ends unresolved. noSpell has to follow.
func (tx *Tx) endSpell(conversation string, assignee *string, resolvedAt Time, by *string) error {
	return tx.Run(`
		INSERT INTO spells (account_id, opened_at, number, conversation_id, inbound_at, replied_at, replied_by, resolved_at, resolved_by,
			assignee_id, labels, messages_in, messages_out)
		SELECT v.account_id, v.spell_opened_at, random(), v.id, v.spell_inbound_at, v.spell_replied_at, v.spell_replied_by, ?2, ?3,
			?4, `+spellLabels+`, v.spell_in, v.spell_out
		FROM conversations v
		WHERE v.id = ?1 AND v.spell_opened_at > 0`, conversation, resolvedAt, by, assignee)
}

// blankSpells makes the spells of a contact nobody's, before it is deleted.
func (tx *Tx) blankSpells(contact string) error {
	c, err := tx.ConversationOf(contact)
	if err != nil {
		return IgnoreNotFound(err)
	}

	if err := tx.endSpell(c.ID, c.AssigneeID, 0, nil); err != nil {
		return err
	}
	return tx.Run(`UPDATE spells SET conversation_id = NULL WHERE conversation_id = ?`, c.ID)
}

// ReportedNumbers lists the numbers of an organization that a key has, by their ids alone.
func (rx *Rx) ReportedNumbers(organization int64, of Accounts) ([]AccountKey, error) {
	return list[AccountKey](rx, `
		SELECT id, coalesce(phone_number_id, '') AS phone_number_id FROM accounts
		WHERE id IN (`+liveAccounts+`) AND (?2 = '[]' OR id IN (SELECT value FROM json_each(?2)))
		ORDER BY id`, organization, of)
}

// Spell is a spell as an export shows it.
type Spell struct {
	ConversationID *string `db:"conversation_id"` // nil once the contact was deleted
	ContactID      *string `db:"contact_id"`      // likewise
	OpenedAt       Time    `db:"opened_at"`
	RepliedAt      Time    `db:"replied_at"`  // 0 without a reply
	RepliedBy      *string `db:"replied_by"`  // a user, or the source of the message
	ResolvedAt     Time    `db:"resolved_at"` // 0 while it lasts
	ResolvedBy     *string `db:"resolved_by"` // a user, or what is no user
	AssigneeID     *string `db:"assignee_id"`
	Labels         string  `db:"labels"` // ids, with spaces between them
	MessagesIn     int64   `db:"messages_in"`
	MessagesOut    int64   `db:"messages_out"`
}

// Spells lists the first spells of an account that were opened at a time or later and before
// another, in that order, and says from when on to read the others. There are about limit.
func (rx *Rx) Spells(account int64, from, before Time, limit int) (all []Spell, next Time, err error) {
	last, err := rx.lastOfSpells(account, from, before, limit)
	if err != nil {
		return nil, 0, err
	}

	all, err = list[Spell](rx, `
		SELECT s.conversation_id, v.contact_id, s.opened_at, s.replied_at, s.replied_by, s.resolved_at, s.resolved_by,
			s.assignee_id, s.labels, s.messages_in, s.messages_out
		FROM spells s LEFT JOIN conversations v ON v.id = s.conversation_id
		WHERE s.account_id = ?1 AND s.opened_at BETWEEN ?2 AND ?3
		UNION ALL
		SELECT v.id, v.contact_id, v.spell_opened_at, v.spell_replied_at, v.spell_replied_by, 0, NULL,
			v.assignee_id, `+spellLabels+`, v.spell_in, v.spell_out
		FROM conversations v INDEXED BY conversations_by_opening
		WHERE v.account_id = ?1 AND v.spell_opened_at > 0 AND v.spell_opened_at BETWEEN ?2 AND ?3
		ORDER BY 3, 1`, account, from, last)
	return all, last + 1, err
}

// lastOfSpells is when the last of the next spells of an account was opened, so many of those that
// are over and of those that last: what is opened at one instant stays together.
func (rx *Rx) lastOfSpells(account int64, from, before Time, n int) (Time, error) {
	return value[Time](rx, `
		SELECT min(
			coalesce((
				SELECT opened_at FROM spells
				WHERE account_id = ?1 AND opened_at >= ?2 AND opened_at < ?3
				ORDER BY opened_at
				LIMIT 1 OFFSET ?4), ?3 - 1),
			coalesce((
				SELECT spell_opened_at FROM conversations INDEXED BY conversations_by_opening
				WHERE account_id = ?1 AND spell_opened_at > 0 AND spell_opened_at >= ?2 AND spell_opened_at < ?3
				ORDER BY spell_opened_at
				LIMIT 1 OFFSET ?4), ?3 - 1))`, account, from, before, n-1)
}

// SpellFigures is what reports add up of a spell.
type SpellFigures struct {
	Key        string // its assignee or its labels, if those are asked for
	OpenedAt   Time
	Reply      int64 // milliseconds until the first reply, -1 without one
	Resolution int64 // likewise
	In, Out    int64 // messages
}

// SpellKey is what reports group spells by besides their times and numbers.
type SpellKey string

// The keys of spells.
const (
	SpellsTogether SpellKey = ""
	SpellsByUser   SpellKey = "user"  // the assignee
	SpellsByLabel  SpellKey = "label" // ids, with spaces between them
)

// columns are the key in the table spells, and in a conversation v with a spell.
func (k SpellKey) columns() (over, lasting string) {
	switch k {
	case SpellsByUser:
		return "coalesce(assignee_id, '') || ", "coalesce(v.assignee_id, '') || "
	case SpellsByLabel:
		return "labels || ", spellLabels + " || "
	}
	return "", ""
}

// spellsAtOnce is how many spells of each sort are read in one step, which takes some 3 ms.
const spellsAtOnce = 5_000

// EachSpell calls fn with the figures of all spells of an account that were opened at a time or later
// and before another, in no order. Each is there once, also when it ends meanwhile: a step reads those
// that are over and those that last up to the same time.
//
// SQLite makes one text of many, and has the parts ready in a column. That is kept for its speed: a
// million spells take 0.4 s, where they take 1.2 s column by column.
func (rx *Rx) EachSpell(account int64, from, before Time, by SpellKey, fn func(SpellFigures) error) error {
	if by == SpellsByLabel { // a spell may have hundreds of them
		return rx.eachSpell(account, from, before, by, spellsAtOnce/10, fn)
	}
	return rx.eachSpell(account, from, before, by, spellsAtOnce, fn)
}

func (rx *Rx) eachSpell(account int64, from, before Time, by SpellKey, atOnce int, fn func(SpellFigures) error) error {
	over, lasting := by.columns()
	queries := []string{`
		SELECT coalesce(group_concat(` + over + `figures, ''), '') FROM spells
		WHERE account_id = ?1 AND opened_at BETWEEN ?2 AND ?3`, `
		SELECT coalesce(group_concat(` + lasting + spellFigures + `, ''), '') FROM conversations v INDEXED BY conversations_by_opening
		WHERE v.account_id = ?1 AND v.spell_opened_at > 0 AND v.spell_opened_at BETWEEN ?2 AND ?3`}

	for from < before {
		last, err := rx.lastOfSpells(account, from, before, atOnce)
		if err != nil {
			return err
		}
		for _, query := range queries {
			text, err := value[string](rx, query, account, from, last)
			if err != nil {
				return err
			}
			if err := readFigures(text, fn); err != nil {
				return err
			}
		}

		if from = last + 1; from < before {
			if err := rx.Pause(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spellFigures are the figures of a spell that lasts, as the column of the table has those of the others.
const spellFigures = `',' || v.spell_opened_at || ','
	|| iif(v.spell_replied_at > 0, v.spell_replied_at - v.spell_inbound_at, '') || ',,' || v.spell_in || ',' || v.spell_out || ';'`

// readFigures takes the figures of many spells apart, and calls fn with each.
func readFigures(text string, fn func(SpellFigures) error) error {
	for text != "" {
		var s SpellFigures
		s.Key, text, _ = strings.Cut(text, ",")
		var opened int64
		for _, field := range []*int64{&opened, &s.Reply, &s.Resolution, &s.In, &s.Out} {
			text = readNumber(text, field)
		}
		s.OpenedAt = Time(opened)
		if err := fn(s); err != nil {
			return err
		}
	}
	return nil
}

// readNumber reads a number and what ends it, and returns the rest; it is -1 without digits.
func readNumber(text string, n *int64) (rest string) {
	read := int64(-1)
	for i := range len(text) {
		c := text[i]
		if c == ',' || c == ';' {
			*n = read
			return text[i+1:]
		}
		read = 10*max(read, 0) + int64(c-'0')
	}
	return ""
}
