package simulator

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Inbound is a message from a user to a business number, as POST /_sim/inbound takes it.
type Inbound struct {
	PhoneNumberID string `json:"phone_number_id,omitempty"` // the first number when empty
	From          string `json:"from,omitempty"`            // the user's number; or
	BSUID         string `json:"bsuid,omitempty"`           // the user's id, when the number is hidden
	Name          string `json:"name,omitempty"`
	Username      string `json:"username,omitempty"`
	Type          string `json:"type,omitempty"` // text when empty
	Text          string `json:"text,omitempty"` // the body of a text
	// Content holds the rest of the message as in a provider's callback, keyed
	// by name: the content under its type, context, referral, errors, and id
	// to use a message id again.
	Content map[string]any `json:"-"`
}

// Inbound lets a user write to a business number and returns the message id.
// The callback is queued when it returns.
func (s *Server) Inbound(in Inbound) (id string, err error) {
	body := object{}
	if err := errors.Join(throughJSON(in.Content, &body), throughJSON(in, &body)); err != nil {
		return "", err
	}
	return s.receiveInbound(body)
}

var usernamePattern = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_]|\.[a-z0-9_])*$`)

// validUsername applies the provider's rule: 3 to 35 characters, at least one
// letter, in either case, no dot at either end or next to another.
func validUsername(name string) bool {
	name = strings.ToLower(name)
	letter := slices.ContainsFunc([]byte(name), func(c byte) bool { return c >= 'a' && c <= 'z' })
	return len(name) >= 3 && len(name) <= 35 && letter && usernamePattern.MatchString(name)
}

// receiveInbound takes a message from a user, in the form of a body of
// /_sim/inbound.
func (s *Server) receiveInbound(in object) (string, error) {
	kind := firstOf(in.text("type"), "text")
	phone, bsuid := waID(in.text("from")), in.text("bsuid")

	switch {
	case in.text("from") == "" && bsuid == "":
		return "", missing("from")
	case in.text("from") != "" && !validPhone(in.text("from")):
		return "", invalid("from", "is no phone number")
	case bsuid != "" && !bsuidPattern.MatchString(bsuid):
		return "", invalid("bsuid", "is no business-scoped user id")
	case in.text("username") != "" && !validUsername(in.text("username")):
		return "", invalid("username", "has 3 to 35 letters, digits, dots and underscores")
	case in.has("id") && (in.text("id") == "" || len(in.text("id")) > maxMessageID):
		return "", invalid("id", "has 1 to 256 characters")
	}

	numberID, err := s.numberFor(in)
	if err != nil {
		return "", err
	}
	content, err := s.readInbound(numberID, kind, in)
	if err != nil {
		return "", err
	}

	m, err := s.storeInbound(numberID, phone, bsuid, kind, in, content)
	if err != nil {
		return "", err
	}

	s.notifyMessage(m, nil)
	return m.ID, nil
}

const maxMessageID = 256

// numberFor finds the business number that a request means.
func (s *Server) numberFor(in object) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	id := in.text("phone_number_id")
	if id == "" {
		all := s.world.numbersOf("")
		if len(all) == 0 {
			return "", missing("phone_number_id")
		}
		return all[0].ID, nil
	}

	if s.world.Numbers[id] == nil {
		return "", notFound("There is no number " + id + ".")
	}
	return id, nil
}

// storeInbound stores an inbound message with what it says about its sender.
func (s *Server) storeInbound(numberID, phone, bsuid, kind string, in, content object) (*message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	user := s.world.People.ensure(phone, bsuid)
	if user.Blocked {
		return nil, invalid("from", "has blocked businesses: unblock first")
	}
	user.Name = firstOf(in.text("name"), user.Name)
	user.Username = firstOf(in.text("username"), user.Username)

	// Only what a user writes opens the service window.
	if kind != "edit" && kind != "revoke" && kind != "system" {
		user.setWrote(numberID, s.nowMS())
	}

	s.publishPerson(user)
	return s.recordInbound(s.world.Numbers[numberID], user, in.text("id"), kind, content)
}

// recordInbound stores a message of a user and queues its callback. An empty id is made up.
func (s *Server) recordInbound(n *number, user *person, id, kind string, content object) (*message, error) {
	m := &message{
		ID: firstOf(id, newInboundWamid(user.party(), user.Phone == "")), Dir: inbound, Number: n.ID,
		Phone: user.Phone, BSUID: user.BSUID, Type: kind, Status: "delivered", At: s.nowMS(),
	}
	wire := inboundWire(m, user, content)
	var err error
	if m.Request, err = marshal(wire); err != nil {
		return nil, err
	}

	s.storeMessage(m)
	v := value{Messages: []object{wire}}

	// A system message is about a user, not from one.
	if kind != "system" {
		v.Contacts = contactsOf(user)
	}
	s.queueUpdate(n, fieldMessages, v)
	return m, nil
}

// inboundWire is the message as callbacks show it. A hidden number is left out.
func inboundWire(m *message, user *person, content object) object {
	wire := object{"id": m.ID, "timestamp": seconds(m.At), "type": m.Type}
	wire.addUser("from_", "from", user)
	maps.Copy(wire, content)
	return wire
}

// readInbound reads the content of a message, and the parts that any message
// may have: referral, errors and context.
func (s *Server) readInbound(numberID, kind string, in object) (object, error) {
	content := object{}
	for _, extra := range []string{"referral", "errors"} {
		if in.has(extra) {
			content[extra] = in[extra]
		}
	}
	if context := in.child("context"); context != nil {
		content["context"] = s.completeContext(numberID, context)
	}

	switch kind {
	case "unsupported":
		readUnsupported(in, content)
		return content, nil
	case "text", "location", "contacts", "interactive", "button", "reaction", "order", "system", "edit", "revoke":
	case "image", "video", "audio", "document", "sticker":
		file, err := s.receiveMedia(numberID, kind, in.child(kind))
		content[kind] = file
		return content, err
	default:
		return nil, invalid("type", fmt.Sprintf("%q is no type of inbound message", kind))
	}

	if kind == "text" && in.isText("text") {
		in["text"] = map[string]any{"body": in.text("text")} // a shorthand
	}
	if !in.has(kind) {
		return nil, missing(kind)
	}
	if err := checkInbound(kind, in); err != nil {
		return nil, err
	}

	content[kind] = in[kind]
	if kind == "location" {
		content[kind] = withNumbers(in.child(kind), "latitude", "longitude")
	}
	return content, nil
}

// inboundNeeds lists the keys that each type of content must have.
var inboundNeeds = map[string][]string{
	"text": {"body"}, "location": {"latitude", "longitude"}, "interactive": {"type"}, "button": {"text"},
	"reaction": {"message_id"}, "order": {"product_items"}, "system": {"type"},
	"edit": {"original_message_id", "message"}, "revoke": {"original_message_id"},
}

func checkInbound(kind string, in object) error {
	if kind == "contacts" {
		if len(in.list("contacts")) == 0 {
			return invalid("contacts", "must be a list of contacts")
		}
		return nil
	}

	content := in.child(kind)
	if content == nil {
		return invalid(kind, "must be an object")
	}

	for _, key := range inboundNeeds[kind] {
		if !content.has(key) {
			return missing(kind + "." + key)
		}
		if _, ok := content.decimal(key); kind == "location" && !ok {
			return invalid("location."+key, "must be a number")
		}
	}
	return nil
}

// readUnsupported fills in what the provider says about a message that it
// cannot show: 131051, or the code asked for, such as 131060.
func readUnsupported(in, content object) {
	code, ok := in.integer("error_code")
	if !ok {
		code = 131051
	}

	if !in.has("errors") {
		e := asStatusError(int(code))
		if code == 131051 {
			e.Title, e.Message = "Message type unknown", "Message type unknown"
		}
		content["errors"] = []statusError{e}
	}

	content["unsupported"] = object{"type": firstOf(in.child("unsupported").text("type"), "unknown")}
}

// completeContext fills in the context of a reply: who wrote the message that
// it answers.
func (s *Server) completeContext(numberID string, given object) object {
	context := maps.Clone(given)

	// A send names the earlier message message_id, a callback id.
	if id := context.text("message_id"); id != "" {
		delete(context, "message_id")
		context["id"] = id
	}

	if !context.has("id") || context.has("from") {
		return context
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	context["from"] = s.world.Numbers[numberID].Phone
	if m := s.messages.byID[context.text("id")]; m != nil && m.Dir == inbound {
		context["from"] = m.party()
	}
	return context
}

// withNumbers converts fields to numbers where they came as strings.
func withNumbers(o object, keys ...string) object {
	fixed := maps.Clone(o)
	for _, key := range keys {
		if f, ok := o.decimal(key); ok {
			fixed[key] = f
		}
	}
	return fixed
}
