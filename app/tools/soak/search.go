package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"
)

// spokenText is a message that must be found by what it says.
type spokenText struct{ id, text string }

// keepEvery is how many texts are sent for each that the audit searches for.
const keepEvery = 40

// searchFor is what people look for, whatever stands in it.
var searchFor = []string{"number", "hello wor", `"is number"`, "promis", "order way", `"`, "a* OR b", "nothing like it", "é", "NEAR("}

// search keeps searching messages, as people at a console do.
func (o *tenant) search(ctx context.Context, random *rand.Rand) error {
	for sleep(ctx, time.Duration(100+random.IntN(300))*time.Millisecond) {
		text := searchFor[random.IntN(len(searchFor))]
		a, err := o.callUntilAnswered("GET", "/"+o.number+"/messages?search="+url.QueryEscape(text), "", "")
		if err != nil {
			return err
		}
		if a.status != 200 {
			return fmt.Errorf("a search for %q was answered with %d %s", text, a.status, a.body.Error.Code)
		}
		if err := o.checkOwnership(a.body.Data); err != nil {
			return err
		}

		o.mu.Lock()
		o.searches++
		o.mu.Unlock()
	}
	return nil
}

// auditSearch searches for texts of the whole trial.
func (o *tenant) auditSearch(r *report) error {
	for _, said := range o.said {
		isFound := false
		path := "/" + o.number + "/messages?limit=100&search=" + url.QueryEscape(`"`+said.text+`"`)
		err := o.eachItem(path, func(item json.RawMessage) error {
			var m row
			err := json.Unmarshal(item, &m)
			isFound = isFound || m.ID == said.id
			return err
		})
		if err != nil {
			return err
		}
		if !isFound {
			r.discrepancy("%s: %s is not found by %q", o.name, said.id, said.text)
		}
	}
	r.searches += o.searches
	return nil
}
