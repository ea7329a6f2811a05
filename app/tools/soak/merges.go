package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// mergedPerson is somebody whom the server knew as two contacts, until a callback said
// that they are one.
type mergedPerson struct {
	number   string
	bsuid    string   // "" if the provider chose it
	messages []string // that both contacts had, by our id; all must be the one's
}

// mergePeople keeps making one of two contacts while messages to both are under way.
func (o *tenant) mergePeople(ctx context.Context, random *rand.Rand) error {
	ways := []func(*rand.Rand, int) (mergedPerson, error){o.mergeByStatus, o.mergeByMessage, o.mergeByNumber}

	for n := 0; sleep(ctx, time.Duration(200+random.IntN(600))*time.Millisecond); n++ {
		merged, err := ways[n%len(ways)](random, n)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}

		o.mu.Lock()
		o.merged = append(o.merged, merged)
		o.mu.Unlock()
		o.trial.count("people merged during calls")
	}
	return nil
}

// newIdentity returns a number and an id that nobody else has.
func (o *tenant) newIdentity(n, which int) (number, bsuid string) {
	return fmt.Sprintf("+1555%d%d%06d", o.index+7, which, n), fmt.Sprintf("US.%d%d%014d", o.index+1, which, n)
}

// mergeByStatus writes to somebody by number and by id. The first status of a message
// to the number names the id.
func (o *tenant) mergeByStatus(random *rand.Rand, n int) (m mergedPerson, err error) {
	m.number, m.bsuid = o.newIdentity(n, 1)
	identity := fmt.Sprintf(`{"bsuid":%q}`, m.bsuid)
	if err := o.trial.sim.Call("POST", "/_sim/contacts/"+m.number+"/identity", identity, nil); err != nil {
		return m, err
	}

	m.messages, err = o.writeToBoth(random, recipient{To: m.number}, recipient{Recipient: m.bsuid})
	return m, err
}

// mergeByMessage writes to somebody by number and by id, who then writes and shows both.
func (o *tenant) mergeByMessage(random *rand.Rand, n int) (m mergedPerson, err error) {
	m.number, m.bsuid = o.newIdentity(n, 2)
	if err := o.receiveFrom("", m.bsuid); err != nil {
		return m, err
	}

	m.messages, err = o.writeToBoth(random, recipient{To: m.number}, recipient{Recipient: m.bsuid})
	if err != nil {
		return m, err
	}
	if err := o.receiveFrom(m.number, m.bsuid); err != nil {
		return m, err
	}

	more, err := o.writeToBoth(random, recipient{To: m.number}, recipient{Recipient: m.bsuid})
	m.messages = append(m.messages, more...)
	return m, err
}

// mergeByNumber writes to somebody at an old and at a new number, before the provider
// says that the number has changed.
func (o *tenant) mergeByNumber(random *rand.Rand, n int) (m mergedPerson, err error) {
	before, _ := o.newIdentity(n, 3)
	m.number, _ = o.newIdentity(n, 4)
	if err := o.receiveFrom(before, ""); err != nil {
		return m, err
	}

	m.messages, err = o.writeToBoth(random, recipient{To: before}, recipient{To: m.number})
	if err != nil {
		return m, err
	}

	change := fmt.Sprintf(`{"phone_number":%q}`, m.number)
	return m, o.trial.sim.Call("POST", "/_sim/contacts/"+before+"/identity", change, nil)
}

// writeToBoth sends messages to two recipients at the same time, and returns the ids
// of the messages.
func (o *tenant) writeToBoth(random *rand.Rand, one, other recipient) ([]string, error) {
	type result struct {
		id  string
		err error
	}
	const each = 2
	results := make(chan result, 2*each)

	for range each {
		for _, to := range []recipient{one, other} {
			key := newIdempotencyKey(random)
			go func() {
				id, err := o.send(to, "text", map[string]any{"body": "Is this you?"}, key)
				results <- result{id, err}
			}()
		}
	}

	var ids []string
	for range cap(results) {
		r := <-results
		if r.err != nil {
			return nil, r.err
		}
		if r.id != "" {
			ids = append(ids, r.id)
		}
	}
	return ids, nil
}

// receiveFrom lets somebody write who shows a number, an id or both.
func (o *tenant) receiveFrom(number, bsuid string) error {
	body := map[string]any{"phone_number_id": o.number, "type": "text", "text": map[string]any{"body": "It is me."}}
	if number != "" {
		body["from"] = number
	}
	if bsuid != "" {
		body["bsuid"] = bsuid
	}
	return o.receive("text", body)
}

// auditMerges checks that each person is one contact, and that it has the messages of
// both that it was.
func (o *tenant) auditMerges(r *report) error {
	for _, person := range o.merged {
		var found []struct {
			ID    string  `json:"id"`
			BSUID *string `json:"bsuid"`
		}
		if err := o.callOK("GET", "/"+o.number+"/contacts?phone_number=%2B"+person.number[1:], "", "", &found); err != nil {
			return err
		}

		if len(found) != 1 || person.bsuid != "" && (found[0].BSUID == nil || *found[0].BSUID != person.bsuid) {
			r.discrepancy("%s: %s and %s are not one contact: %v", o.name, person.number, person.bsuid, found)
			continue
		}

		var theirs []string
		err := o.eachItem("/"+o.number+"/messages?limit=100&contact_id="+found[0].ID, func(item json.RawMessage) error {
			var m row
			err := json.Unmarshal(item, &m)
			theirs = append(theirs, m.ID)
			return err
		})
		if err != nil {
			return err
		}

		for _, id := range person.messages {
			if !slices.Contains(theirs, id) {
				r.discrepancy("%s: %s is not a message of %s, who is one contact", o.name, id, person.number)
			}
		}
	}
	return nil
}
