package simulator

import (
	"encoding/json"
	"slices"
	"strings"
)

// messageView is a send as the control surface lists it.
type messageView struct {
	ID            string          `json:"id"`
	PhoneNumberID string          `json:"phone_number_id"`
	To            string          `json:"to"`
	Type          string          `json:"type"`
	Request       json.RawMessage `json:"request"`
	Status        string          `json:"status"`
	CreatedAt     string          `json:"created_at"`
}

// filter matches the messages of a direction that the parameters name, or all of them
// where they name none.
func (c *controlCall) filter(wanted direction) func(*message) bool {
	q := c.r.URL.Query()
	to, number := normalizeParty(q.Get("to")), q.Get("phone_number_id")
	kind, opaque := q.Get("type"), q.Get("biz_opaque_callback_data")

	return func(m *message) bool {
		switch {
		case m.Dir != wanted:
		case to != "" && to != m.Phone && to != m.BSUID:
		case number != "" && number != m.Number:
		case kind != "" && kind != m.Type:
		case opaque != "" && opaque != m.Opaque:
		default:
			return true
		}
		return false
	}
}

// controlMessages handles GET /_sim/messages: the sends that were accepted,
// oldest first, or with direction=inbound what people wrote.
func (s *Server) controlMessages(c *controlCall) (any, error) {
	wanted := c.filter(outbound)
	switch c.r.URL.Query().Get("direction") {
	case "", "outbound":
	case "inbound":
		wanted = c.filter(inbound)
	default:
		return nil, invalid("direction", "must be inbound or outbound")
	}

	shown := []messageView{}
	for _, m := range s.messages.all {
		if wanted(m) {
			shown = append(shown, messageView{m.ID, m.Number, m.To, m.Type, m.Request, m.Status, rfc3339(m.At)})
		}
	}

	return object{"data": shown}, nil
}

// controlDeleteMessages handles DELETE /_sim/messages, with the filters of the list.
// Messages of users stay, so that they can still be read and answered.
func (s *Server) controlDeleteMessages(c *controlCall) (any, error) {
	s.dropMessages(c.filter(outbound))
	return object{"success": true}, nil
}

// dropMessages deletes messages and the events that are scheduled for them.
func (s *Server) dropMessages(matches func(*message) bool) {
	s.messages.drop(matches)
	s.keepEvents(func(e *event) bool { return e.Message == "" || s.messages.byID[e.Message] != nil })
}

var statusNames = []string{"sent", "delivered", "read", "played", "failed"}

// controlStatus handles POST /_sim/messages/{id}/status: any status, at any
// time, as often as wanted.
func (s *Server) controlStatus(c *controlCall) (any, error) {
	name := c.in.text("status")
	code, given := c.in.integer("error_code")
	if !given {
		code = codeSomethingWrong
	}

	switch {
	case name == "":
		return nil, missing("status")
	case !slices.Contains(statusNames, name):
		return nil, invalid("status", "must be one of "+strings.Join(statusNames, ", "))
	case c.in.has("error_code") && (!given || !knownCode(int(code))):
		return nil, invalid("error_code", "is no code of the provider")
	}

	m := s.messages.byID[c.key()]
	if m == nil || m.Dir == inbound {
		return nil, notFound("There is no message " + c.key() + ".")
	}

	s.reportStatus(m, name, int(code))
	return object{"success": true}, nil
}
