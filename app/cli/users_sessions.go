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
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "sessions USER",
		Short:   "List the browsers in which a person is signed in",
		Example: "  confab users sessions ana@example.com\n  confab users sessions ana@example.com --json",
		Args:    arguments("USER"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			s.flushCalls(cmd) // stores when each session was used last, too

			var views []sessionView
			err := s.View(cmd.Context(), func(rx *storage.Rx) error {
				u, err := user(rx, args[0])
				if err != nil {
					return err
				}

				all, err := rx.UserSessions(u.ID)
				for _, one := range all {
					views = append(views, viewSession(one))
				}
				return err
			})
			if err != nil {
				return err
			}

			heading := []string{"ID", "BROWSER", "ADDRESS", "SINCE", "LAST SEEN"}
			return printList(cmd, asJSON, views, heading, func(v sessionView) []string {
				return []string{v.ID, v.UserAgent, v.IP, v.CreatedAt.String(), v.LastSeenAt.String()}
			})
		}),
	}

	jsonFlag(cmd, &asJSON)
	return cmd
}

func (e *env) usersSignOut() *cobra.Command {
	return &cobra.Command{
		Use:     "signout USER",
		Short:   "End all sessions of a person at once",
		Example: "  confab users signout ana@example.com",
		Args:    arguments("USER"),
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.changeUser(cmd, args[0], "user.sessions_ended", func(tx *storage.Tx, u *storage.User) error {
				_, err := tx.DeleteUserSessions(u.ID, "")
				return err
			})
		}),
	}
}
