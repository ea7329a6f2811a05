package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"confab/app/tools/rig"
)

// sendersAtOnce is how many clients of a tenant send.
const sendersAtOnce = 8

// people is how many people each tenant writes to.
const people = 3000

// person returns the phone number of one of them. Each tenant has its own people.
func (o *tenant) person(random *rand.Rand) string {
	return fmt.Sprintf("+1555%d%06d", o.index, random.IntN(people))
}

// recipient is whom a message is for: a number in the field to, or an id of the provider in
// the field recipient.
type recipient struct{ field, value string }

// sendMessages keeps sending messages of all types until ctx ends.
func (o *tenant) sendMessages(ctx context.Context, random *rand.Rand) {
	for o.outboundLimit.Wait(ctx) == nil {
		kind, content := o.outboundContent(random)
		o.send(recipient{"to", o.person(random)}, kind, content, newIdempotencyKey(random))
	}
}

// newIdempotencyKey returns a key that no other request has.
func newIdempotencyKey(random *rand.Rand) string { return fmt.Sprintf("send %016x", random.Uint64()) }

// send sends one message and returns its id, or "" if it was refused. It is repeated with
// the same idempotency key until it is answered.
func (o *tenant) send(to recipient, kind string, content any, key string) (id string) {
	body := rig.Must(json.Marshal(map[string]any{"messaging_product": "chat", "type": kind, kind: content, to.field: to.value}))
	a := o.callUntilAnswered(rig.Request{Method: "POST", Path: "/" + o.number + "/messages", Body: string(body), IdempotencyKey: key})

	o.mu.Lock()
	defer o.mu.Unlock()

	// No fault is a reason to refuse a message.
	if a.status >= 300 {
		o.refused = append(o.refused, fmt.Sprintf("%d %s: %s", a.status, a.body.Error.Code, a.body.Error.Message))
		return ""
	}

	var made struct{ ID string }
	rig.Check(json.Unmarshal(a.body.Data, &made))
	o.sent[made.ID] = kind
	if said, ok := content.(map[string]any)["body"].(string); ok && kind == "text" && len(o.sent)%keepEvery == 0 {
		o.said = append(o.said, spokenText{made.ID, said})
	}
	if len(o.sent)%repeatEvery == 1 {
		o.repeats = append(o.repeats, acknowledged{key, string(body), made.ID})
	}
	return made.ID
}

// acknowledged is a send that the audit repeats: the answer must be the same.
type acknowledged struct{ key, body, id string }

// repeatEvery is how many sends there are to each that is repeated.
const repeatEvery = 50

// outboundContent returns what to send, chosen at random; mostly text, as in practice.
func (o *tenant) outboundContent(random *rand.Rand) (kind string, content any) {
	said := map[string]any{"body": fmt.Sprintf("This is number %d.", random.IntN(1_000_000))}

	switch random.IntN(12) {
	case 0:
		return "image", map[string]any{"link": o.trial.receiver.Picture(), "caption": "a link"}
	case 1:
		return "image", map[string]any{"id": o.media, "caption": "from the library"}
	case 2:
		return "document", map[string]any{"link": o.trial.receiver.Picture(), "filename": "picture.png"}
	case 3:
		return "template", map[string]any{"name": "greeting", "language": "en_US"}
	case 4:
		button := map[string]any{"type": "reply", "reply": map[string]any{"id": "yes", "title": "Yes"}}
		return "interactive", map[string]any{
			"type":   "reply_buttons",
			"body":   map[string]any{"text": "Well?"},
			"action": map[string]any{"buttons": []any{button}},
		}
	case 5:
		if target := o.someReceived(); target != "" {
			return "reaction", map[string]any{"message_id": target, "emoji": "👍"}
		}
	}
	return "text", said
}

// someReceived returns the id of a text that a person wrote, or "".
func (o *tenant) someReceived() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, kind := range o.received { // the order of a map is random enough
		if kind == "text" {
			return id
		}
	}
	return ""
}
