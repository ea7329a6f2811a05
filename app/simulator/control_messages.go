package simulator

import (
	"encoding/json"
	"slices"
)

// controlInbound handles POST /_sim/inbound.
func (s *Server) controlInbound(c *controlCall) (any, error) {
	id, err := s.receive(c.in)
	return object{"id": id}, err
}

// controlEcho handles POST /_sim/echo.
func (s *Server) controlEcho(c *controlCall) (any, error) {
	id, err := s.echo(c.in)
	return object{"id": id}, err
}

// shownMessage is a send as the control surface lists it.
type shownMessage struct {
	ID            string          `json:"id"`
	PhoneNumberID string          `json:"phone_number_id"`
	To            string          `json:"to"`
	Type          string          `json:"type"`
	Request       json.RawMessage `json:"request"`
	Status        string          `json:"status"`
	CreatedAt     string          `json:"created_at"`
}

// controlMessages handles GET /_sim/messages: the sends that were accepted,
// oldest first.
func (s *Server) controlMessages(c *controlCall) (any, error) {
	q := c.r.URL.Query()
	to := q.Get("to")
	if !bsuidPattern.MatchString(to) {
		to = digits(to)
	}
	shown := []shownMessage{}
	s.mu.Lock()
	for _, m := range s.messages.kept() {
		switch {
		case m.Dir != outbound:
		case to != "" && to != m.Phone && to != m.BSUID:
		case q.Get("phone_number_id") != "" && q.Get("phone_number_id") != m.Number:
		case q.Get("type") != "" && q.Get("type") != m.Type:
		case q.Get("biz_opaque_callback_data") != "" && q.Get("biz_opaque_callback_data") != m.Opaque:
		default:
			shown = append(shown, shownMessage{m.ID, m.Number, m.To, m.Type, m.Request, m.Status, rfc3339(m.At)})
		}
	}
	s.mu.Unlock()
	return object{"data": shown}, nil
}

// controlForget handles DELETE /_sim/messages.
func (s *Server) controlForget(*controlCall) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetMessages()
	return success{true}, nil
}

// forgetMessages drops all messages and what was still to become of them.
func (s *Server) forgetMessages() {
	s.messages.clear()
	s.journal.restart = true
	s.keepEvents(func(e *event) bool { return e.Message == "" })
	s.touch()
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
	_, known := lookupCode(int(code))
	switch {
	case name == "":
		return nil, missing("status")
	case !slices.Contains(statusNames, name):
		return nil, invalid("status", "must be one of sent, delivered, read, played, failed")
	case c.in.has("error_code") && (!given || !known):
		return nil, invalid("error_code", "is no code of the provider")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.messages.byID[c.key()]
	if m == nil || m.Dir == inbound {
		return nil, notFound("There is no message " + c.key() + ".")
	}
	s.report(m, name, int(code))
	return success{true}, nil
}

// controlEdit handles POST /_sim/messages/{id}/edit.
func (s *Server) controlEdit(c *controlCall) (any, error) {
	if c.in.text("text") == "" {
		return nil, missing("text")
	}
	id, err := s.edit(c.key(), c.in.text("text"))
	return object{"id": id}, err
}

// controlRevoke handles POST /_sim/messages/{id}/revoke.
func (s *Server) controlRevoke(c *controlCall) (any, error) {
	id, err := s.revoke(c.key())
	return object{"id": id}, err
}
