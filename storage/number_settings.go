package storage

import (
	"slices"
	"time"

	"confab/storage/sqlite"
)

// NumberRules are what happens by itself at a number when somebody writes, and what it has for
// that. Callers share it and must not change it.
type NumberRules struct {
	Rules  []Rule  // that are enabled, for this number and about messages, in their order
	Hours  *Hours  // nil for one that is always open
	OptOut *OptOut // nil for one that has chosen no words
}

// Hours are when a number is open. Without a week it always is, holidays apart.
type Hours struct {
	Timezone *string           `json:"timezone"`
	Weekly   map[string][]Span `json:"weekly"` // by day, mon to sun; a day without spans is closed
	Holidays []Holiday         `json:"holidays"`

	zone *time.Location // of hours that were stored: it takes a while to read
}

// Span is a part of a day: from one time of the clock up to another, as 09:00 and 24:00.
type Span []string

// Holiday is a date on which other hours hold: none, or its spans.
type Holiday struct {
	Date  *string `json:"date"`
	Name  *string `json:"name,omitempty"`
	Spans []Span  `json:"spans,omitempty"`
}

// Scan reads hours and their zone.
func (h *Hours) Scan(src any) error {
	err := sqlite.ScanJSON(src, h)
	zone, unknown := time.LoadLocation(OrEmpty(h.Timezone))
	if unknown != nil {
		zone = time.UTC // it was known when it was stored
	}
	h.zone = zone
	return err
}

// Zone is the one of stored hours, UTC without any.
func (h *Hours) Zone() *time.Location {
	if h == nil {
		return time.UTC
	}
	return h.zone
}

// OptOut are the words by which people end and resume marketing at a number.
type OptOut struct {
	Enabled    *bool    `json:"enabled"`
	Stop       []string `json:"stop"`
	Start      []string `json:"start"`
	StopReply  *string  `json:"stop_reply"`
	StartReply *string  `json:"start_reply"`
}

// Scan reads the words.
func (o *OptOut) Scan(src any) error { return sqlite.ScanJSON(src, o) }

// NumberRules finds what happens by itself at a number, for every inbound message: it is cached.
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
	n.Rules = slices.DeleteFunc(all, func(r Rule) bool {
		return !r.Enabled || r.On == OnConversationIdle || !r.ForNumber(OrEmpty(number))
	})
	return n, err
}

// SetHours stores the hours of a number.
func (tx *Tx) SetHours(account int64, h Hours) error { return tx.setNumber(account, "hours", h) }

// SetOptOut stores the opt-out words of a number.
func (tx *Tx) SetOptOut(account int64, words OptOut) error {
	return tx.setNumber(account, "opt_out", words)
}

func (tx *Tx) setNumber(account int64, column string, v any) error {
	text, err := jsonText(v)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO number_settings (account_id, `+column+`) VALUES (?1, ?2)
		ON CONFLICT DO UPDATE SET `+column+` = ?2`, account, text)
	return tx.hint(err, HintAccount, Scope{Account: account}, "")
}
