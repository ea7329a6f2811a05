package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"confab/jobs/rates"
	"confab/storage"
)

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

type rateView struct {
	From     string `json:"from"`
	Country  string `json:"country"`
	Category string `json:"category"`
	Price    string `json:"price"`
	Currency string `json:"currency"`
}

func (e *env) ratesList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List rates",
		Example: "  confab rates list\n  confab rates list --json",
	}
	columns := table[rateView]{
		heading: []string{"FROM", "COUNTRY", "CATEGORY", "PRICE", "CURRENCY"},
		row:     func(v rateView) []string { return []string{v.From, v.Country, v.Category, v.Price, v.Currency} },
	}
	return listCommand(e, cmd, columns, func(rx *storage.Rx, _ []string) (views []rateView, err error) {
		all, err := rx.Rates()
		for _, r := range all {
			from := r.ValidFrom.Std().UTC().Format(time.DateOnly)
			views = append(views, rateView{from, cmp.Or(r.Prefix, "*"), r.Category, r.Price, r.Currency})
		}
		return views, err
	})
}
