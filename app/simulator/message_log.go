package simulator

import (
	"encoding/json"
	"time"
)

// direction says who sent a message, and how.
type direction string

const (
	outbound direction = "out"  // by the business, through the API
	inbound  direction = "in"   // by a user
	echoed   direction = "echo" // by the business, from the phone app
)

// message is one stored message.
type message struct {
	ID       string          `json:"id"`
	Dir      direction       `json:"dir"`
	Number   string          `json:"number"`
	To       string          `json:"to,omitempty"`    // as given
	Phone    string          `json:"phone,omitempty"` // of the user, as waID writes it
	BSUID    string          `json:"bsuid,omitempty"` // when addressed by it
	Type     string          `json:"type"`
	Request  json.RawMessage `json:"request,omitempty"`
	Status   string          `json:"status"`
	At       int64           `json:"at"`
	Opaque   string          `json:"opaque,omitempty"`
	Category string          `json:"category,omitempty"`
	Free     bool            `json:"free,omitempty"` // in the service window
	Voice    bool            `json:"voice,omitempty"`
	Priced   bool            `json:"priced,omitempty"`  // pricing was reported after status sent
	Counted  bool            `json:"counted,omitempty"` // among the service messages of its number and month
	Charged  bool            `json:"charged,omitempty"` // it is beyond those that are free

	// components are those of the template as it was when the message was sent. After a
	// restart those of the template as it is then are shown.
	components []object
}

// party is the user's number, or the BSUID where there is no number.
func (m *message) party() string { return firstOf(m.Phone, m.BSUID) }

// belongsTo reports whether the message is one of the user with a number and an id.
func (m *message) belongsTo(phone, bsuid string) bool {
	if m.Phone != "" {
		return m.Phone == phone
	}
	return m.BSUID == bsuid
}

// messageLog stores messages, oldest first, up to a limit.
type messageLog struct {
	limit int
	all   []*message
	byID  map[string]*message
}

func newMessageLog(limit int) messageLog {
	return messageLog{limit: limit, byID: map[string]*message{}}
}

// add stores a message and removes the oldest one beyond the limit.
func (l *messageLog) add(m *message) {
	l.all = append(l.all, m)
	l.byID[m.ID] = m

	if len(l.all) > l.limit {
		old := l.all[0]
		l.all[0] = nil // the slice keeps its place until append moves the rest
		l.all = l.all[1:]
		if l.byID[old.ID] == old {
			delete(l.byID, old.ID)
		}
	}
}

// drop removes the messages for which a function returns true.
func (l *messageLog) drop(matches func(*message) bool) {
	all := l.all
	*l = newMessageLog(l.limit)
	for _, m := range all {
		if !matches(m) {
			l.add(m)
		}
	}
}

// storeMessage adds a message to the log.
func (s *Server) storeMessage(m *message) {
	s.messages.add(m)
	s.publishMessage(m)
}

// snapshot copies a message, so that it can be encoded without the lock.
func (m *message) snapshot() *message {
	copied := *m
	return &copied
}

// setStatus changes the status of a message.
func (s *Server) setStatus(m *message, status string) {
	m.Status = status
	s.publishMessage(m)
}

// rfc3339 writes a time as the control surface does.
func rfc3339(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
