package simulator

import (
	"encoding/json"
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
	m, err := s.tellEcho(numberID, to, kind, content)
	s.mu.Unlock()
	if err != nil {
		return "", err
	}

	s.notifyMessage(m, nil)
	return m.ID, nil
}

// tellEcho remembers an echo and queues its callback.
func (s *Server) tellEcho(numberID, to, kind string, content object) (*message, error) {
	n := s.world.Numbers[numberID]
	one := s.world.People.find(to)
	phone, bsuid := digits(to), ""
	switch {
	case one != nil:
		phone, bsuid = one.Phone, one.BSUID
	case bsuidPattern.MatchString(to):
		phone, bsuid = "", to
	default:
		bsuid = bsuidFor(phone)
	}

	m := &message{
		ID: newWamid(firstOf(phone, bsuid), phone == ""), Dir: echoed, Number: numberID,
		To: to, Phone: phone, BSUID: bsuid, Type: kind, Status: "sent", At: nowMS(),
	}

	wire := object{"from": n.Phone, "to_user_id": bsuid, "id": m.ID, "timestamp": seconds(m.At), "type": kind}
	if phone != "" {
		wire["to"] = phone
	}
	for k, v := range content {
		wire[k] = v
	}

	var err error
	if m.Request, err = marshal(wire); err != nil {
		return nil, err
	}

	s.remember(m)
	s.tell(n, fieldEchoes, value{
		Product: "whatsapp", Metadata: n.metadata(),
		Contacts: []contact{contactOf(one, phone, bsuid)}, Echoes: []object{wire},
	})
	return m, nil
}

// edit plays a change of a message: by the user who wrote it, or by the
// business in the phone app.
func (s *Server) edit(id, text string) (string, error) {
	return s.follow(id, "edit", func(m *message, original object) object {
		inner := object{"type": m.Type}
		if context := original.child("context"); context.has("id") {
			inner["context"] = object{"id": context["id"]}
		}

		switch content := original.child(m.Type); m.Type {
		case "image", "video", "document":
			changed := object{}
			for k, v := range content {
				changed[k] = v
			}
			changed["caption"] = text
			inner[m.Type] = changed
		default:
			inner["type"] = "text"
			inner["text"] = object{"body": text}
		}

		return object{"original_message_id": id, "message": inner}
	})
}

// revoke plays the deletion of a message for everyone.
func (s *Server) revoke(id string) (string, error) {
	return s.follow(id, "revoke", func(*message, object) object {
		return object{"original_message_id": id}
	})
}

// follow queues a message about an earlier one.
func (s *Server) follow(id, kind string, content func(*message, object) object) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	m := s.messages.byID[id]
	if m == nil {
		return "", notFound("There is no message " + id + ".")
	}
	var original map[string]any
	if err := json.Unmarshal(m.Request, &original); err != nil {
		return "", err
	}

	about := object{kind: content(m, original)}
	if m.Dir != inbound {
		told, err := s.tellEcho(m.Number, m.party(), kind, about)
		if err != nil {
			return "", err
		}
		return told.ID, nil
	}

	n := s.world.Numbers[m.Number]
	one := s.world.People.find(m.party()) // whose id may be another by now
	if one == nil {
		one = s.world.People.ensure(m.Phone, m.BSUID)
	}

	told := &message{ID: newInboundWamid(m.party(), m.Phone == ""), Type: kind, At: nowMS()}
	s.tell(n, fieldMessages, value{
		Product: "whatsapp", Metadata: n.metadata(),
		Contacts: []contact{contactOf(one, one.Phone, one.BSUID)},
		Messages: []object{inboundWire(told, one, about)},
	})
	return told.ID, nil
}
