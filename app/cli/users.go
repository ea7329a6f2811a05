package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"confab/app/api"
	consoleapi "confab/app/console/api"
	"confab/jobs/messaging"
	"confab/storage"
)

func (e *env) users() *cobra.Command {
	disable := e.userChange("disable", "Block a person from signing in, and end their sessions and invitations", "user.disabled",
		func(tx *storage.Tx, u *storage.User) error {
			err := tx.DisableUser(u.ID)
			if err == nil {
				_, err = messaging.ReleaseHolders(tx) // who is disabled holds no conversation
			}
			return err
		})
	enable := e.userChange("enable", "Let a disabled person sign in again", "user.enabled",
		func(tx *storage.Tx, u *storage.User) error { return tx.EnableUser(u.ID) })
	signOut := e.userChange("signout", "End all of a person's sessions", "user.sessions_ended",
		func(tx *storage.Tx, u *storage.User) error { _, err := tx.DeleteUserSessions(u.ID, ""); return err })
	unlink := e.userChange("unlink", "Unbind a person from their account at the identity provider", "user.identity_unbound",
		func(tx *storage.Tx, u *storage.User) error {
			n, err := tx.UnbindIdentities(u.ID)
			if err == nil && n == 0 {
				err = fmt.Errorf("%s is not bound to an account at an identity provider", u.Name)
			}
			return err
		})
	resetFactors := e.userChange("reset-factors", "Remove all second factors of a person, and end their sessions", "user.factors_reset",
		func(tx *storage.Tx, u *storage.User) error { return tx.DeleteUserFactors(u.ID) })

	return e.group("users", "Invite people and manage their access",
		e.usersInvite(), e.usersCreate(), e.usersList(), e.usersSet(), e.usersReset(),
		disable, enable, e.usersSessions(), signOut, e.usersLink(), unlink, resetFactors)
}

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
			o, t, err := organizationAndTeam(&tx.Rx, org, team)
			if err != nil {
				return written{}, err
			}

			u := storage.User{OrganizationID: o.ID, TeamID: t.ID, TeamPublicID: t.PublicID, Name: name, Email: storage.OrNil(email)}
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

// organizationAndTeam finds the organization of a flag, and its team as chooseTeam does.
func organizationAndTeam(rx *storage.Rx, org, team string) (o storage.Organization, t storage.Team, err error) {
	if o, err = organization(rx, org); err == nil {
		t, err = chooseTeam(rx, o, team)
	}
	return o, t, err
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
	columns := table[userView]{
		heading: []string{"ID", "NAME", "EMAIL", "ROLE", "STATUS", "TEAM", "ORGANIZATION", "LAST SIGN-IN"},
		row: func(v userView) []string {
			return []string{v.ID, v.Name, storage.OrEmpty(v.Email), v.Role, v.Status, v.TeamID, v.OrganizationID, v.LastSignInAt.String()}
		},
	}
	return organizationList(e, "users", "List people with their role and sign-in status", columns, (*storage.Rx).Users, viewUser)
}

func (e *env) usersSessions() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions USER",
		Short:   "List the browsers a person is signed in on",
		Example: "  confab users sessions ana@example.com\n  confab users sessions ana@example.com --json",
	}

	columns := table[consoleapi.SessionView]{
		heading: []string{"ID", "BROWSER", "ADDRESS", "SINCE", "LAST SEEN"},
		row: func(s consoleapi.SessionView) []string {
			return []string{s.ID, s.UserAgent, s.IP, s.CreatedAt.String(), s.LastSeenAt.String()}
		},
		flush: true,
	}

	return listCommand(e, cmd, columns, func(rx *storage.Rx, args []string) (views []consoleapi.SessionView, err error) {
		u, err := user(rx, args[0])
		if err != nil {
			return nil, err
		}
		all, err := rx.UserSessions(u.ID)
		for _, s := range all {
			views = append(views, consoleapi.SessionView{ID: s.ID, Object: "session", UserSession: s})
		}
		return views, err
	})
}

// user finds a person by the id or the address that an argument gives.
func user(rx *storage.Rx, idOrEmail string) (storage.User, error) {
	if storage.ValidID("", idOrEmail) {
		u, err := rx.UserByID(idOrEmail)
		return u, notFound(err, "user", idOrEmail)
	}

	found, err := rx.UsersByEmail(idOrEmail)
	if err != nil {
		return storage.User{}, err
	}
	return theOnly(found, func(u storage.User) string { return u.ID },
		"there is no user "+idOrEmail, "several users have the address "+idOrEmail+": choose one by id: ")
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
			u.Name, u.Email, u.Role = cmp.Or(name, u.Name), cmp.Or(storage.OrNil(email), u.Email), cmp.Or(role, u.Role)
			if team != "" {
				t, err := tx.Team(u.OrganizationID, team)
				if err != nil {
					return ifMissing(err, "the organization of %s has no team %s", u.Name, team)
				}
				u.TeamID = t.ID
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

func (e *env) userChange(verb, short, action string, edit func(*storage.Tx, *storage.User) error) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " USER",
		Short:   short,
		Example: "  confab users " + verb + " ana@example.com",
		RunE:    e.runUserChange(action, edit),
	}
}

// invitationView is a link by which a person chooses a password. It is shown once.
type invitationView struct {
	ID        string       `json:"id"` // of the user
	Object    string       `json:"object"`
	Link      string       `json:"link"`
	ExpiresAt storage.Time `json:"expires_at"`
}

