package simulator

import (
	"encoding/json"
	"maps"
)

// echo plays a message that the business sent from the phone app.
func (s *Server) echo(in object) (string, error) {
	to := in.text("to")
	kind := firstOf(in.text("type"), "text")
	switch {
	case to == "":
		return "", missing("to")
	case !validPhone(to) && !bsuidPattern.MatchString(to):
		return "", invalid("to", "is neither a phone number nor a business-scoped user id")
	}

	numberID, err := s.numberFor(in)
	if err != nil {
		return "", err
	}
	content, err := s.readInbound(numberID, kind, in)
	if err != nil {
		return "", err
	}

	s.mu.Lock()
	m, err := s.recordEcho(numberID, to, kind, content)
	s.mu.Unlock()
	if err != nil {
		return "", err
	}

	s.notifyMessage(m, nil)
	return m.ID, nil
}

// recordEcho stores an echo and queues its callback.
func (s *Server) recordEcho(numberID, to, kind string, content object) (*message, error) {
	n := s.world.Numbers[numberID]
	user := s.world.People.describe(to)
	m := &message{
		ID: newWamid(user.party(), user.Phone == ""), Dir: echoed, Number: numberID,
		To: to, Phone: user.Phone, BSUID: user.BSUID, Type: kind, Status: "sent", At: s.nowMS(),
	}

	wire := object{"from": n.Phone, "id": m.ID, "timestamp": seconds(m.At), "type": kind}
	wire.addUser("to_", "to", user)
	maps.Copy(wire, content)

	var err error
	if m.Request, err = marshal(wire); err != nil {
		return nil, err
	}

	s.storeMessage(m)
	s.queueUpdate(n, fieldEchoes, value{Contacts: contactsOf(user), Echoes: []object{wire}})
	return m, nil
}

// controlEdit handles POST /_sim/messages/{id}/edit: a change of a message by the user
// who wrote it, or by the business in the phone app.
func (s *Server) controlEdit(c *controlCall) (any, error) {
	text := c.in.text("text")
	if text == "" {
		return nil, missing("text")
	}

	return s.queueFollowUp(c.key(), "edit", func(m *message, original object) object {
		inner := object{"type": m.Type}
		if context := original.child("context"); context.has("id") {
			inner["context"] = object{"id": context["id"]}
		}

		// Of a file only the caption can be edited.
		switch content := original.child(m.Type); m.Type {
		case "image", "video", "document":
			changed := object{}
			maps.Copy(changed, content)
			changed["caption"] = text
			inner[m.Type] = changed
		default:
			inner["type"] = "text"
			inner["text"] = object{"body": text}
		}

		return object{"original_message_id": m.ID, "message": inner}
	})
}

// controlRevoke handles POST /_sim/messages/{id}/revoke: the deletion of a message for
// everyone.
func (s *Server) controlRevoke(c *controlCall) (any, error) {
	return s.queueFollowUp(c.key(), "revoke", func(m *message, _ object) object {
		return object{"original_message_id": m.ID}
	})
}

// queueFollowUp queues a message about an earlier one.
func (s *Server) queueFollowUp(id, kind string, content func(*message, object) object) (any, error) {
	m := s.messages.byID[id]
	if m == nil {
		return nil, notFound("There is no message " + id + ".")
	}
	var original map[string]any
	if err := json.Unmarshal(m.Request, &original); err != nil {
		return nil, err
	}
	about := object{kind: content(m, original)}

	var followUp *message
	var err error
	if m.Dir == inbound {
		user := s.world.People.find(m.party()) // who may have another id by now
		if user == nil {
			user = s.world.People.ensure(m.Phone, m.BSUID)
		}
		followUp, err = s.recordInbound(s.world.Numbers[m.Number], user, "", kind, about)
	} else {
		followUp, err = s.recordEcho(m.Number, m.party(), kind, about)
	}
	if err != nil {
		return nil, err
	}
	return createdID{followUp.ID}, nil
}
