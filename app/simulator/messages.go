package simulator

import (
	"encoding/json"
	"strings"
	"time"
)

// direction says who sent a message, and how.
type direction string

const (
	outbound direction = "out"  // by the business, through the API
	inbound  direction = "in"   // by a user
	echoed   direction = "echo" // by the business, from the phone app
)

type message struct {
	ID       string          `json:"id"`
	Dir      direction       `json:"dir"`
	Number   string          `json:"number"`
	To       string          `json:"to,omitempty"`    // as given
	Phone    string          `json:"phone,omitempty"` // of the user, as waID writes it
	BSUID    string          `json:"bsuid,omitempty"` // when addressed by it
	Type     string          `json:"type"`
	Request  json.RawMessage `json:"request,omitempty"`
	Status   string          `json:"status"`
	At       int64           `json:"at"`
	Opaque   string          `json:"opaque,omitempty"`
	Category string          `json:"category,omitempty"`
	Free     bool            `json:"free,omitempty"`  // in the service window
	Entry    int64           `json:"entry,omitempty"` // until when all is free, after an ad
	Voice    bool            `json:"voice,omitempty"`
	Priced   bool            `json:"priced,omitempty"`  // pricing was reported after status sent
	Counted  bool            `json:"counted,omitempty"` // among the service messages of its number and month
	Charged  bool            `json:"charged,omitempty"` // it is beyond those that are free

	// components are those of the template as it was when the message was sent. After a
	// restart those of the template as it is then are shown.
	components []object
}

// party is the user's number, or the BSUID where there is no number.
func (m *message) party() string { return firstOf(m.Phone, m.BSUID) }

// belongsTo reports whether the message is one of the user with a number and an id.
func (m *message) belongsTo(phone, bsuid string) bool {
	if m.Phone != "" {
		return m.Phone == phone
	}
	return m.BSUID == bsuid
}

// messageLog stores messages, oldest first, up to a limit.
type messageLog struct {
	limit int
	all   []*message
	byID  map[string]*message
}

func newMessageLog(limit int) messageLog {
	return messageLog{limit: limit, byID: map[string]*message{}}
}

// add stores a message and removes the oldest one beyond the limit.
func (l *messageLog) add(m *message) {
	l.all = append(l.all, m)
	l.byID[m.ID] = m

	if len(l.all) > l.limit {
		old := l.all[0]
		l.all[0] = nil // the slice keeps its place until append moves the rest
		l.all = l.all[1:]
		if l.byID[old.ID] == old {
			delete(l.byID, old.ID)
		}
	}
}

func (l *messageLog) drop(matches func(*message) bool) {
	all := l.all
	*l = newMessageLog(l.limit)
	for _, m := range all {
		if !matches(m) {
			l.add(m)
		}
	}
}

// rfc3339 writes a time as the control surface does.
func rfc3339(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

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
		return nil, notValid("typing_indicator.type must be text")
	}

	// Only the number that a user wrote to can mark the message as read.
	m := s.messages.byID[id]
	if m == nil || m.Dir != inbound || m.Number != c.id {
		return nil, notValid("Message ID not found or not received by this phone number.")
	}

	m.Status = "read"
	s.publishMessage(m)
	if c.params.has("typing_indicator") {
		s.publish("typing", func() any { return object{"person": displayed(m.Phone), "bsuid": m.BSUID, "phone_number_id": m.Number} })
	}
	return object{"success": true}, nil
}

// draft is a message that is being checked before it is accepted.
type draft struct {
	*message
	failure *int // the code to report by callback, if it will fail
	link    string
}

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
		d.Request = marshal(c.params)
	}

	if err := s.accept(c, d); err != nil {
		return nil, err
	}

	s.notifyMessage(d.message, d.failure)
	return d.answer(), nil
}

// readEnvelope reads the parts that all messages share.
func (c *call) readEnvelope() (*draft, error) {
	d := &draft{message: &message{
		Dir: outbound, Number: c.id, To: c.params.text("to"), Status: "accepted", Opaque: c.params.text("biz_opaque_callback_data"),
	}}
	recipient, kind := c.params.text("recipient"), c.params.text("recipient_type")

	switch {
	case d.To == "" && recipient == "":
		return nil, badRequest(codeInvalidParameter, 0, "The parameter to is required.")
	case kind != "" && kind != "individual" && kind != "group":
		return nil, badParameter("Param recipient_type must be one of {INDIVIDUAL, GROUP} - got \"%s\".", kind)
	case kind == "group":
		return nil, refuse(131041)
	case chars(d.Opaque) > maxOpaque:
		return nil, tooLong("biz_opaque_callback_data", maxOpaque)
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
		return nil, notValid("Recipient phone number is not valid: %s", d.To)
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
			return notValid("context is not allowed for reactions")
		case context.text("message_id") == "" && !context.isText("message_id"):
			return refuseWith(codeMissingParameter, "context.message_id is missing")
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
	n := s.world.Numbers[c.id]
	switch {
	case n.Status != statusConnected:
		return refuse(133010)
	case d.Phone == waID(n.Phone):
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
	if err := s.limits.allow(time.Now(), &s.world.Settings, n, d.party()); err != nil {
		return err
	}

	d.ID, d.At = newWamid(d.Phone, d.BSUID), s.nowMS()
	s.predictFailure(c, d)
	s.messages.add(d.message)
	s.publishMessage(d.message)
	s.scheduleStatuses(d.message, d.failure)
	return nil
}

// predictFailure decides whether the message will fail later, and for what reason.
func (s *Server) predictFailure(c *call, d *draft) {
	user := s.world.People.find(d.party())
	d.Free = user.windowOpen(d.Number, d.At)
	if user != nil && user.FreeUntil[d.Number] > d.At {
		d.Entry = user.FreeUntil[d.Number]
	}

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
	case d.Type != "template" && s.world.Settings.ServiceWindow && !d.Free:
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
