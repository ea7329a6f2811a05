package storage

import (
	"cmp"
	"strings"

	"confab/storage/sqlite"
)

// Pricing is what the provider says that a message costs, and what we understand; nil if unknown.
type Pricing struct {
	Raw      JSON
	Category string
	Billable bool
}

// costsOf names messages that cost, of a day in UTC. Deleting them does not change their count.
type costsOf struct {
	account   int64
	day       Time
	category  string
	prefix    string
	broadcast int64 // 0 for none
}

type costCount struct {
	Messages int64 `db:"messages"`
	Billable int64 `db:"billable"`
}

func storeCosts(wx *sqlite.Wx, of costsOf, n costCount) error {
	return wx.Run(`
		INSERT INTO message_costs (account_id, day, category, prefix, broadcast, messages, billable)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (account_id, day, category, prefix, broadcast) DO UPDATE
		SET messages = messages + excluded.messages, billable = billable + excluded.billable`,
		of.account, of.day, of.category, of.prefix, of.broadcast, n.Messages, n.Billable)
}

// RecordPricing stores the pricing of a message that only a repeated callback brought.
func (tx *Tx) RecordPricing(m *Message, price *Pricing) error {
	n, err := tx.Exec(`
		UPDATE messages
		SET pricing = ?, updated_at = ?
		WHERE number = ? AND id = ? AND pricing IS NULL`, price.Raw, tx.Order, m.Number, m.ID)
	if err != nil || n == 0 {
		return err
	}

	before := *m
	m.Pricing, m.UpdatedAt = price.Raw, tx.Order
	tx.moveCost(before, *m, price)
	return tx.hintMessage(nil, m)
}

// earliestDelivery is when a message was delivered, with one more callback. One that was
// read was delivered then at the latest; callbacks come in any order.
func earliestDelivery(before Time, reported string, at Time) Time {
	if reported != MessageDelivered && reported != MessageRead || before != 0 && before <= at {
		return before
	}
	return at
}

// costDay is the day, in UTC, on which a message costs; 0 until it is delivered and priced.
func (m Message) costDay() Time {
	if m.Pricing == nil || m.DeliveredAt == 0 {
		return 0
	}
	return m.DeliveredAt - m.DeliveredAt%Time(day.Milliseconds())
}

// moveCost counts a message where it costs now, and no longer where it did before.
func (tx *Tx) moveCost(before, after Message, price *Pricing) {
	if before.costDay() == after.costDay() {
		return
	}
	if day := before.costDay(); day != 0 {
		tx.addCost(after, day, price, -1)
	}
	tx.addCost(after, after.costDay(), price, 1)
}

func (tx *Tx) addCost(m Message, day Time, price *Pricing, n int64) {
	of := costsOf{m.AccountID, day, price.Category, CostPrefix(m.To()), OrEmpty(m.Broadcast)}
	counts := tx.db.pending.costs
	sum := counts.changes[of]
	sum.Messages += n
	if price.Billable {
		sum.Billable += n
	}
	counts.set(tx, of, sum)
}

// CostPrefix is as much of a number as its price depends on: it says where, not who.
func CostPrefix(phone *string) string {
	const digits = 6
	number := strings.TrimPrefix(OrEmpty(phone), "+")
	return number[:min(digits, len(number))]
}

// Cost is a count of messages that cost, with what their price depends on.
type Cost struct {
	costCount
	Group    *string `db:"cost_group"` // nil for those that are in none
	Category string  `db:"category"`
	Prefix   string  `db:"prefix"`
	Since    Time    `db:"since"` // the newest day of rates that is not after theirs; 0 if all are
}

// CostGroup is what costs are grouped by.
type CostGroup string

// The groups of costs.
const (
	CostsByNumber    CostGroup = "number"    // phone number ids
	CostsByCategory  CostGroup = "category"  // the provider's
	CostsByPrefix    CostGroup = "prefix"    // the first six digits
	CostsByBroadcast CostGroup = "broadcast" // ids
	CostsByDay       CostGroup = "day"       // as 2026-11-17
)

func (g CostGroup) expression() string {
	return cmp.Or(map[CostGroup]string{
		CostsByNumber:    "a.phone_number_id",
		CostsByCategory:  "c.category",
		CostsByPrefix:    "c.prefix",
		CostsByBroadcast: "b.id",
		CostsByDay:       "date(c.day / 1000, 'unixepoch')",
	}[g], "NULL")
}

// rateDays are the few days from which rates are valid, so that each count looks at these only.
const rateDays = `WITH rate_days AS MATERIALIZED (SELECT DISTINCT valid_from FROM rates)`

// Costs adds up what an organization's numbers cost from one day to another, that one excluded.
func (rx *Rx) Costs(organization int64, of Accounts, from, before Time, by CostGroup) ([]Cost, error) {
	return list[Cost](rx, rateDays+`
		SELECT `+by.expression()+` AS cost_group, c.category, c.prefix,
			coalesce((SELECT max(valid_from) FROM rate_days WHERE valid_from <= c.day), 0) AS since,
			sum(c.messages) AS messages, sum(c.billable) AS billable
		FROM message_costs c JOIN accounts a ON a.id = c.account_id LEFT JOIN broadcasts b ON b.number = c.broadcast
		WHERE c.account_id IN (`+liveAccounts+`) AND c.day >= ?2 AND c.day < ?3
			AND (?4 = '[]' OR c.account_id IN (SELECT value FROM json_each(?4)))
		GROUP BY cost_group, c.category, c.prefix, since
		HAVING sum(c.messages) <> 0
		ORDER BY cost_group, c.category, c.prefix, since`, organization, from, before, of)
}

// BroadcastCosts adds up what a broadcast cost.
func (rx *Rx) BroadcastCosts(b Broadcast) ([]Cost, error) {
	return list[Cost](rx, rateDays+`
		SELECT NULL AS cost_group, category, prefix,
			coalesce((SELECT max(valid_from) FROM rate_days WHERE valid_from <= day), 0) AS since,
			sum(messages) AS messages, sum(billable) AS billable
		FROM message_costs
		WHERE account_id = ? AND broadcast = ?
		GROUP BY category, prefix, since`, b.AccountID, b.Number)
}

// Rate is what a billable message costs, from a day on.
type Rate struct {
	Prefix    string `db:"prefix"` // a calling code, "" for everywhere else
	Category  string `db:"category"`
	ValidFrom Time   `db:"valid_from"` // a day, in UTC
	Price     string `db:"price"`      // an exact decimal
	Currency  string `db:"currency"`
}

// Rates lists all rates.
func (rx *Rx) Rates() ([]Rate, error) {
	return list[Rate](rx, `
		SELECT prefix, category, valid_from, price, currency
		FROM rates
		ORDER BY valid_from, prefix, category`)
}

// ReplaceRates stores rates in the place of all there were.
func (tx *Tx) ReplaceRates(all []Rate) error {
	if err := tx.Run(`DELETE FROM rates`); err != nil {
		return err
	}
	for _, r := range all {
		if err := tx.InsertRow("rates", "prefix, category, valid_from, price, currency", r); err != nil {
			return err
		}
	}
	return nil
}
