package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"confab/app/tools/rig"
)

// mergedPerson is somebody whom the server knew as two contacts, until a callback said
// that they are one.
type mergedPerson struct {
	number   string
	bsuid    string   // "" if the provider chose it
	messages []string // that both contacts had, by our id; all must be the one's
}

// mergePerson makes one of two contacts while messages to both are under way.
func (o *tenant) mergePerson(_ context.Context, random *rand.Rand, n int) error {
	ways := []func(*rand.Rand, int) (mergedPerson, error){o.mergeByStatus, o.mergeByMessage, o.mergeByNumber}
	merged, err := ways[n%len(ways)](random, n)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}

	o.record(func() { o.merged = append(o.merged, merged) })
	o.trial.count("fault: people merged during calls")
	return nil
}

// newIdentity returns a number and an id of its own.
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

// writeToBoth sends two messages to each of two recipients at the same time, and returns
// the ids of the messages.
func (o *tenant) writeToBoth(random *rand.Rand, recipients ...recipient) ([]string, error) {
	recipients = append(recipients, recipients...)
	ids, keys := make([]string, len(recipients)), make([]string, len(recipients))
	for i := range keys {
		keys[i] = newIdempotencyKey(random)
	}

	err := rig.RunParallel(len(recipients), func(i int) (err error) {
		ids[i], err = o.send(recipients[i], "text", map[string]any{"body": "Is this you?"}, keys[i])
		return err
	})
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" }), err
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
func (o *tenantAudit) auditMerges() error {
	for _, person := range o.merged {
		var found []struct {
			ID    string  `json:"id"`
			BSUID *string `json:"bsuid"`
		}
		if err := o.get("/"+o.number+"/contacts?phone_number=%2B"+person.number[1:], &found); err != nil {
			return err
		}

		if len(found) != 1 || person.bsuid != "" && (found[0].BSUID == nil || *found[0].BSUID != person.bsuid) {
			o.discrepancy("%s and %s are not one contact: %v", person.number, person.bsuid, found)
			continue
		}

		theirs, err := list[row](o.client, "/"+o.number+"/messages?limit=100&contact_id="+found[0].ID)
		if err != nil {
			return err
		}
		for _, id := range person.messages {
			if !slices.ContainsFunc(theirs, func(m row) bool { return m.ID == id }) {
				o.discrepancy("%s is not a message of %s, who is one contact", id, person.number)
			}
		}
	}
	return nil
}
