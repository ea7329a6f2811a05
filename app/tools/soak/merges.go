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

// mergePerson makes one of two contacts while messages to both are under way, in one of three
// ways.
func (o *tenant) mergePerson(_ context.Context, n int) {
	way := n % 3
	number, bsuid := fmt.Sprintf("+1555%d%d%06d", o.index+7, way, n), fmt.Sprintf("US.%d%d%014d", o.index+1, way, n)
	former := fmt.Sprintf("+1555%d3%06d", o.index+7, n)
	one := mergedPerson{number: number, bsuid: bsuid}
	both := []recipient{{"to", number}, {"recipient", bsuid}}

	write := func() { one.messages = append(one.messages, o.writeToBoth(both...)...) }
	receive := func(number, bsuid string) {
		o.receive("text", map[string]any{"phone_number_id": o.number, "from": number, "bsuid": bsuid, "type": "text", "text": "It is me."})
	}
	identify := func(number, as string) { o.trial.sim.Call("POST", "/_sim/contacts/"+number+"/identity", as, nil) }

	rig.Within("merge", func() {
		switch way {
		case 0: // the first status of a message to the number names the id
			identify(number, fmt.Sprintf(`{"bsuid":%q}`, bsuid))
			write()
		case 1: // who was written to by number and by id writes and shows both
			receive("", bsuid)
			write()
			receive(number, bsuid)
			write()
		case 2: // the provider says that a number has changed, after messages went to the old and to the new one
			one.bsuid, both = "", []recipient{{"to", former}, {"to", number}}
			receive(former, "")
			write()
			identify(former, fmt.Sprintf(`{"phone_number":%q}`, number))
		}
	})
	o.record(func() { o.merged = append(o.merged, one) })
	o.trial.count("fault: people merged during calls")
}

func (o *tenant) writeToBoth(recipients ...recipient) []string {
	recipients = append(recipients, recipients...)
	ids := make([]string, len(recipients))
	rig.RunParallel(len(recipients), func(i int) {
		// The audit searches for what some say, and would find each of thousands that say the same.
		ids[i] = o.send(recipients[i], "text", map[string]any{"body": fmt.Sprintf("Are you number %d?", rand.IntN(1_000_000))})
	})
	return ids
}

// auditMerges checks that each person is one contact, and that it has the messages of
// both that it was.
func (o *tenantAudit) auditMerges() {
	for _, person := range o.merged {
		var found []struct {
			ID    string
			BSUID *string
		}
		o.get("/"+o.number+"/contacts?phone_number=%2B"+person.number[1:], &found)
		if len(found) != 1 || person.bsuid != "" && (found[0].BSUID == nil || *found[0].BSUID != person.bsuid) {
			o.discrepancy("%s and %s are not one contact: %v", person.number, person.bsuid, found)
			continue
		}

		theirs := list[row](o.client, "/"+o.number+"/messages?limit=100&contact_id="+found[0].ID)
		for _, id := range person.messages {
			o.expect(slices.ContainsFunc(theirs, func(m row) bool { return m.ID == id }),
				"%s is not a message of %s, who is one contact", id, person.number)
		}
	}
}
