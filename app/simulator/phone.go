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

// phoneMessages finds what a person's phone shows, oldest first, as copies that need no
// lock: the newest messages up to a limit, with all that is about them.
func (s *Server) phoneMessages(user *person, numberID string, limit int) (found []*message) {
	s.mu.Lock()
	defer s.mu.Unlock()

	shown := 0
	for _, m := range slices.Backward(s.messages.all) {
		if numberID != "" && m.Number != numberID || !user.owns(m) || !m.onPhone() {
			continue
		}

		copied := m.snapshot()
		if m.Type == "template" && m.components == nil {
			copied.components = s.currentComponents(m)
		}
		found = append(found, copied)

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

// currentComponents are those of a message's template as it is now.
func (s *Server) currentComponents(m *message) []object {
	n := s.world.Numbers[m.Number]
	in := m.request().child("template")
	if n == nil || in == nil {
		return nil
	}
	if t := s.world.findTemplate(n.Account, in.text("name"), firstOf(in.child("language").text("code"), in.text("language"))); t != nil {
		return t.Components
	}
	return nil
}

// request is the content of a message as it was sent or called back.
func (m *message) request() object {
	var in map[string]any
	if decodeJSON(m.Request, &in) != nil {
		return nil
	}
	return in
}

// phoneReaction is a reaction on a message.
type phoneReaction struct {
	From  string `json:"from"` // person or business
	Emoji string `json:"emoji"`
}

// shownOnPhone builds what a phone shows.
type shownOnPhone struct {
	user     *person
	messages []object
	byID     map[string]object
}

// showMessages builds the view of a phone from messages, oldest first.
func showMessages(user *person, found []*message) []object {
	p := &shownOnPhone{user: user, messages: []object{}, byID: map[string]object{}}
	for _, m := range found {
		in := m.request()
		if m.followsUp() {
			p.followUp(m, in.child(m.Type))
			continue
		}
		p.add(m, in)
	}

	p.markEarlierRead()
	return p.messages
}

// add shows a message.
func (p *shownOnPhone) add(m *message, in object) {
	view := m.view(in)
	view["edited"], view["deleted"], view["reactions"] = false, false, []phoneReaction{}
	view["context"], view["ticks"] = nil, nil

	if id := firstOf(in.child("context").text("message_id"), in.child("context").text("id")); id != "" {
		view["context"] = object{"id": id}
	}
	if m.Dir == inbound {
		view["ticks"] = m.Status
	}
	if card := cardOf(m, in); card != nil {
		view["card"] = card
	}

	p.messages = append(p.messages, view)
	p.byID[m.ID] = view
}

// followUp shows a reaction, an edit or a deletion on the message that it is about. Only
// who wrote a message can edit or delete it.
func (p *shownOnPhone) followUp(m *message, in object) {
	target := p.byID[firstOf(in.text("message_id"), in.text("original_message_id"))]
	if target == nil || m.Type != "reaction" && target.text("direction") != m.direction() {
		return
	}

	switch m.Type {
	case "reaction":
		from := map[bool]string{true: "person", false: "business"}[m.Dir == inbound]
		kept := slices.DeleteFunc(target["reactions"].([]phoneReaction), func(r phoneReaction) bool { return r.From == from })
		if emoji := in.text("emoji"); emoji != "" {
			kept = append(kept, phoneReaction{from, emoji})
		}
		target["reactions"] = kept
	case "edit":
		content := in.child("message")
		delete(target, target.text("type"))
		target["type"], target["edited"] = content.text("type"), true
		target[content.text("type")] = content[content.text("type")]
	case "revoke":
		delete(target, target.text("type"))
		delete(target, "card")
		target["deleted"] = true
	}
}

// markEarlierRead gives the ticks of a message that was read to those before it, and takes
// them all from a person who sends no receipts.
func (p *shownOnPhone) markEarlierRead() {
	read := map[string]bool{}
	for _, view := range slices.Backward(p.messages) {
		if view["ticks"] == nil {
			continue
		}

		number := view.text("phone_number_id")
		read[number] = read[number] || view["ticks"] == "read"
		switch {
		case p.user.NoReceipts:
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

// publishMessage publishes a message or its new status.
func (s *Server) publishMessage(m *message) {
	s.publish("message", func() any {
		view := m.view(m.request())
		view["person"], view["bsuid"] = displayed(m.Phone), m.BSUID
		return view
	})
}

// displayed is a number with its plus; nil where there is none.
func displayed(phone string) any {
	if phone == "" {
		return nil
	}
	return "+" + phone
}
