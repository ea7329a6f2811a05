package cli

import (
	"bytes"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"confab/jobs/rates"
	"confab/storage"
)

func (e *env) rates() *cobra.Command {
	return e.group("rates", "Import and list prices of messages", e.ratesImport(), e.ratesList())
}

func (e *env) ratesImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Replace all rates with those of a CSV file; - is standard input",
		Long: "Replace all rates with those of a CSV file; - is standard input. Its first line is\n" +
			"\n" +
			"  from,country,category,price,currency\n" +
			"\n" +
			"from is the first day of a price (UTC), country a calling code such as 44, or * for all others; the longest\n" +
			"code that fits a number wins. All lines have the same currency, and prices are decimals. The whole file is\n" +
			"checked before anything changes. Rates are used to estimate costs: see 'confab help costs'.",
		Example: "  confab rates import rates.csv",
	}
	cmd.RunE = e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
		file, err := readFileOrStdin(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		all, err := rates.Parse(bytes.NewReader(file))
		if err != nil {
			return fmt.Errorf("nothing was imported: %w", err)
		}

		return s.write(cmd, func(tx *storage.Tx) (written, error) {
			return written{
				entry: auditEntry{action: "rates.imported"},
				text:  fmt.Sprintf("Imported %d rates in %s.", len(all), all[0].Currency),
				view:  map[string]any{"object": "rate_import", "rates": len(all), "currency": all[0].Currency},
			}, tx.ReplaceRates(all)
		})
	})
	return withJSON(cmd)
}

// rateView is a rate as a file has it.
type rateView struct {
	From     string `json:"from"`
	Country  string `json:"country"`
	Category string `json:"category"`
	Price    string `json:"price"`
	Currency string `json:"currency"`
}

func viewRate(r storage.Rate) rateView {
	v := rateView{r.ValidFrom.Std().UTC().Format(time.DateOnly), r.Prefix, r.Category, r.Price, r.Currency}
	if v.Country == "" {
		v.Country = "*"
	}
	return v
}

func (e *env) ratesList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List rates",
		Example: "  confab rates list\n  confab rates list --json",
	}
	columns := table[storage.Rate]{
		heading: []string{"FROM", "COUNTRY", "CATEGORY", "PRICE", "CURRENCY"},
		row: func(r storage.Rate) []string {
			v := viewRate(r)
			return []string{v.From, v.Country, v.Category, v.Price, v.Currency}
		},
		view: func(r storage.Rate) any { return viewRate(r) },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) ([]storage.Rate, error) { return rx.Rates() })
}
