// Package rates estimates what messages cost: by the prices that the operator has imported,
// in exact decimals. What has no price has no estimate; nothing is guessed.
package rates

import (
	"math/big"
	"strings"

	"confab/storage"
)

// decimals is how many digits a price may have after its point, so that every sum has an
// exact decimal too.
const decimals = 9

// Table finds the price of a message.
type Table struct {
	currency string
	rates    map[key][]rate // oldest first
	days     []storage.Time // on which rates begin, oldest first
}

type key struct{ prefix, category string }

type rate struct {
	from  storage.Time
	price *big.Rat
}

// NewTable makes a table of the stored rates, which are in the order of their days.
func NewTable(all []storage.Rate) *Table {
	t := &Table{rates: make(map[key][]rate)}
	for _, r := range all {
		price, ok := new(big.Rat).SetString(r.Price)
		if !ok {
			continue // it was checked when it was imported
		}

		k := key{r.Prefix, r.Category}
		t.rates[k] = append(t.rates[k], rate{r.ValidFrom, price})
		t.days = append(t.days, r.ValidFrom)
		t.currency = r.Currency
	}
	return t
}

// From is the day from which the newest rates are valid that are not of a later day; 0 if
// there are none.
func (t *Table) From(day storage.Time) (from storage.Time) {
	for _, d := range t.days {
		if d <= day {
			from = max(from, d)
		}
	}
	return from
}

// price finds the price of a message to a number with a prefix: by the longest calling code
// that has one on the day.
func (t *Table) price(prefix, category string, day storage.Time) *big.Rat {
	for n := len(prefix); n >= 0; n-- {
		var found *big.Rat
		for _, r := range t.rates[key{prefix[:n], category}] {
			if r.from <= day {
				found = r.price
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// Estimate is what some messages cost, roughly: the provider's bill decides.
type Estimate struct {
	Amount   string `json:"amount"` // an exact decimal
	Currency string `json:"currency"`
}

// Sum adds up what messages cost.
type Sum struct {
	table   *Table
	amount  big.Rat
	unknown bool // something has no price
}

// NewSum begins a sum.
func (t *Table) NewSum() *Sum { return &Sum{table: t} }

// Add adds some billable messages to numbers with a prefix, on a day.
func (s *Sum) Add(prefix, category string, day storage.Time, messages int64) {
	if messages == 0 {
		return
	}

	price := s.table.price(prefix, category, day)
	if price == nil {
		s.unknown = true
		return
	}
	cost := new(big.Rat).SetInt64(messages)
	s.amount.Add(&s.amount, cost.Mul(cost, price))
}

// Estimate returns the sum: nil if there are no rates, or none for something in it.
func (s *Sum) Estimate() *Estimate {
	if s.unknown || s.table.currency == "" {
		return nil
	}

	amount := s.amount.FloatString(decimals)
	if strings.Contains(amount, ".") {
		amount = strings.TrimRight(strings.TrimRight(amount, "0"), ".")
	}
	return &Estimate{Amount: amount, Currency: s.table.currency}
}
