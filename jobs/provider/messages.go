package provider

import "context"

// Sent is the provider's answer when it accepts a message, which is no delivery yet.
type Sent struct {
	ID   string // of the message at the provider
	WaID string // the recipient's number, which may differ from the one that we wrote
}

// Send sends a message of any type. The body is in the provider's dialect, as
// ToProvider makes it.
//
// The provider has no idempotency key: after an error with outcome Unknown it
// may have accepted the message, and only a status callback can say.
//
// The answer is kept as it came where keep is not nil.
func (c *Client) Send(ctx context.Context, tok Token, phoneNumberID string, body []byte, keep *Answer) (Sent, error) {
	rq := post("send message", phoneNumberID, "messages", body)
	rq.keep = keep

	var a struct {
		envelope
		Contacts []struct {
			WaID string `json:"wa_id"`
		} `json:"contacts"`
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	rq.check = func() error { return requireKey("messages[0].id", len(a.Messages) > 0 && a.Messages[0].ID != "") }
	if err := c.do(ctx, tok, rq, &a); err != nil {
		return Sent{}, err
	}

	// Without the lists around it: we send one message to one recipient.
	s := Sent{ID: a.Messages[0].ID}
	if len(a.Contacts) > 0 {
		s.WaID = a.Contacts[0].WaID
	}
	return s, nil
}

// MarkRead shows the sender of an inbound message that this message and all
// earlier ones were read. Typing also shows the typing indicator, for 25 s or
// until the next message; the provider does not offer it alone.
func (c *Client) MarkRead(ctx context.Context, tok Token, phoneNumberID, messageID string, typing bool) error {
	receipt := map[string]any{"messaging_product": theirProduct, "status": "read", "message_id": messageID}
	if typing {
		receipt["typing_indicator"] = map[string]string{"type": "text"}
	}
	return c.order(ctx, tok, post("mark read", phoneNumberID, "messages", encode(receipt)))
}
