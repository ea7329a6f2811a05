package simulator

import "slices"

// What a phone shows is computed from the message log: the messages that the person
// wrote, and those of businesses that were delivered. Reactions, edits and deletions are
// messages of their own in the log; they are shown on the message that they are about.
// So there is no second copy of anything, and a restart changes nothing.

// shownByDefault and shownAtMost are how many messages a phone shows.
const (
	shownByDefault = 200
	shownAtMost    = 1000
	// followUpsAtMost is how many reactions, edits and deletions are looked at for them.
	followUpsAtMost = 10_000
)

// followUps are the types of messages that are shown on others.
var followUps = []string{"reaction", "edit", "revoke"}

// followsUp reports whether the message is about an earlier one.
func (m *message) followsUp() bool { return slices.Contains(followUps, m.Type) }

// onPhone reports whether the message is on the person's phone. Of a reaction the
// provider reports no delivery.
func (m *message) onPhone() bool {
	switch m.Status {
	case "delivered", "read":
		return true
	case "sent":
		return m.Dir == echoed || m.Type == "reaction"
	}
	return false
}

// phoneMessages finds what a person's phone shows, oldest first: the newest messages up to a
// limit, with all that is about them.
func (s *Server) phoneMessages(user *person, numberID string, limit int) (found []*message) {
	shown := 0
	for _, m := range slices.Backward(s.messages.all) {
		if numberID != "" && m.Number != numberID || !user.owns(m) || !m.onPhone() {
			continue
		}

		found = append(found, m)
		if !m.followsUp() {
			shown++
		}
		if shown == limit || len(found)-shown == followUpsAtMost {
			break
		}
	}

	slices.Reverse(found)
	return found
}

// request is the content of a message as it was sent or called back.
func (m *message) request() (in object) {
	_ = decodeJSON(m.Request, &in) // it was checked, or encoded by us
	return in
}

type phoneReaction struct {
	From  string `json:"from"` // person or business
	Emoji string `json:"emoji"`
}

// showMessages builds the view of a phone from messages, oldest first.
func (s *Server) showMessages(user *person, found []*message) []object {
	shown, byID := []object{}, map[string]object{}
	for _, m := range found {
		in := m.request()
		if m.followsUp() {
			about := in.child(m.Type)
			byID[firstOf(about.text("message_id"), about.text("original_message_id"))].followUp(m, about)
			continue
		}

		view := m.view(in)
		view["edited"], view["deleted"], view["reactions"] = false, false, []phoneReaction{}
		view["context"], view["ticks"] = nil, nil
		if id := firstOf(in.child("context").text("message_id"), in.child("context").text("id")); id != "" {
			view["context"] = object{"id": id}
		}
		if m.Dir == inbound {
			view["ticks"] = m.Status
		} else if card := s.cardOf(m, in); card != nil {
			view["card"] = card
		}
		shown, byID[m.ID] = append(shown, view), view
	}

	markEarlierRead(shown, user)
	return shown
}

// followUp shows a reaction, an edit or a deletion on the message that it is about. Only
// who wrote a message can edit or delete it.
func (o object) followUp(m *message, in object) {
	if o == nil || m.Type != "reaction" && o.text("direction") != m.direction() {
		return
	}

	switch m.Type {
	case "reaction":
		from := map[bool]string{true: "person", false: "business"}[m.Dir == inbound]
		kept := slices.DeleteFunc(o["reactions"].([]phoneReaction), func(r phoneReaction) bool { return r.From == from })
		if emoji := in.text("emoji"); emoji != "" {
			kept = append(kept, phoneReaction{from, emoji})
		}
		o["reactions"] = kept
	case "edit":
		content := in.child("message")
		delete(o, o.text("type"))
		o["type"], o["edited"] = content.text("type"), true
		o[content.text("type")] = content[content.text("type")]
	case "revoke":
		delete(o, o.text("type"))
		delete(o, "card")
		o["deleted"] = true
	}
}

// markEarlierRead gives the ticks of a message that was read to those before it, and takes
// them all from a person who sends no receipts.
func markEarlierRead(shown []object, user *person) {
	read := map[string]bool{}
	for _, view := range slices.Backward(shown) {
		if view["ticks"] == nil {
			continue
		}

		number := view.text("phone_number_id")
		read[number] = read[number] || view["ticks"] == "read"
		switch {
		case user.NoReceipts:
			view["ticks"] = "delivered"
		case read[number]:
			view["ticks"] = "read"
		}
	}
}

// direction is who wrote a message, as seen by the business.
func (m *message) direction() string {
	if m.Dir == inbound {
		return "inbound"
	}
	return "outbound"
}

// view is a message as phones and the stream show it: its content is under its type.
func (m *message) view(in object) object {
	view := object{
		"id": m.ID, "phone_number_id": m.Number, "direction": m.direction(), "type": m.Type,
		"status": m.Status, "created_at": rfc3339(m.At),
	}
	if content := in[m.Type]; content != nil {
		view[m.Type] = content
	}
	for _, extra := range []string{"errors", "unsupported"} {
		if in.has(extra) {
			view[extra] = in[extra]
		}
	}
	return view
}

func (s *Server) publishMessage(m *message) {
	s.publish("message", func() any {
		view := m.view(m.request())
		view["person"], view["bsuid"] = displayed(m.Phone), m.BSUID
		return view
	})
}

// displayed is a number with its plus; null where there is none.
func displayed(phone string) any {
	if phone == "" {
		return nil
	}
	return "+" + phone
}
