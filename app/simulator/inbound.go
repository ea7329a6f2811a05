package simulator

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Inbound lets a user write to a business number and returns the message id. The message is one
// as POST /_sim/inbound takes it. The callback is queued when it returns.
func (s *Server) Inbound(message map[string]any) (id string, err error) {
	return s.receiveInbound(throughJSON[object](message))
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
	kind, from, bsuid, username := firstOf(in.text("type"), "text"), in.text("from"), in.text("bsuid"), in.text("username")

	switch {
	case from == "" && bsuid == "":
		return "", missing("from")
	case from != "" && !validPhone(from):
		return "", invalid("from", "is no phone number")
	case bsuid != "" && !bsuidPattern.MatchString(bsuid):
		return "", invalid("bsuid", "is no business-scoped user id")
	case username != "" && !validUsername(username):
		return "", invalid("username", "has 3 to 35 letters, digits, dots and underscores")
	case in.has("id") && (in.text("id") == "" || len(in.text("id")) > maxMessageID):
		return "", invalid("id", "has 1 to 256 characters")
	}

	numberID, content, err := s.readInbound(kind, in)
	if err != nil {
		return "", err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	user := s.world.People.ensure(waID(from), bsuid)
	if user.Blocked {
		return "", invalid("from", "has blocked businesses: unblock first")
	}
	user.Name, user.Username = firstOf(in.text("name"), user.Name), firstOf(username, user.Username)

	// Only what a user writes opens the service window.
	if kind != "edit" && kind != "revoke" && kind != "system" {
		user.setWrote(numberID, s.nowMS())
	}
	if in.child("referral").text("source_type") == "ad" {
		if user.FreeUntil == nil {
			user.FreeUntil = map[string]int64{}
		}
		user.FreeUntil[numberID] = s.nowMS() + 3*day.Milliseconds()
	}
	s.publishPerson(user)

	m := s.recordInbound(numberID, user, in.text("id"), kind, content)
	s.notifyMessage(m, nil)
	return m.ID, nil
}

const maxMessageID = 256

// numberFor finds the business number that a request means: the first where it names none.
func (s *Server) numberFor(in object) (*number, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if id := in.text("phone_number_id"); id != "" {
		if n := s.world.Numbers[id]; n != nil {
			return n, nil
		}
		return nil, notFound("There is no number " + id + ".")
	}
	if all := s.world.numbersOf(""); len(all) > 0 {
		return all[0], nil
	}
	return nil, missing("phone_number_id")
}

// recordInbound stores a message of a user and queues its callback. An empty id is made up.
func (s *Server) recordInbound(numberID string, user *person, id, kind string, content object) *message {
	m := &message{ID: firstOf(id, newInboundWamid(user)), Dir: inbound, Number: numberID, Type: kind, Status: "delivered"}
	content.addUser("from_", "from", user)

	v := value{Messages: []object{content}}
	if kind != "system" { // which is about a user, not from one
		v.Contacts = contactsOf(user)
	}
	s.recordAs(m, user, content, fieldMessages, v)
	return m
}

// readInbound reads the business number and the content of a message, with the parts that
// any message may have: referral, errors and context.
func (s *Server) readInbound(kind string, in object) (numberID string, content object, err error) {
	n, err := s.numberFor(in)
	if err != nil {
		return "", nil, err
	}

	content = object{}
	for _, extra := range []string{"referral", "errors"} {
		if in.has(extra) {
			content[extra] = in[extra]
		}
	}
	if context := in.child("context"); context != nil {
		content["context"] = s.completeContext(n, context)
	}

	switch kind {
	case "unsupported":
		readUnsupported(in, content)
	case "image", "video", "audio", "document", "sticker":
		content[kind], err = s.receiveMedia(n.ID, kind, in.child(kind))
	default:
		content[kind], err = readInboundContent(kind, in)
	}
	return n.ID, content, err
}

// readInboundContent reads a content that has no file.
func readInboundContent(kind string, in object) (any, error) {
	needed, known := inboundNeeds[kind]
	if kind == "text" && in.isText("text") {
		in["text"] = object{"body": in.text("text")} // a shorthand
	}

	content := in.child(kind)
	switch {
	case !known:
		return nil, invalid("type", fmt.Sprintf("%q is no type of inbound message", kind))
	case !in.has(kind):
		return nil, missing(kind)
	case kind == "contacts" && len(in.list(kind)) == 0:
		return nil, invalid("contacts", "must be a list of contacts")
	case kind == "contacts":
		return in[kind], nil
	case content == nil:
		return nil, invalid(kind, "must be an object")
	}

	for _, key := range needed {
		if !content.has(key) {
			return nil, missing(kind + "." + key)
		}
		if kind == "location" {
			place, ok := content.decimal(key)
			if !ok {
				return nil, invalid("location."+key, "must be a number")
			}
			content[key] = place // it may have come as a string
		}
	}
	return content, nil
}

// inboundNeeds lists the keys that each type of content must have.
var inboundNeeds = map[string][]string{
	"text": {"body"}, "location": {"latitude", "longitude"}, "interactive": {"type"}, "button": {"text"},
	"reaction": {"message_id"}, "order": {"product_items"}, "system": {"type"}, "contacts": {},
	"edit": {"original_message_id", "message"}, "revoke": {"original_message_id"},
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
func (s *Server) completeContext(n *number, given object) object {
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
	context["from"] = n.Phone
	if m := s.messages.byID[context.text("id")]; m != nil && m.Dir == inbound {
		context["from"] = m.party()
	}
	return context
}
