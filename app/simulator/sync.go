package simulator

import (
	"slices"
	"strings"
)

// requestSync handles POST /{phone_number_id}/smb_app_data: the contacts or
// the history of a number that is also used with the phone app, each once and
// within a day of its onboarding.
func (s *Server) requestSync(c *call) (any, error) {
	kind := c.params.text("sync_type")
	if kind != fieldStateSync && kind != fieldHistory {
		return nil, badParameter("Param sync_type must be one of {SMB_APP_STATE_SYNC, HISTORY} - got \"%s\".", kind)
	}

	n := s.world.Numbers[c.id]
	switch {
	case !n.OnBizApp:
		return nil, badParameter("The number is not used with the business app.")
	case slices.Contains(n.Synced, kind):
		return nil, templateError(2593107, "Invalid parameter", "This kind of data has been requested already.")
	case s.nowMS()-n.Onboarded > day.Milliseconds():
		return nil, templateError(2593108, "Invalid parameter", "Data can be requested within 24 hours of onboarding.")
	}

	n.Synced = append(n.Synced, kind)
	if kind == fieldHistory {
		s.queueHistory(n)
	} else {
		s.queueContacts(n)
	}
	return object{"messaging_product": "whatsapp", "request_id": randomHex(16)}, nil
}

// queueContacts queues the people who have written to a number.
func (s *Server) queueContacts(n *number) {
	var list []object
	for _, user := range s.world.People.all {
		if user.Wrote[n.ID] == 0 {
			continue
		}

		name := user.displayName()
		first, _, _ := strings.Cut(name, " ")
		who := object{"full_name": name, "first_name": first}
		who.addUser("", "phone_number", user)
		who.put("username", user.Username)

		list = append(list, object{
			"type": "contact", "contact": who, "action": "add", "metadata": object{"timestamp": seconds(s.nowMS())},
		})
	}

	if len(list) > 0 {
		s.queueUpdate(n, fieldStateSync, value{StateSync: list})
	}
}

// maxHistory limits the messages in the one update that carries the history.
const maxHistory = 1000

// queueHistory queues the stored messages of a number, grouped by user.
func (s *Server) queueHistory(n *number) {
	isOther := func(m *message) bool { return m.Number != n.ID || m.Type == "reaction" }
	own := slices.DeleteFunc(slices.Clone(s.messages.all), isOther)
	own = own[max(0, len(own)-maxHistory):]

	threads, order := map[string]object{}, []object{}
	for _, m := range own {
		user := s.world.People.describe(m.party())
		thread := threads[user.BSUID]
		if thread == nil {
			who := object{}
			who.addUser("", "wa_id", user)
			who.put("username", user.Username)
			thread = object{"context": who}
			thread.put("id", user.Phone)
			threads[user.BSUID] = thread
			order = append(order, thread)
		}
		thread["messages"] = append(thread.objects("messages"), n.historyMessage(m, user))
	}

	s.queueUpdate(n, fieldHistory, value{History: []object{{
		"metadata": object{"phase": 0, "chunk_order": 1, "progress": 100}, "threads": order,
	}}})
}

// historyStatuses are the statuses that a history calls otherwise.
var historyStatuses = map[string]string{"accepted": "pending", "failed": "error"}

// fileTypes appear as placeholders in a history.
var fileTypes = []string{"image", "video", "audio", "document", "sticker"}

func (n *number) historyMessage(m *message, user *person) object {
	past := object{
		"id": m.ID, "timestamp": seconds(m.At), "type": m.Type,
		"history_context": object{"status": strings.ToUpper(firstOf(historyStatuses[m.Status], m.Status))},
	}

	if m.Dir == inbound {
		past.addUser("from_", "from", user)
	} else {
		past["from"] = n.Phone
		past.addUser("to_", "to", user)
	}

	if slices.Contains(fileTypes, m.Type) {
		past["type"] = "media_placeholder"
		return past
	}

	if content := m.request()[m.Type]; content != nil {
		past[m.Type] = content
	}
	return past
}
