package cli

import (
	"github.com/spf13/cobra"

	"confab/storage"
)

// sessionView is a browser in which a person is signed in.
type sessionView struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	UserID     string       `json:"user_id"`
	UserAgent  string       `json:"user_agent"`
	IP         string       `json:"ip"`
	CreatedAt  storage.Time `json:"created_at"`
	LastSeenAt storage.Time `json:"last_seen_at"`
}

func viewSession(s storage.UserSession) sessionView {
	return sessionView{
		ID:         s.ID,
		Object:     "session",
		UserID:     s.UserID,
		UserAgent:  s.UserAgent,
		IP:         s.IP,
		CreatedAt:  s.CreatedAt,
		LastSeenAt: s.LastSeenAt,
	}
}

func (e *env) usersSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions USER",
		Short:   "List the browsers a person is signed in on",
		Example: "  confab users sessions ana@example.com\n  confab users sessions ana@example.com --json",
	}

	columns := table[storage.UserSession]{
		heading: []string{"ID", "BROWSER", "ADDRESS", "SINCE", "LAST SEEN"},
		row: func(s storage.UserSession) []string {
			return []string{s.ID, s.UserAgent, s.IP, s.CreatedAt.String(), s.LastSeenAt.String()}
		},
		view:  func(s storage.UserSession) any { return viewSession(s) },
		flush: true,
	}

	return listCommand(e, cmd, columns, func(rx *storage.Rx, args []string) ([]storage.UserSession, error) {
		u, err := user(rx, args[0])
		if err != nil {
			return nil, err
		}
		return rx.UserSessions(u.ID)
	})
}
