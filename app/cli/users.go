package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/api"
	"confab/jobs/messaging"
	"confab/storage"
)

func (e *env) users() *cobra.Command {
	disable := e.userChange("disable", "Block a person from signing in, and end their sessions and invitations", "user.disabled",
		disableUser)
	enable := e.userChange("enable", "Let a disabled person sign in again", "user.enabled",
		func(tx *storage.Tx, u *storage.User) error { return tx.EnableUser(u.ID) })
	signOut := e.userChange("signout", "End all of a person's sessions", "user.sessions_ended",
		func(tx *storage.Tx, u *storage.User) error { _, err := tx.DeleteUserSessions(u.ID, ""); return err })
	unlink := e.userChange("unlink", "Unbind a person from their account at the identity provider", "user.identity_unbound", unbindIdentity)
	resetFactors := e.userChange("reset-factors", "Remove all second factors of a person, and end their sessions", "user.factors_reset",
		func(tx *storage.Tx, u *storage.User) error { return tx.DeleteUserFactors(u.ID) })

	return e.group("users", "Invite people and manage their access",
		e.usersInvite(), e.usersCreate(), e.usersList(), e.usersSet(), e.usersReset(),
		disable, enable, e.usersSessions(), signOut, e.usersLink(), unlink, resetFactors)
}

// disableUser blocks a person, who then holds no conversation any more.
func disableUser(tx *storage.Tx, u *storage.User) error {
	if err := tx.DisableUser(u.ID); err != nil {
		return err
	}
	_, err := messaging.ReleaseHolders(tx)
	return err
}

// userView is a person as the console shows it, with its organization.
type userView struct {
	api.PersonView
	OrganizationID string `json:"organization_id"`
}

func viewUser(u storage.User, o storage.Organization, now storage.Time) userView {
	return userView{api.ViewPerson(u, now), o.PublicID}
}

func (e *env) usersCreate() *cobra.Command {
	var org, name, email, team string
	cmd := &cobra.Command{
		Use:   "create --org ORG --name NAME",
		Short: "Add a person who cannot sign in, to assign conversations to, and print the id",
		Example: "  confab users create --org org_01J… --name \"Ana\" --email ana@example.com\n" +
			"  confab users create --org org_01J… --name \"Bo\" --team team_01J…",
		RunE: e.runWrite(func(tx *storage.Tx, _ []string) (written, error) {
			o, err := organization(&tx.Rx, org)
			if err != nil {
				return written{}, err
			}
			t, err := chooseTeam(&tx.Rx, o, team)
			if err != nil {
				return written{}, err
			}

			u := storage.User{OrganizationID: o.ID, TeamID: t.ID, TeamPublicID: t.PublicID, Name: name}
			if email != "" {
				u.Email = &email
			}
			err = tx.InsertUser(&u)
			return written{auditEntry{o.ID, "user.created", "user", u.ID}, u.ID, viewUser(u, o, tx.Now)}, err
		}),
	}

	requiredOrg(cmd, &org, "that the person belongs to")
	requiredFlag(cmd, &name, "name", "the person's `name`", parseName)
	parsedFlag(cmd, &email, "email", "the person's email `address`", parseEmail)
	parsedFlag(cmd, &team, "team", "the person's `team` (default: the organization's first)", parseText)
	return withJSON(cmd)
}

// chooseTeam finds the team of a flag, or the organization's first team if the flag is not given.
func chooseTeam(rx *storage.Rx, o storage.Organization, id string) (storage.Team, error) {
	if id == "" {
		teams, err := rx.Teams(o.ID)
		if err != nil {
			return storage.Team{}, err
		}
		return teams[0], nil // every organization has one from the start
	}

	t, err := rx.Team(o.ID, id)
	return t, ifMissing(err, "organization %s has no team %s", o.PublicID, id)
}

