package storage

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
