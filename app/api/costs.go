package api

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"confab/app/api/rest"
	"confab/jobs/rates"
	"confab/storage"
)

// costsView is what messages cost, as an estimate: the provider's bill decides.
type costsView struct {
	reportView
	RatesFrom *string         `json:"rates_from"` // the day of the newest rates that were used
	Groups    []costGroupView `json:"groups"`
	Totals    CostView        `json:"totals"`
}

type costGroupView struct {
	Group *string `json:"group"` // null for messages that belong to none
	CostView
}

// CostView is messages that were delivered, and what they cost.
type CostView struct {
	Messages int64           `json:"messages"`
	Billable int64           `json:"billable"`
	Estimate *rates.Estimate `json:"estimate"` // null without a price for each of them
}

type costSum struct {
	messages, billable int64
	amount             *rates.Sum
}

func (s *costSum) add(c storage.Cost) {
	s.messages += c.Messages
	s.billable += c.Billable
	s.amount.Add(c.Prefix, c.Category, c.Since, c.Billable)
}

func (s *costSum) view() CostView {
	return CostView{Messages: s.messages, Billable: s.billable, Estimate: s.amount.Estimate()}
}

// CostOfBroadcast adds up what a broadcast cost.
func CostOfBroadcast(rx *storage.Rx, b storage.Broadcast) (CostView, error) {
	prices, err := rx.Rates()
	if err != nil {
		return CostView{}, err
	}

	all, err := rx.BroadcastCosts(b)
	sum := costSum{amount: rates.NewTable(prices).NewSum()}
	for _, c := range all {
		sum.add(c)
	}
	return sum.view(), err
}

// getCosts handles GET /v1/reports/costs.
func (s *Server) getCosts(r *rest.Request) (rest.Reply, error) {
	v, err := s.readCosts(r)
	return rest.OK(v), err
}

// exportCosts handles GET /v1/reports/costs.csv.
func (s *Server) exportCosts(r *rest.Request) (rest.Reply, error) {
	v, err := s.readCosts(r)
	if err != nil {
		return rest.Reply{}, err
	}
	r.Target = r.Org.PublicID
	return s.export(r, "costs.csv", func(x *rest.Exchange, _ func() error) error { return writeCosts(x, v) })
}

// readCosts adds up what the query asks for. Days are those of UTC, in which the provider
// counts.
func (s *Server) readCosts(r *rest.Request) (v costsView, err error) {
	q := rest.Filters{Values: r.Query()}
	days := readReportDays(&q, time.UTC, r.Now)
	q.OneOf("timezone", "UTC")
	groupBy := cmp.Or(q.OneOf("group_by", "number", "category", "country", "broadcast", "day", "none"), "none")
	if q.Err != nil {
		return v, q.Err
	}

	by := storage.CostGroup(groupBy)
	if groupBy == "country" {
		by = storage.CostsByPrefix
	}

	var all []storage.Cost
	var prices []storage.Rate
	err = s.List(r, func(rx *storage.Rx) (err error) {
		if prices, err = rx.Rates(); err != nil {
			return err
		}
		all, err = rx.Costs(r.Org.ID, r.Key.Accounts, days.begin(), days.end(), by)
		return err
	})
	if err != nil {
		return v, err
	}

	if groupBy == "country" {
		for i := range all {
			all[i].Group = callingCode(all[i].Prefix)
		}
	}
	return viewCosts(days.view(groupBy), all, rates.NewTable(prices), storage.At(days.last)), nil
}

func viewCosts(head reportView, all []storage.Cost, table *rates.Table, last storage.Time) costsView {
	v := costsView{reportView: head, Groups: []costGroupView{}}
	if from := table.From(last); from != 0 {
		v.RatesFrom = new(from.Std().UTC().Format(time.DateOnly))
	}

	sums, total := make(map[string]*costSum), costSum{amount: table.NewSum()}
	names := make(map[string]*string)
	for _, c := range all {
		name := storage.OrEmpty(c.Group)
		if sums[name] == nil {
			sums[name], names[name] = &costSum{amount: table.NewSum()}, c.Group
		}
		sums[name].add(c)
		total.add(c)
	}

	for name, sum := range sums {
		v.Groups = append(v.Groups, costGroupView{names[name], sum.view()})
	}
	slices.SortFunc(v.Groups, func(a, b costGroupView) int {
		return strings.Compare(storage.OrEmpty(a.Group), storage.OrEmpty(b.Group))
	})
	v.Totals = total.view()
	return v
}

// writeCosts writes a report as CSV, a line for each group.
func writeCosts(w io.Writer, v costsView) error {
	lines := csv.NewWriter(w)
	_ = lines.Write([]string{"group", "messages", "billable", "estimate", "currency"})
	for _, g := range v.Groups {
		record := []string{storage.OrEmpty(g.Group), strconv.FormatInt(g.Messages, 10), strconv.FormatInt(g.Billable, 10), "", ""}
		if g.Estimate != nil {
			record[3], record[4] = g.Estimate.Amount, g.Estimate.Currency
		}
		_ = lines.Write(record)
	}
	lines.Flush()
	return lines.Error()
}

// twoDigitCodes are the calling codes of two digits. Those that begin with 1 or 7 have one,
// and all others three.
const twoDigitCodes = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66" +
	" 81 82 84 86 90 91 92 93 94 95 98 "

// callingCode is the calling code with which a number begins, nil if there is no number.
func callingCode(prefix string) *string {
	digits := 3
	switch {
	case prefix == "":
		return nil
	case prefix[0] == '1' || prefix[0] == '7':
		digits = 1
	case len(prefix) >= 2 && strings.Contains(twoDigitCodes, " "+prefix[:2]+" "):
		digits = 2
	}
	return new(prefix[:min(digits, len(prefix))])
}
