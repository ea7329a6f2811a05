package api

import (
	"context"
	"slices"
	"strings"

	"confab/app/live"
	"confab/app/stream"
	"confab/jobs/event"
	"confab/storage"
)

// streamConsole handles GET /console/api/stream.
func (s *Server) streamConsole(r *request) (reply, error) {
	opened, err := s.Live.Open(r.http.Context(), live.Visit{
		Organization: r.org.ID,
		User:         r.user.ID,
		Role:         r.user.Role,
		LastEventID:  r.http.Header.Get("Last-Event-ID"),
		EventTypes:   readableEvents(r.user.Role),
		Ended:        func(ctx context.Context) string { return s.whyEnded(ctx, r.visitor) },
	})
	if err != nil {
		return reply{}, streamError(err)
	}
	return reply{stream: func(x *exchange) { s.sendStream(x, opened, stream.EventStream{}) }}, nil
}

// readableEvents are the types of events that a role may read; nil for all. Agents read
// those of what they work with.
func readableEvents(role string) []string {
	if role == storage.RoleAdmin {
		return nil
	}
	return slices.DeleteFunc(event.Types(), func(name string) bool {
		of, _, _ := strings.Cut(name, ".")
		return of != "message" && of != "conversation" && of != "contact"
	})
}

// maxTab is how long the name of a tab may be.
const maxTab = 64

// presenceBody is the body of POST /console/api/presence: what a tab of the browser shows.
type presenceBody struct {
	ConversationID *string `json:"conversation_id"` // nil when it shows none
	Typing         bool    `json:"typing"`
	Tab            *string `json:"tab"`
}

func (p *presenceBody) validate() error {
	switch {
	case p.Tab == nil:
		return missing("tab")
	case !between(*p.Tab, 1, maxTab):
		return invalid("tab", lengthRule(1, maxTab))
	}
	return nil
}

// setPresence handles POST /console/api/presence. It is kept in memory, and for a few
// seconds only.
func (s *Server) setPresence(r *request) (reply, error) {
	var in presenceBody
	if err := r.decode(&in); err != nil {
		return reply{}, err
	}

	l := live.Look{Organization: r.org.ID, User: r.user.ID, Name: r.user.Name, Tab: *in.Tab, Typing: in.Typing}
	if in.ConversationID != nil {
		l.Conversation = *in.ConversationID
		if err := s.checkLook(r, l); err != nil {
			return reply{}, err
		}
	}
	s.Live.Look(l)
	return noContent(), nil
}

// checkLook returns an error if the conversation that somebody looks at is none of the
// organization's. It is looked up when the tab opens it.
func (s *Server) checkLook(r *request, l live.Look) error {
	if !storage.ValidID(storage.PrefixConversation, l.Conversation) {
		return notFound()
	}
	if s.Live.Shows(l) {
		return nil
	}

	return s.view(r, func(rx *storage.Rx) error {
		has, err := rx.HasConversation(r.org.ID, l.Conversation)
		if err == nil && !has {
			return notFound()
		}
		return err
	})
}
