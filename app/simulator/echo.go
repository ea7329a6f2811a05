package simulator

import "maps"

// controlEcho handles POST /_sim/echo: a message that the business sent from the phone app.
func (s *Server) controlEcho(c *controlCall) (any, error) {
	to, kind := c.in.text("to"), firstOf(c.in.text("type"), "text")
	switch {
	case to == "":
		return nil, missing("to")
	case !validPhone(to) && !bsuidPattern.MatchString(to):
		return nil, invalid("to", "is neither a phone number nor a business-scoped user id")
	}

	numberID, content, err := s.readInbound(kind, c.in)
	if err != nil {
		return nil, err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.recordEcho(numberID, to, kind, content)
	s.notifyMessage(m, nil)
	return object{"id": m.ID}, nil
}

func (s *Server) recordEcho(numberID, to, kind string, content object) *message {
	user := s.world.People.describe(to)
	m := &message{ID: newWamid(user.Phone, user.BSUID), Dir: echoed, Number: numberID, Type: kind, Status: "sent"}
	content["from"] = s.world.Numbers[numberID].Phone
	content.addUser("to_", "to", user)
	s.recordAs(m, user, content, fieldEchoes, value{Contacts: contactsOf(user), Echoes: []object{content}})
	return m
}

// recordAs stores a message of a user or to a user, and queues the callback that holds it.
func (s *Server) recordAs(m *message, user *person, wire object, field string, v value) {
	m.Phone, m.BSUID, m.At = user.Phone, user.BSUID, s.nowMS()
	wire["id"], wire["timestamp"], wire["type"] = m.ID, seconds(m.At), m.Type
	m.Request = marshal(wire)

	s.messages.add(m)
	s.publishMessage(m)
	s.queueUpdate(s.world.Numbers[m.Number], field, v)
}

// controlEdit handles POST /_sim/messages/{id}/edit: a change of a message by the user
// who wrote it, or by the business in the phone app.
func (s *Server) controlEdit(c *controlCall) (any, error) {
	text := c.in.text("text")
	if text == "" {
		return nil, missing("text")
	}

	return s.queueFollowUp(c.key(), "edit", func(m *message) object {
		original, edited := m.request(), object{}
		if context := original.child("context"); context.has("id") {
			edited["context"] = object{"id": context["id"]}
		}

		// Of a file only the caption can be edited.
		switch m.Type {
		case "image", "video", "document":
			content := object{}
			maps.Copy(content, original.child(m.Type))
			content["caption"] = text
			edited["type"], edited[m.Type] = m.Type, content
		default:
			edited["type"], edited["text"] = "text", object{"body": text}
		}
		return object{"original_message_id": m.ID, "message": edited}
	})
}

// controlRevoke handles POST /_sim/messages/{id}/revoke: the deletion of a message for
// everyone.
func (s *Server) controlRevoke(c *controlCall) (any, error) {
	return s.queueFollowUp(c.key(), "revoke", func(m *message) object { return object{"original_message_id": m.ID} })
}

func (s *Server) queueFollowUp(id, kind string, content func(*message) object) (any, error) {
	m := s.messages.byID[id]
	if m == nil {
		return nil, notFound("There is no message " + id + ".")
	}
	about := object{kind: content(m)}
	if m.Dir != inbound {
		return object{"id": s.recordEcho(m.Number, m.party(), kind, about).ID}, nil
	}

	user := s.world.People.find(m.party()) // who may have another id by now
	if user == nil {
		user = s.world.People.ensure(m.Phone, m.BSUID)
	}
	return object{"id": s.recordInbound(m.Number, user, "", kind, about).ID}, nil
}
