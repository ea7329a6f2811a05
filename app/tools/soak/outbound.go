package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"confab/app/tools/rig"
)

// sendersAtOnce is how many clients of a tenant send, and people to how many.
const sendersAtOnce, people = 8, 3000

// person returns the phone number of one of them. Each tenant has its own people.
func (o *tenant) person() string {
	return fmt.Sprintf("+1555%d%06d", o.index, rand.IntN(people))
}

// recipient is whom a message is for: a number in the field to, or an id of the provider in
// the field recipient.
type recipient struct{ field, value string }

func (o *tenant) sendMessages(ctx context.Context) {
	for o.outboundLimit.Wait(ctx) == nil {
		kind, content := o.outboundContent()
		o.send(recipient{"to", o.person()}, kind, content)
	}
}

func newIdempotencyKey() string { return fmt.Sprintf("send %016x", rand.Uint64()) }

// send sends one message and returns its id. It is repeated with the same idempotency key until it is
// answered. No fault is a reason to refuse it.
func (o *tenant) send(to recipient, kind string, content map[string]any) (id string) {
	body := string(rig.Must(json.Marshal(map[string]any{"messaging_product": "chat", "type": kind, kind: content, to.field: to.value})))
	key := newIdempotencyKey()
	id = o.create("/"+o.number+"/messages", body, key)

	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent[id] = kind
	if len(o.sent)%repeatEvery == 1 {
		said, _ := content["body"].(string)
		o.repeats = append(o.repeats, acknowledged{key, body, id, said})
	}
	return id
}

// acknowledged is a send that the audit repeats, and finds by what it says, if it is a text.
type acknowledged struct{ key, body, id, said string }

const repeatEvery = 50

// outboundContent returns what to send, chosen at random; mostly text, as in practice.
func (o *tenant) outboundContent() (kind string, content map[string]any) {
	said := map[string]any{"body": fmt.Sprintf("This is number %d.", rand.IntN(1_000_000))}

	switch rand.IntN(12) {
	case 0:
		return "image", map[string]any{"link": o.trial.receiver.picture(), "caption": "a link"}
	case 1:
		return "image", map[string]any{"id": o.media, "caption": "from the library"}
	case 2:
		return "document", map[string]any{"link": o.trial.receiver.picture(), "filename": "picture.png"}
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
