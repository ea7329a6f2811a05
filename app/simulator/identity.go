package simulator

import "slices"

// numbersWrittenTo lists the business numbers that a person has written to, or
// the first number when there is none.
func (s *Server) numbersWrittenTo(user *person) []*number {
	all := s.world.numbersOf("")
	known := slices.DeleteFunc(slices.Clone(all), func(n *number) bool { return user.Wrote[n.ID] == 0 })
	if len(known) == 0 { // then there would be no callback at all
		return all[:min(1, len(all))]
	}
	return known
}

// controlPreferences handles POST /_sim/contacts/{number}/preferences: a user stops
// marketing messages, or resumes them.
func (s *Server) controlPreferences(c *controlCall) (any, error) {
	marketing := c.in.text("marketing")
	switch {
	case !c.in.has("marketing"):
		return nil, missing("marketing")
	case marketing != "stop" && marketing != "resume":
		return nil, invalid("marketing", "must be stop or resume")
	}

	user, err := s.personFor(c.key())
	if err != nil {
		return nil, err
	}
	user.Stopped = marketing == "stop"
	s.publishPerson(user)

	detail := "User requested to " + marketing + " marketing messages"
	for _, n := range s.numbersWrittenTo(user) {
		item := object{
			"detail": detail, "category": "marketing_messages",
			"value": marketing, "timestamp": s.nowMS() / 1000,
		}
		item.addUser("", "wa_id", user)
		s.queueUpdate(n, fieldPreferences, value{Contacts: contactsOf(user), Preferences: []object{item}})
	}
	return object{"success": true}, nil
}

func (s *Server) personFor(party string) (*person, error) {
	switch {
	case bsuidPattern.MatchString(party):
		return s.world.People.ensure("", party), nil
	case validPhone(party):
		return s.world.People.ensure(waID(party), ""), nil
	}
	return nil, notFound("There is no contact " + party + ".")
}

// controlIdentity handles POST /_sim/contacts/{number}/identity: a user gets a new
// number, a new id, or both. A new number always brings a new id; without either, a new
// id is made up.
func (s *Server) controlIdentity(c *controlCall) (any, error) {
	bsuid, phone := c.in.text("bsuid"), c.in.text("phone_number")
	switch {
	case bsuid != "" && !bsuidPattern.MatchString(bsuid):
		return nil, invalid("bsuid", "is no business-scoped user id")
	case phone != "" && !validPhone(phone):
		return nil, invalid("phone_number", "is no phone number")
	}

	user, err := s.personFor(c.key())
	if err != nil {
		return nil, err
	}

	before := *user
	after := firstOf(waID(phone), before.Phone)
	s.world.People.change(user, after, firstOf(bsuid, countryOf(after)+"."+randomDigits(16)))
	s.publishPerson(user)

	for _, n := range s.numbersWrittenTo(user) {
		moved := phone != "" && before.Phone != "" && after != before.Phone
		if s.world.Settings.sinceOctober(s.now()) {
			s.queueIdentityChange(n, &before, user, moved)
			continue
		}
		s.queueIDChange(n, &before, user)
		if moved {
			s.queueSystem(n, &before, object{
				"body":  "User " + firstOf(user.Name, before.Phone) + " changed from " + before.Phone + " to " + user.Phone,
				"wa_id": user.Phone, "type": "user_changed_number",
			})
		}
	}

	return object{"bsuid": user.BSUID, "phone_number": displayed(user.Phone)}, nil
}

func (s *Server) queueIdentityChange(n *number, before, after *person, moved bool) {
	from, to, kind := before.BSUID, after.BSUID, "user_changed_user_id"
	if moved {
		from, to, kind = before.Phone, after.Phone, "user_changed_number"
	}
	system := object{"body": "User " + firstOf(after.Name, before.party()) + " changed from " + from + " to " + to, "type": kind}
	system.addUser("", "wa_id", after)
	system.addUser("previous_", "", before)
	s.queueSystem(n, before, system)
}

// queueSystem queues a system message, whose sender is the user as it was.
func (s *Server) queueSystem(n *number, before *person, system object) {
	wire := object{"id": newInboundWamid(before), "timestamp": seconds(s.nowMS()), "type": "system", "system": system}
	wire.addUser("from_", "from", before)
	s.queueUpdate(n, fieldMessages, value{Messages: []object{wire}})
}

func (s *Server) queueIDChange(n *number, before, after *person) {
	update := object{
		"detail":    "User ID changed",
		"user_id":   object{"previous": before.BSUID, "current": after.BSUID},
		"timestamp": seconds(s.nowMS()),
	}
	update.put("wa_id", after.Phone)
	s.queueUpdate(n, fieldUserID, value{Contacts: contactsOf(after), Updates: []object{update}})
}
