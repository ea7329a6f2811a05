package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"confab/app/tools/rig"
)

func (o *tenant) receiveMessages(ctx context.Context) {
	for o.inboundLimit.Wait(ctx) == nil {
		switch rand.IntN(20) {
		case 0:
			o.sendEcho()
		case 1:
			o.changeMessage("edit", `{"text":"what I meant"}`)
		case 2:
			o.changeMessage("revoke", `{}`)
		case 3:
			o.markRead()
		default:
			o.writeMessage()
		}
	}
}

func (o *tenant) writeMessage() {
	kind, content := o.inboundContent()
	o.receive(kind, map[string]any{
		"phone_number_id": o.number,
		"from":            o.person(),
		"name":            "Somebody",
		"type":            kind,
		kind:              content,
	})
}

func (o *tenant) receive(kind string, message map[string]any) {
	var made struct{ ID string }
	o.trial.sim.Call("POST", "/_sim/inbound", string(rig.Must(json.Marshal(message))), &made)
	o.record(func() { o.received[made.ID] = kind })
}

func (o *tenant) inboundContent() (kind string, content any) {
	switch rand.IntN(10) {
	case 0:
		return "image", map[string]any{"data": base64.StdEncoding.EncodeToString(picture), "caption": "look"}
	case 1:
		return "location", map[string]any{"latitude": 52.5, "longitude": 13.4}
	case 2:
		return "button", map[string]any{"text": "Yes", "payload": "yes"}
	case 3:
		if target := o.someReceived(); target != "" {
			return "reaction", map[string]any{"message_id": target, "emoji": "🎉"}
		}
	}
	return "text", map[string]any{"body": fmt.Sprintf("hello %d", rand.IntN(1_000_000))}
}

func (o *tenant) sendEcho() {
	var made struct{ ID string }
	body := fmt.Sprintf(`{"phone_number_id":%q,"to":%q,"type":"text","text":{"body":"from the phone"}}`, o.number, o.person())
	o.trial.sim.Call("POST", "/_sim/echo", body, &made)
	o.record(func() { o.echoed[made.ID] = true })
}

func (o *tenant) changeMessage(how, body string) {
	if target := o.someReceived(); target != "" {
		o.trial.sim.Call("POST", "/_sim/messages/"+target+"/"+how, body, nil)
	}
}

// markRead marks something that a person wrote as read. It may not have
// arrived yet.
func (o *tenant) markRead() {
	if target := o.someReceived(); target != "" {
		body := fmt.Sprintf(`{"messaging_product":"chat","status":"read","message_id":%q}`, target)
		o.callAllowing(notFound, rig.Request{Method: "POST", Path: "/" + o.number + "/messages", Body: body}, nil)
	}
}
