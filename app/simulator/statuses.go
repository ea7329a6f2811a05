package simulator

import (
	"strconv"
	"strings"
)

// progress is how far a message has come by its status. A person may say by hand that it was
// delivered before the provider has reported that it was sent.
var progress = map[string]int{"sent": 1, "delivered": 2, "read": 3}

// reportStatus sets the status of a message, unless it has come further already, and queues
// the callback about it.
func (s *Server) reportStatus(m *message, name string, code int) {
	n := s.world.Numbers[m.Number]
	if n == nil {
		return
	}

	s.charge(m, n)
	if m.Charged && !s.settings.PaymentMethod && (name == "delivered" || name == "read") {
		return // it was accepted, and nobody hears of it again
	}

	isPast := progress[name] != 0 && progress[name] < progress[m.Status]
	if name != "played" && !isPast {
		s.setStatus(m, name)
	}

	// Pricing counts as reported only if a callback is really queued.
	if _, ok := s.targetOf(n.Account, n, fieldMessages); !ok {
		return
	}
	s.queueUpdate(n, fieldMessages, s.statusValue(m, name, code))
	if name == "delivered" || name == "read" {
		m.Priced = true
	}
}

// statusValue builds the callback about one status of a message.
func (s *Server) statusValue(m *message, name string, code int) object {
	now := s.nowMS()
	// A user who was addressed by id is reported with the number, where known.
	user := s.world.People.describe(m.party())
	status := object{"id": m.ID, "status": name, "timestamp": seconds(now)}
	status.put("biz_opaque_callback_data", m.Opaque)
	status.addUser("recipient_", "recipient_id", user)

	// A failed status has no contact and no price, and the user's id only if it was addressed.
	if name == "failed" {
		status["errors"] = []object{asStatusError(code)}
		if m.BSUID == "" {
			delete(status, "recipient_user_id")
			delete(status, "recipient_parent_user_id")
		}
		return object{"statuses": []object{status}}
	}

	if name == "sent" || (name == "delivered" || name == "read") && !m.Priced {
		status["pricing"] = s.pricing(m)
	}
	if s.settings.includeConversations() {
		status["conversation"] = m.conversation(name, now)
	}
	return object{"contacts": contactsOf(user), "statuses": []object{status}}
}

// contactsOf describes a person in a callback.
func contactsOf(user *person) []object {
	profile := object{"name": user.displayName()}
	profile.put("username", user.Username)
	contact := object{"profile": profile}
	contact.addUser("", "wa_id", user)
	return []object{contact}
}

// charge decides once whether a service message is beyond those that are free.
func (s *Server) charge(m *message, n *number) {
	if m.Counted || m.Category != "" || !s.settings.sinceOctober(s.now()) {
		return
	}
	m.Counted, m.Charged = true, n.countService(s.nowMS()) > s.settings.ServiceAllowance
}

// pricing says what a message costs. Before October 2026 service messages were free, and
// utility messages within the service window. Since then it is some service messages of each
// number and month.
func (s *Server) pricing(m *message) object {
	category, kind := firstOf(m.Category, "service"), "regular"
	free := category == "service" && !m.Charged
	if !s.settings.sinceOctober(s.now()) {
		free = category == "service" || category == "utility" && m.Free
	}
	if free {
		kind = "free_customer_service"
	}
	return object{"billable": !free, "pricing_model": "PMP", "type": kind, "category": category}
}

func (m *message) conversation(name string, now int64) object {
	c := object{
		"id":     strings.ToLower(m.ID[len(m.ID)-min(len(m.ID), 32):]),
		"origin": object{"type": firstOf(m.Category, "service")},
	}
	if name == "sent" {
		c["expiration_timestamp"] = seconds(now + serviceWindow.Milliseconds())
	}
	return c
}

// seconds writes a time as callbacks do.
func seconds(ms int64) string { return strconv.FormatInt(ms/1000, 10) }
