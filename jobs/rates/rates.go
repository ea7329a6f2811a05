// Package rates estimates what messages cost: by the prices that the operator has imported,
// in exact decimals. What has no price has no estimate; nothing is guessed.
package rates

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"confab/jobs/provider"
	"confab/storage"
)

// decimals is how many digits a price may have after its point, so that every sum is exact.
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

// From is the day from which the newest rates that are not of a later day hold; 0 for none.
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

// Bounds of a file of rates.
const (
	maxFile     = 16 << 20
	maxRates    = 100_000
	maxProblems = 20
)

var (
	columns  = []string{"from", "country", "category", "price", "currency"}
	country  = regexp.MustCompile(`^(\*|[1-9][0-9]{0,5})$`)
	price    = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)
	currency = regexp.MustCompile(`^[A-Z]{3}$`)
)

// Parse reads a file of rates: a CSV with the columns from, country, category, price and
// currency. All of it is checked, and the error names what is wrong in each line.
func Parse(file io.Reader) ([]storage.Rate, error) {
	limited := &io.LimitedReader{R: file, N: maxFile + 1}
	lines := csv.NewReader(limited)
	lines.FieldsPerRecord = len(columns)
	lines.TrimLeadingSpace = true

	header, err := lines.Read()
	if len(header) > 0 {
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
	}
	if err != nil || !slices.Equal(header, columns) {
		return nil, errors.New("the first line must be: " + strings.Join(columns, ","))
	}

	p := parser{lines: make(map[storage.Rate]int)}
	for {
		record, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			p.problems = append(p.problems, err)
			break // what follows cannot be told apart
		}
		line, _ := lines.FieldPos(0)
		p.add(line, record)
		if len(p.problems) >= maxProblems || len(p.rates) > maxRates {
			break
		}
	}

	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("the file has more than %d MiB", maxFile>>20)
	case len(p.rates) > maxRates:
		return nil, fmt.Errorf("the file has more than %d rates", maxRates)
	case len(p.problems) == 0 && len(p.rates) == 0:
		return nil, errors.New("the file has no rates")
	}
	return p.rates, errors.Join(p.problems...)
}

type parser struct {
	rates    []storage.Rate
	lines    map[storage.Rate]int // of each rate without its price
	problems []error
}

func (p *parser) add(line int, record []string) {
	fail := func(column int, rule string) {
		p.problems = append(p.problems, fmt.Errorf("line %d: %s %q %s", line, columns[column], record[column], rule))
	}

	for i := range record {
		record[i] = strings.TrimSpace(record[i])
	}
	day, err := time.Parse(time.DateOnly, record[0])
	code := strings.TrimPrefix(record[1], "+")

	switch {
	case err != nil:
		fail(0, "must be a date such as 2026-10-01")
	case !country.MatchString(code):
		fail(1, "must be a calling code such as 44, of up to six digits, or *")
	case !slices.Contains(provider.PricingCategories(), record[2]):
		fail(2, "must be one of "+strings.Join(provider.PricingCategories(), ", "))
	case !price.MatchString(record[3]):
		fail(3, "must be a decimal such as 0.0138, with up to nine digits after the point")
	case !currency.MatchString(record[4]):
		fail(4, "must be a currency such as USD")
	case len(p.rates) > 0 && p.rates[0].Currency != record[4]:
		fail(4, "must be "+p.rates[0].Currency+", as in the lines before")
	default:
		p.keep(line, storage.Rate{
			Prefix:    strings.TrimPrefix(code, "*"),
			Category:  record[2],
			ValidFrom: storage.At(day),
			Price:     record[3],
			Currency:  record[4],
		})
	}
}

// keep keeps a rate, unless another line has one for the same.
func (p *parser) keep(line int, r storage.Rate) {
	same := r
	same.Price = ""
	if first := p.lines[same]; first != 0 {
		p.problems = append(p.problems, fmt.Errorf("line %d: the same day, country and category as in line %d", line, first))
		return
	}
	p.lines[same] = line
	p.rates = append(p.rates, r)
}
