package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"confab/app/api/content"
	"confab/app/api/rest"
	"confab/app/limit"
	"confab/jobs/provider"
)

const (
	maxTag     = 512
	maxGroupID = 256
)

// messageBody is what we need to know of a message. Everything in it may be of any type: that is
// the provider's to judge.
type messageBody struct {
	RecipientType looseText       `json:"recipient_type"`
	To            looseText       `json:"to"`
	Recipient     looseText       `json:"recipient"`
	Type          looseText       `json:"type"`
	Context       json.RawMessage `json:"context"`
	Tag           json.RawMessage `json:"biz_opaque_callback_data"`
	Status        looseText       `json:"status"`
	MessageID     looseText       `json:"message_id"`
}

// looseText is a text, or a number as one; "" for anything else.
type looseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseText) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil && raw[0] != '{' && raw[0] != '[' && raw[0] != 't' && raw[0] != 'f' {
		text = string(raw)
	}
	*t = looseText(text)
	return nil
}

// postMessage handles POST /graph/:object/messages: a message, or a read receipt.
func (g *Server) postMessage(r *rest.Request) (rest.Reply, error) {
	var in messageBody
	if err := json.Unmarshal(r.Body, &in); err != nil {
		return rest.Reply{}, rest.Fail(rest.InvalidJSON, "The body cannot be read.")
	}
	if provider.JSONDepth(r.Body) > provider.MaxDepth {
		return rest.Reply{}, rest.Fail(rest.InvalidJSON, "The body is nested too deep.")
	}

	if in.Type == "" && in.Status != "" {
		return g.receipt(r, in)
	}

	body := withoutToken(r.Body)
	out, err := in.outgoing(body)
	if err != nil {
		return rest.Reply{}, err
	}
	tag, err := in.tag()
	if err != nil {
		return rest.Reply{}, err
	}

	c := callOf(r)
	if err := g.takePlace(r, c); err != nil {
		return rest.Reply{}, err
	}
	return g.API.PassOn(r, out, body, tag, func(message string) { c.begin(g.Answers, message) })
}

// takePlace takes a place among those who wait for an answer.
func (g *Server) takePlace(r *rest.Request, c *call) (err error) {
	c.permit, err = g.waiting.Acquire(r.HTTP.Context(), r.Holder(), 1, nil)
	if errors.Is(err, limit.ErrExhausted) || errors.Is(err, context.Canceled) {
		err = rest.Fail(rest.RateLimitExceeded, "Too many messages are waiting to be sent. Please retry.")
	}
	return err
}

// outgoing is the message that a body asks for.
func (in *messageBody) outgoing(body json.RawMessage) (out content.OutgoingMessage, err error) {
	kind := cmp.Or(string(in.Type), "text")
	if len(kind) > 64 {
		return out, rest.Invalid("type", "must have at most 64 characters")
	}
	out = content.Passed(kind, provider.GetMember(body, kind))

	switch phone, isPhone := provider.ParsePhone(withoutSigns.Replace(string(in.To))); {
	case in.RecipientType == "group" && len(in.To) > 2 && len(in.To) <= maxGroupID && isPrintable(string(in.To)):
		out.Recipient = string(in.To) // a group is addressed as one person is
	case isPhone:
		out.To = phone
	case in.To != "":
		return out, rest.ErrPhone("to")
	case provider.BSUID.MatchString(string(in.Recipient)):
		out.Recipient = string(in.Recipient)
	case in.Recipient != "":
		return out, rest.Invalid("recipient", "must be a business-scoped user id")
	default:
		return out, rest.Missing("to")
	}

	var replied struct {
		MessageID looseText `json:"message_id"`
	}
	_ = json.Unmarshal(in.Context, &replied) // the provider says so if it cannot be read
	if id := string(replied.MessageID); id != "" && len(id) <= rest.MaxMessageID {
		out.ReplyTo = &id
	}
	return out, nil
}

// withoutSigns takes away what the provider takes in a number, too.
var withoutSigns = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "")

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c < '!' || c > '~' })
}

// tag is the client's own tag; nil for none.
func (in *messageBody) tag() (*string, error) {
	if rest.Absent(in.Tag) {
		return nil, nil
	}
	var tag string
	if json.Unmarshal(in.Tag, &tag) != nil || !rest.Between(tag, 0, maxTag) {
		return nil, rest.Invalid(provider.TagMember, "must be a text of at most 512 characters")
	}
	return &tag, nil
}

// receipt passes a read receipt on, and records it when the provider has taken it.
func (g *Server) receipt(r *rest.Request, in messageBody) (rest.Reply, error) {
	if err := g.API.CheckReceipt(r); err != nil {
		return rest.Reply{}, err
	}

	r.DetachContext()
	answer, err := g.pass(r)
	if err == nil && answer.Status/100 == 2 {
		err = g.API.RecordRead(r, string(in.MessageID))
	}
	return asReply(answer), err
}
