package simulator

import (
	"strings"
	"time"
)

const maxOpaque = 512

// sendResponse is the provider's answer to an accepted message.
type sendResponse struct {
	Product  string        `json:"messaging_product"`
	Contacts []sentContact `json:"contacts"`
	Messages []sentMessage `json:"messages"`
}

type sentContact struct {
	Input  string `json:"input"`
	WaID   string `json:"wa_id,omitempty"`
	UserID string `json:"user_id,omitempty"`
}

type sentMessage struct {
	ID     string `json:"id"`
	Status string `json:"message_status,omitempty"`
}

// postMessages handles POST /{phone_number_id}/messages: a message, or a
// receipt for one.
func (s *Server) postMessages(c *call) (any, error) {
	if err := c.requireProduct(); err != nil {
		return nil, err
	}
	if c.params.has("status") {
		return s.markRead(c)
	}
	return s.send(c)
}

// markRead takes a read receipt, with a typing indicator or without.
func (s *Server) markRead(c *call) (any, error) {
	if status := c.params.text("status"); status != "read" {
		return nil, badParameter("Param status must be one of {READ} - got \"%s\".", status)
	}

	id := c.params.text("message_id")
	if id == "" {
		return nil, requiredParameter("message_id")
	}
	if c.params.has("typing_indicator") && c.params.child("typing_indicator").text("type") != "text" {
		return nil, refuse(codeInvalidValue, "typing_indicator.type must be text")
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	// Only the number that a user wrote to can mark the message as read.
	m := s.messages.byID[id]
	if m == nil || m.Dir != inbound || m.Number != c.id {
		return nil, refuse(codeInvalidValue, "Message ID not found or not received by this phone number.")
	}

	s.setStatus(m, "read")
	if c.params.has("typing_indicator") {
		s.publish("typing", func() any { return object{"person": displayed(m.Phone), "bsuid": m.BSUID, "phone_number_id": m.Number} })
	}
	return success{true}, nil
}

// draft is a message that is being checked before it is accepted.
type draft struct {
	message
	failure *int // the code to report by callback, if it will fail
	link    string
}

// send accepts a message or refuses it.
func (s *Server) send(c *call) (any, error) {
	d, err := c.readEnvelope()
	if err != nil {
		return nil, err
	}
	if err := s.readContent(c, d); err != nil {
		return nil, err
	}

	// Without a JSON body, the parameters are stored as the request.
	if d.Request = c.raw; d.Request == nil {
		if d.Request, err = marshal(c.params); err != nil {
			return nil, err
		}
	}

	if err := s.accept(c, d); err != nil {
		return nil, err
	}

	s.notifyMessage(&d.message, d.failure)
	return d.answer(), nil
}

// readEnvelope reads the parts that all messages share.
func (c *call) readEnvelope() (*draft, error) {
	d := &draft{}
	d.Dir, d.Number, d.Status = outbound, c.id, "accepted"
	d.To = c.params.text("to")
	d.Opaque = c.params.text("biz_opaque_callback_data")
	recipient := c.params.text("recipient")
	kind := c.params.text("recipient_type")

	switch {
	case d.To == "" && recipient == "":
		return nil, badRequest(codeInvalidParameter, 0, "The parameter to is required.")
	case kind != "" && kind != "individual" && kind != "group":
		return nil, badParameter("Param recipient_type must be one of {INDIVIDUAL, GROUP} - got \"%s\".", kind)
	case kind == "group":
		return nil, refuse(131041)
	case len([]rune(d.Opaque)) > maxOpaque:
		return nil, badParameter("Param biz_opaque_callback_data must be at most %d characters long.", maxOpaque)
	}

	// recipient takes business-scoped user ids only, to takes numbers as well.
	if d.To == "" {
		d.To = recipient
		if !bsuidPattern.MatchString(recipient) {
			return nil, badParameter("Param recipient must be a business-scoped user ID.")
		}
	}

	if bsuidPattern.MatchString(d.To) {
		d.BSUID = d.To
		return d, nil
	}
	if !validPhone(d.To) {
		return nil, refuse(codeInvalidValue, "Recipient phone number is not valid: "+d.To)
	}
	d.Phone = waID(d.To)
	return d, nil
}

// readContent checks the type and the content of a message.
func (s *Server) readContent(c *call, d *draft) error {
	d.Type = firstOf(strings.ToLower(c.params.text("type")), "text")

	// An empty message_id passes, a missing one does not.
	if context := c.params.child("context"); context != nil {
		switch {
		case d.Type == "reaction":
			return refuse(codeInvalidValue, "context is not allowed for reactions")
		case context.text("message_id") == "" && !context.isText("message_id"):
			return refuse(codeMissingParameter, "context.message_id is missing")
		}
	}

	check, ok := contents[d.Type]
	if !ok {
		return badParameter("Param type must be one of {AUDIO, CONTACTS, DOCUMENT, IMAGE, INTERACTIVE, LOCATION, "+
			"REACTION, STICKER, TEMPLATE, TEXT, VIDEO} - got \"%s\".", c.params.text("type"))
	}
	if !c.params.has(d.Type) {
		return requiredParameter(d.Type)
	}
	return check(s, c, d)
}

// accept applies the rules that depend on the stored state, then stores the
// message and schedules its statuses.
func (s *Server) accept(c *call, d *draft) error {
	d.ID = newWamid(d.party(), d.Phone == "")

	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.world.Numbers[c.id]
	if n == nil {
		return noObject(c.r.Method, c.id)
	}
	if n.Status != statusConnected {
		return refuse(133010)
	}
	if d.Phone == waID(n.Phone) {
		return refuse(131021)
	}

	// A magic recipient fails as its code does: at once, or later by callback.
	if code, magic := magicCode(d.Phone); magic {
		if o, _ := lookupCode(code); !o.async {
			return refuse(code)
		}
		d.failure = &code
	}

	// A message that was refused above does not count against the limits.
	if err := s.limits.allow(time.Now(), &s.settings, c.id, d.party()); err != nil {
		return err
	}

	d.At = s.nowMS()
	s.predictFailure(c, d)
	s.storeMessage(d.message.snapshot())
	s.schedule(d)
	return nil
}

// predictFailure decides whether the message will fail later, and for what reason.
func (s *Server) predictFailure(c *call, d *draft) {
	user := s.world.People.find(d.party())
	d.Free = user.windowOpen(d.Number, d.At)

	// A code that a fault or the recipient asks for wins over the rules below.
	switch {
	case c.failLater != nil:
		d.failure = c.failLater
	case d.failure != nil:
	case d.Type == "reaction":
		target := s.messages.byID[c.params.child("reaction").text("message_id")]
		if target == nil || target.Type == "reaction" || d.At-target.At > (30*24*time.Hour).Milliseconds() {
			d.failure = new(codeInvalidValue)
		}
	}

	// The reasons above come first; these apply where there is none of them.
	switch {
	case d.failure != nil:
	case d.Type != "template" && s.settings.ServiceWindow && !d.Free:
		d.failure = new(codeOutsideWindow)
	case d.Category == "marketing" && user != nil && user.Stopped:
		d.failure = new(codeMarketingStopped)
	case d.link != "" && !fetchable(d.link):
		d.failure = new(codeMediaUpload)
	}
}

// answer is the response to an accepted message. A user addressed by BSUID has
// no number in it.
func (d *draft) answer() sendResponse {
	view := sendResponse{
		Product:  "whatsapp",
		Contacts: []sentContact{{Input: d.To, WaID: d.Phone}},
		Messages: []sentMessage{{ID: d.ID}},
	}

	if d.Phone == "" {
		view.Contacts[0].UserID = d.BSUID
	}
	if d.Type == "template" {
		view.Messages[0].Status = "accepted"
	}
	return view
}