// writeLink prints a link to a page of the console, with the token that issue made for a person.
func (s *store) writeLink(
	cmd *cobra.Command, action, page string, issue func(*storage.Tx) (u storage.User, token string, err error),
) error {
	publicURL := s.dir.PublicURL(cmd.Context(), s.config) // asked of the server, so not in the transaction
	return s.write(cmd, func(tx *storage.Tx) (written, error) {
		u, token, err := issue(tx)
		v := invitationView{ID: u.ID, Object: "user", Link: publicURL + "/console/" + page + "/" + token, ExpiresAt: u.InvitedUntil}
		return written{auditEntry{u.OrganizationID, action, "user", u.ID}, v.Link, v}, err
	})
}

func (e *env) usersInvite() *cobra.Command {
	var org, name, email, role, team string
	cmd := &cobra.Command{
		Use:   "invite --org ORG --name NAME --email ADDRESS",
		Short: "Invite a person to the console and print the link to send",
		Long: "Invite a person to the console and print a link. Whoever opens it within 72 hours chooses a password and\n" +
			"is signed in. Inviting a person again creates a new link, and the old one stops working. If somebody in the\n" +
			"organization already has this address, that person is invited.\n\n" +
			"An agent works with messages and contacts; an admin can do everything an API key can, and manage people\n" +
			"and keys.",
		Example: "  confab users invite --org org_01J… --name \"Ana\" --email ana@example.com --role admin\n" +
			"  confab users invite --org org_01J… --name \"Bo\" --email bo@example.com --team team_01J… --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, _ []string, s *store) error {
			return s.writeLink(cmd, "user.invited", "welcome", func(tx *storage.Tx) (u storage.User, token string, err error) {
				o, t, err := organizationAndTeam(&tx.Rx, org, team)
				if err != nil {
					return u, "", err
				}
				in := storage.Invitee{OrganizationID: o.ID, Name: name, Email: email, Role: role, DefaultTeamID: t.ID}
				if team != "" {
					in.TeamID = t.ID
				}
				u, token, err = tx.InviteUser(in)
				return u, token, explainInvitation(err, email, &email)
			})
		}),
	}

	requiredOrg(cmd, &org, "that the person belongs to")
	requiredFlag(cmd, &name, "name", "the person's `name`", parseName)
	requiredFlag(cmd, &email, "email", "the email `address` that the person signs in with", parseEmail)
	roleFlag(cmd, &role, " (default agent)")
	parsedFlag(cmd, &team, "team", "the person's `team` (default: the organization's first)", parseText)
	return withJSON(cmd)
}

func roleFlag(cmd *cobra.Command, role *string, also string) {
	parsedFlag(cmd, role, "role", "the person's role: `admin|agent`"+also, parseChoice(storage.RoleAdmin, storage.RoleAgent))
}

// explainInvitation says what to do about a person who cannot be invited or have an address.
func explainInvitation(err error, who string, address *string) error {
	switch {
	case errors.Is(err, storage.ErrCanSignIn):
		return fmt.Errorf("%s can already sign in: for a new password, run 'confab users reset %s'", who, who)
	case errors.Is(err, storage.ErrUserDisabled):
		return fmt.Errorf("%s is disabled: enable them first with 'confab users enable %s'", who, who)
	case errors.Is(err, storage.ErrInvitedElsewhere):
		return fmt.Errorf("%s is invited to another organization: an address can be used only once on this server", who)
	case errors.Is(err, storage.ErrNoAddress):
		return fmt.Errorf("%s has no email address to sign in with: add one with 'confab users set %s --email …'", who, who)
	case errors.Is(err, storage.ErrConflict) && address != nil:
		return fmt.Errorf("%s already belongs to another person or invitation", *address)
	}
	return err
}

func (e *env) usersReset() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "reset USER",
		Short: "Print a link for a person to choose a new password",
		Long: "Print a link for a person to choose a new password. The link works for 72 hours, and the old password until\n" +
			"the link is used. USER is an id or an email address.",
		Example: "  confab users reset ana@example.com\n  confab users reset ana@example.com --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.writeLink(cmd, "user.password_reset", "welcome", func(tx *storage.Tx) (u storage.User, token string, err error) {
				if u, err = user(&tx.Rx, args[0]); err != nil {
					return u, "", err
				}
				token, err = tx.ResetUser(&u)
				return u, token, explainInvitation(err, args[0], u.Email)
			})
		}),
	})
}

func (e *env) usersLink() *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "link USER",
		Short: "Print a link that signs a person in once, within 10 minutes",
		Long: "Print a link that signs a person in once, within 10 minutes, whatever the settings: without a password, a\n" +
			"second factor or the identity provider. For those who are locked out. A new link replaces the earlier one.\n" +
			"USER is an id or an email address.",
		Example: "  confab users link ana@example.com\n  confab users link ana@example.com --json",
		RunE: e.withStore(false, func(cmd *cobra.Command, args []string, s *store) error {
			return s.writeLink(cmd, "user.link_created", "link", func(tx *storage.Tx) (u storage.User, token string, err error) {
				if u, err = user(&tx.Rx, args[0]); err != nil {
					return u, "", err
				}
				token, u.InvitedUntil, err = tx.InsertSignInLink(u)
				return u, token, explainInvitation(err, args[0], nil)
			})
		}),
	})
}
