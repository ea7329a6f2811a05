package simulator

import (
	"strconv"
	"strings"
)

// value is the content of a callback about messages or users.
type value struct {
	Product  string    `json:"messaging_product"`
	Metadata metadata  `json:"metadata"`
	Contacts []contact `json:"contacts,omitempty"`

	Messages    []object `json:"messages,omitempty"`
	Statuses    []status `json:"statuses,omitempty"`
	Echoes      []object `json:"message_echoes,omitempty"`
	Preferences []object `json:"user_preferences,omitempty"`
	Updates     []object `json:"user_id_update,omitempty"`
	StateSync   []object `json:"state_sync,omitempty"`
	History     []object `json:"history,omitempty"`
}

type metadata struct {
	Display string `json:"display_phone_number"`
	ID      string `json:"phone_number_id"`
}

type contact struct {
	Profile profileName `json:"profile"`
	WaID    string      `json:"wa_id,omitempty"`
	UserID  string      `json:"user_id,omitempty"`
	Parent  string      `json:"parent_user_id,omitempty"`
}

type profileName struct {
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"`
}

type status struct {
	ID           string        `json:"id"`
	Status       string        `json:"status"`
	Timestamp    string        `json:"timestamp"`
	Recipient    string        `json:"recipient_id,omitempty"`
	UserID       string        `json:"recipient_user_id,omitempty"`
	Parent       string        `json:"recipient_parent_user_id,omitempty"`
	Opaque       string        `json:"biz_opaque_callback_data,omitempty"`
	Conversation *conversation `json:"conversation,omitempty"`
	Pricing      *pricing      `json:"pricing,omitempty"`
	Errors       []statusError `json:"errors,omitempty"`
}

type conversation struct {
	ID      string            `json:"id"`
	Expires string            `json:"expiration_timestamp,omitempty"`
	Origin  map[string]string `json:"origin"`
}

type pricing struct {
	Billable bool   `json:"billable"`
	Model    string `json:"pricing_model"`
	Type     string `json:"type"`
	Category string `json:"category"`
}

// progress is how far a message has come by its status. A person may say by hand that it was
// delivered before the provider has reported that it was sent.
var progress = map[string]int{"sent": 1, "delivered": 2, "read": 3}

// reportStatus sets the status of a message, unless it has come further already, and queues
// the callback about it.
func (s *Server) reportStatus(m *message, name string, code int) {
	n := s.world.Numbers[m.Number]
	s.charge(m, n, name)
	if m.Charged && !s.world.Settings.PaymentMethod && (name == "delivered" || name == "read") {
		return // it was accepted, and nobody hears of it again
	}

	isPast := progress[name] != 0 && progress[name] < progress[m.Status]
	if name != "played" && !isPast {
		m.Status = name
		s.publishMessage(m)
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

func (s *Server) statusValue(m *message, name string, code int) value {
	now := s.nowMS()
	// A user who was addressed by id is reported with the number, where known.
	user := s.world.People.describe(m.party())
	v := value{Statuses: []status{{
		ID: m.ID, Status: name, Timestamp: seconds(now), Opaque: m.Opaque, Recipient: user.Phone,
	}}}
	reported := &v.Statuses[0]
	reported.UserID, reported.Parent = ownAndParent(user.BSUID)

	// A failed status has no contact and no price, and the user's id only if it was addressed.
	if name == "failed" {
		reported.Errors = []statusError{asStatusError(code)}
		if m.BSUID == "" {
			reported.UserID, reported.Parent = "", ""
		}
		return v
	}

	v.Contacts = contactsOf(user)
	if name == "sent" || (name == "delivered" || name == "read") && !m.Priced {
		reported.Pricing = s.pricing(m)
	}
	if s.world.Settings.includeConversations() || m.Entry != 0 {
		reported.Conversation = m.conversation(name, now)
	}
	return v
}

func contactsOf(user *person) []contact {
	own, parent := ownAndParent(user.BSUID)
	return []contact{{
		Profile: profileName{Name: user.displayName(), Username: user.Username},
		WaID:    user.Phone, UserID: own, Parent: parent,
	}}
}

// charge decides once whether a service message is beyond those that are free. One that
// fails is not among them, nor is an echo, nor one that is free after an ad.
func (s *Server) charge(m *message, n *number, status string) {
	if m.Dir == echoed || m.Entry != 0 || m.Category != "" || !s.world.Settings.sinceOctober(s.now()) {
		return
	}
	if month := s.now().UTC().Format("2006-01"); n.Month != month {
		n.Month, n.Service = month, 0
	}

	if status == "failed" && m.Counted {
		n.Service = max(0, n.Service-1)
		m.Counted, m.Charged = false, false
	}
	if status == "failed" || m.Counted {
		return
	}
	n.Service++
	m.Counted, m.Charged = true, n.Service > s.world.Settings.ServiceAllowance
}

// pricing says what a message costs. Before October 2026 service messages were free, and
// utility messages within the service window. Since then it is some service messages of each
// number and month. All are free for a while after an ad.
func (s *Server) pricing(m *message) *pricing {
	if m.Entry != 0 {
		return &pricing{Model: "PMP", Type: "free_entry_point", Category: "referral_conversion"}
	}
	category := firstOf(m.Category, "service")
	p := &pricing{Billable: true, Model: "PMP", Type: "regular", Category: category}
	free := category == "service" && !m.Charged
	if !s.world.Settings.sinceOctober(s.now()) {
		free = category == "service" || category == "utility" && m.Free
	}
	if free {
		p.Billable, p.Type = false, "free_customer_service"
	}
	return p
}

func (m *message) conversation(name string, now int64) *conversation {
	origin, expires := firstOf(m.Category, "service"), now+serviceWindow.Milliseconds()
	if m.Entry != 0 {
		origin, expires = "referral_conversion", m.Entry
	}
	c := &conversation{
		ID:     strings.ToLower(m.ID[len(m.ID)-min(len(m.ID), 32):]),
		Origin: map[string]string{"type": origin},
	}

	if name == "sent" {
		c.Expires = seconds(expires)
	}
	return c
}

// seconds writes a time as callbacks do.
func seconds(ms int64) string { return strconv.FormatInt(ms/1000, 10) }
