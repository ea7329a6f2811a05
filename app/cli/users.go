package cli

import (
	"errors"
	"fmt"

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

// chooseTeam finds the team of a flag, or the organization's first team if the
// flag is not given.
func chooseTeam(rx *storage.Rx, o storage.Organization, id string) (storage.Team, error) {
	if id == "" {
		teams, err := rx.Teams(o.ID)
		if err != nil {
			return storage.Team{}, err
		}
		return teams[0], nil // every organization has one from the start
	}

	t, err := rx.Team(o.ID, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = fmt.Errorf("organization %s has no team %s", o.PublicID, id)
	}
	return t, err
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
