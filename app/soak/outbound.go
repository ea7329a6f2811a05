package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// sendersAtOnce is how many clients of a tenant send.
const sendersAtOnce = 8

// people is how many people each tenant writes to.
const people = 3000

// person returns the phone number of one of them. Each tenant has its own people.
func (o *tenant) person(random *rand.Rand) string {
	return fmt.Sprintf("+1555%d%06d", o.index, random.IntN(people))
}

// sendMessages keeps sending messages of all types until ctx ends. Each is repeated with
// the same idempotency key until it is acknowledged.
func (o *tenant) sendMessages(ctx context.Context, random *rand.Rand) error {
	for o.outboundLimit.Wait(ctx) == nil {
		kind, content := o.outboundContent(random)
		body, err := json.Marshal(map[string]any{"messaging_product": "chat", "to": o.person(random), "type": kind, kind: content})
		if err != nil {
			return err
		}

		var made struct{ ID string }
		if err := o.callOK("POST", "/"+o.number+"/messages", string(body), fmt.Sprintf("send %016x", random.Uint64()), &made); err != nil {
			return err
		}

		o.mu.Lock()
		o.sent[made.ID] = kind
		o.mu.Unlock()
	}
	return nil
}

// outboundContent returns what to send, chosen at random; mostly text, as in practice.
func (o *tenant) outboundContent(random *rand.Rand) (kind string, content any) {
	said := map[string]any{"body": fmt.Sprintf("This is number %d.", random.IntN(1_000_000))}

	switch random.IntN(12) {
	case 0:
		return "image", map[string]any{"link": o.trial.receiver.url + "/picture.png", "caption": "a link"}
	case 1:
		return "image", map[string]any{"id": o.media, "caption": "from the library"}
	case 2:
		return "document", map[string]any{"link": o.trial.receiver.url + "/picture.png", "filename": "picture.png"}
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
		if target := o.someReceived(random); target != "" {
			return "reaction", map[string]any{"message_id": target, "emoji": "👍"}
		}
	}
	return "text", said
}

// someReceived returns the id of a text that a person wrote, or "".
func (o *tenant) someReceived(*rand.Rand) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, kind := range o.received { // the order of a map is random enough
		if kind == "text" {
			return id
		}
	}
	return ""
}
