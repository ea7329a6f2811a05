package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"confab/app/api"
	"confab/app/api/rest"
	"confab/app/live"
	"confab/app/stream"
	"confab/jobs/event"
	"confab/storage"
)

// streamConsole handles GET /console/api/stream.
func (s *Server) streamConsole(r *rest.Request) (rest.Reply, error) {
	opened, err := s.Live.Open(r.HTTP.Context(), live.Visit{
		Organization: r.Org.ID,
		User:         r.User.ID,
		Role:         r.User.Role,
		LastEventID:  r.HTTP.Header.Get("Last-Event-ID"),
		EventTypes:   readableEvents(r.User.Role),
		Ended:        s.whyEnded(r),
	})
	if err != nil {
		return rest.Reply{}, api.StreamError(err)
	}

	return rest.Reply{Stream: func(x *rest.Exchange) {
		// A browser keeps the connection of a page that was left for some seconds, in the hope
		// to use it again, and has only six: a person who reloads a few times would have to wait.
		if r.HTTP.ProtoMajor == 1 && r.HTTP.Method == http.MethodGet {
			x.Header().Set("Connection", "close")
		}
		s.api.SendStream(x, opened, stream.EventStream{})
	}}, nil
}

// whyEnded says why the stream of a console may not go on; "" if it may. Besides what ends the streams of
// a person, the clock of a sandbox was moved: all times on its page count from where the clock was.
func (s *Server) whyEnded(r *rest.Request) func(context.Context) string {
	shown := r.Query().Get("clock_offset_ms") // only a sandbox sends it
	return func(ctx context.Context) string {
		if shown != "" && shown != strconv.FormatInt(s.ClockOffset().Milliseconds(), 10) {
			return live.EndedClockMoved
		}
		return s.api.WhyEnded(ctx, r.Visitor)
	}
}

// readableEvents are the types of events that a role may read; nil for all. Agents read
// those of what they work with.
func readableEvents(role string) []string {
	if role == storage.RoleAdmin {
		return nil
	}
	return slices.DeleteFunc(event.Types(), func(name string) bool {
		of, _, _ := strings.Cut(name, ".")
		return !slices.Contains([]string{"message", "conversation", "contact", "note"}, of)
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

func (p *presenceBody) Validate() error { return rest.Required("tab", p.Tab, maxTab) }

// setPresence handles POST /console/api/presence. It is kept in memory, and for a few
// seconds only.
func (s *Server) setPresence(r *rest.Request, in presenceBody) (rest.Reply, error) {
	l := live.Look{Organization: r.Org.ID, User: r.User.ID, Name: r.User.Name, Tab: *in.Tab, Typing: in.Typing}
	if in.ConversationID != nil {
		l.Conversation = *in.ConversationID
		if err := s.checkLook(r, l); err != nil {
			return rest.Reply{}, err
		}
	}
	s.Live.Look(l)
	return rest.NoContent(), nil
}

// checkLook returns an error if the conversation that somebody looks at is none of the
// organization's. It is looked up when the tab opens it.
func (s *Server) checkLook(r *rest.Request, l live.Look) error {
	if !storage.ValidID(storage.PrefixConversation, l.Conversation) {
		return rest.NotFound()
	}
	if s.Live.Shows(l) {
		return nil
	}

	return s.View(r, func(rx *storage.Rx) error {
		has, err := rx.HasConversation(r.Org.ID, l.Conversation)
		if err == nil && !has {
			return rest.NotFound()
		}
		return err
	})
}
