package jobs

import (
	"cmp"
	"context"
	"encoding/json"

	"confab/storage"
)

const (
	// maxForecast is how many recipients a forecast looks at.
	maxForecast = 100_000
	// forecastAtOnce is how many of them are looked at in one transaction.
	forecastAtOnce = 500
	// shownInForecast is how many messages a forecast shows.
	shownInForecast = 3
)

// Forecast is what a broadcast would do if it began now.
type Forecast struct {
	Total     int64            // recipients, without those that repeat
	Skipped   map[string]int64 // how many of them get nothing, by the reason
	Repeated  int64            // numbers that were given before, which count once
	IsPartial bool             // there are more, which were not looked at
	// PausedReason says why nobody may send from the account just now; "" if it may.
	PausedReason string
	First        []ForecastMessage
	// Prefixes counts who gets a message by the first digits, on which its price depends.
	Prefixes map[string]int64
}

// ForecastMessage is what one of the first recipients would get.
type ForecastMessage struct {
	PhoneNumber *string         `json:"to"`
	Name        *string         `json:"name"`
	Content     json.RawMessage `json:"template"` // the message as the provider would get it
}

// WillSend is how many recipients get a message.
func (f Forecast) WillSend() int64 {
	n := f.Total
	for _, skipped := range f.Skipped {
		n -= skipped
	}
	return n
}

// ForecastBroadcast says what a broadcast would do that is not stored. The source is nil for
// the audience of its label.
func ForecastBroadcast(ctx context.Context, db *storage.DB, b storage.Broadcast, next RecipientSource) (Forecast, error) {
	rules, err := storage.Query(ctx, db, func(rx *storage.Rx) (recipientRules, error) { return newRecipientRules(rx, b) })
	if err != nil {
		return Forecast{}, err
	}
	f := forecaster{
		Forecast:       Forecast{Skipped: make(map[string]int64), First: []ForecastMessage{}, Prefixes: make(map[string]int64)},
		recipientRules: rules,
		numbers:        make(map[string]bool),
		contacts:       make(map[string]bool),
	}

	f.PausedReason = string(concernsAll(f.sender, db.Now()))
	if next == nil {
		next = labelSource(ctx, db, b, f.sender.OrganizationID)
	}

	// Each batch is read as a search: many forecasts must not keep the readers from others.
	for {
		some, err := next(forecastAtOnce)
		if err == nil {
			err = db.Search(ctx, f.sender.OrganizationID, func(rx *storage.Rx) error { return f.add(rx, some) })
		}
		if f.IsPartial = f.Total >= maxForecast; err != nil || f.IsPartial || len(some) < forecastAtOnce {
			return f.Forecast, err
		}
	}
}

// labelSource are the recipients of a broadcast to a label, in the order of its run.
func labelSource(ctx context.Context, db *storage.DB, b storage.Broadcast, organization int64) RecipientSource {
	var last storage.Row
	return func(limit int) ([]storage.BroadcastRecipient, error) {
		var rows []storage.Row
		err := db.Search(ctx, organization, func(rx *storage.Rx) (err error) {
			rows, err = rx.LabeledContacts(b.AccountID, *b.LabelID, last, limit)
			return err
		})
		all := make([]storage.BroadcastRecipient, len(rows))
		for i, row := range rows {
			all[i].ContactID, last = &row.ID, row
		}
		return all, err
	}
}

// forecaster counts what the rules decide.
type forecaster struct {
	Forecast
	recipientRules
	numbers  map[string]bool // that were given
	contacts map[string]bool // who get a message
}

func (f *forecaster) add(rx *storage.Rx, some []storage.BroadcastRecipient) error {
	for _, r := range some {
		if r.PhoneNumber != nil {
			if f.numbers[*r.PhoneNumber] {
				f.Repeated++
				continue
			}
			f.numbers[*r.PhoneNumber] = true
		}

		f.Total++
		if r.Status == storage.RecipientSkipped {
			f.Skipped[*r.Reason]++
			continue
		}
		d, err := f.decide(rx, r, func(contact string) (bool, error) { return f.contacts[contact], nil })
		if err != nil {
			return err
		}
		f.count(r, d)
	}
	return nil
}

func (f *forecaster) count(r storage.BroadcastRecipient, d decision) {
	if d.skipped != "" {
		f.Skipped[d.skipped]++
		return
	}

	number := cmp.Or(r.PhoneNumber, d.to.PhoneNumber)
	f.contacts[d.to.ID] = true
	f.Prefixes[storage.CostPrefix(number)]++
	if len(f.First) < shownInForecast {
		f.First = append(f.First, ForecastMessage{PhoneNumber: number, Name: d.to.Name, Content: d.content})
	}
}