func (e *env) usersList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List people with their role and sign-in status",
		Example: "  confab users list\n  confab users list --org org_01J… --json",
	}
	columns := table[userView]{
		heading: []string{"ID", "NAME", "EMAIL", "ROLE", "STATUS", "TEAM", "ORGANIZATION", "LAST SIGN-IN"},
		row: func(v userView) []string {
			return []string{v.ID, v.Name, storage.OrEmpty(v.Email), v.Role, v.Status, v.TeamID, v.OrganizationID, v.LastSignInAt.String()}
		},
	}
	return listCommand(e, cmd, columns, readEachOrganization(cmd, (*storage.Rx).Users, viewUser))
}

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

// user finds a person by the id or the address that an argument gives.
func user(rx *storage.Rx, idOrEmail string) (storage.User, error) {
	if storage.ValidID("", idOrEmail) {
		u, err := rx.UserByID(idOrEmail)
		return u, notFound(err, "user", idOrEmail)
	}

	found, err := rx.UsersByEmail(idOrEmail)
	switch {
	case err != nil:
		return storage.User{}, err
	case len(found) == 0:
		return storage.User{}, fmt.Errorf("there is no user %s", idOrEmail)
	case len(found) == 1:
		return found[0], nil
	}

	var ids []string
	for _, u := range found {
		ids = append(ids, u.ID)
	}
	return storage.User{}, fmt.Errorf("several users have the address %s: choose one by id: %s", idOrEmail, strings.Join(ids, ", "))
}

// runUserChange makes the RunE of a command that changes the person of its argument.
func (e *env) runUserChange(action string, edit func(*storage.Tx, *storage.User) error) func(*cobra.Command, []string) error {
	return e.runWrite(func(tx *storage.Tx, args []string) (written, error) {
		u, err := user(&tx.Rx, args[0])
		if err != nil {
			return written{}, err
		}

		role, done := u.Role, auditEntry{u.OrganizationID, action, "user", u.ID}
		err = edit(tx, &u)
		if u.Role != role {
			done.action = "user.role_changed"
		}
		return written{entry: done}, err
	})
}

func (e *env) usersSet() *cobra.Command {
	var name, email, role, team string
	cmd := &cobra.Command{
		Use:   "set USER",
		Short: "Change a person's name, address, role or team, effective immediately",
		Long: "Change a person's name, address, role or team, effective immediately. A new address invalidates the password\n" +
			"links created for the old one: create a new one with 'confab users reset'.",
		Example: "  confab users set ana@example.com --role admin\n  confab users set 01J… --email ana@example.com --name \"Ana Ruiz\"",
		PreRunE: requireAnyFlag("name", "email", "role", "team"),
		RunE: e.runUserChange("user.updated", func(tx *storage.Tx, u *storage.User) error {
			u.Name, u.Role = cmp.Or(name, u.Name), cmp.Or(role, u.Role)
			if email != "" {
				u.Email = &email
			}
			if err := moveToTeam(&tx.Rx, u, team); err != nil {
				return err
			}
			return explainInvitation(tx.UpdateUser(u), u.Name, u.Email)
		}),
	}

	parsedFlag(cmd, &name, "name", "the person's `name`", parseName)
	parsedFlag(cmd, &email, "email", "the person's email `address`", parseEmail)
	roleFlag(cmd, &role, "")
	parsedFlag(cmd, &team, "team", "the person's `team`", parseText)
	return cmd
}

// moveToTeam puts a person into a team of its organization; "" is the one it is in.
func moveToTeam(rx *storage.Rx, u *storage.User, team string) error {
	if team == "" {
		return nil
	}

	t, err := rx.Team(u.OrganizationID, team)
	u.TeamID = t.ID
	return ifMissing(err, "the organization of %s has no team %s", u.Name, team)
}

// userChange is a command that changes a person by edit, without flags.
func (e *env) userChange(verb, short, action string, edit func(*storage.Tx, *storage.User) error) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " USER",
		Short:   short,
		Example: "  confab users " + verb + " ana@example.com",
		RunE:    e.runUserChange(action, edit),
	}
}
